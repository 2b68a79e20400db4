"""Tokenizer layout: the trunk around a context, and queries tokenised line by line.

T = context tokens. Contract section 12.1.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from deg_core.contract.errors import InputError

BYTE_TOKEN = re.compile("<0x[0-9A-F]{2}>")


def _byte_letters() -> dict[str, int]:
    """Byte-level BPE writes each byte as a letter: itself where it is visible, else one from U+0100 on."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    rest = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(0x100 + place): byte for place, byte in enumerate(rest)}


BYTE_OF_LETTER = _byte_letters()


@dataclass(frozen=True)
class ContextTokens:
    """A tokenised context.

    ids: int32 [T]. starts, ends: int32 [T], half-open code-point offsets of each token; they may
    take in a leading space, and several byte tokens may share one character.
    """

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def cover(self, start: int, end: int) -> tuple[int, int] | None:
        """Half-open token range that covers code points [start, end); None when no token does."""
        first = int(np.searchsorted(self.ends, start, side="right"))
        last = int(np.searchsorted(self.starts, end, side="left"))
        return (first, last) if first < last else None


class Tokens:
    """A backbone's tokenizer with the fixed text that deg puts around a context.

    prefix_ids, suffix_ids: what stands before and after the context in the trunk.
    end_id: the token that ends a generated text.
    """

    PREFIX = "<|im_start|>user\n"
    SUFFIX = "\n"
    END = "<|im_end|>"
    ANSWER_TURN = "<|im_end|>\n<|im_start|>assistant\n"
    THINKING, NO_THINKING = "<think>", "<think>\n\n</think>\n\n"

    def __init__(self, tokenizer: Tokenizer):
        self._tokenizer = tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        end = tokenizer.token_to_id(self.END)
        if end is None:
            raise InputError(f"the tokenizer has no {self.END} token; use a chat model's tokenizer")
        self.end_id: int = end
        self.encode_line = lru_cache(maxsize=65536)(self._encode)

    @classmethod
    def load(cls, folder: str | Path) -> Tokens:
        """Read tokenizer.json of a model folder; raises InputError when it is missing."""
        path = Path(folder) / "tokenizer.json"
        if not path.is_file():
            raise InputError(f"{path} is missing; a backbone folder needs its tokenizer.json")
        return cls(Tokenizer.from_file(str(path)))

    @cached_property
    def prefix_ids(self) -> tuple[int, ...]:
        return self._encode(self.PREFIX)

    @cached_property
    def suffix_ids(self) -> tuple[int, ...]:
        return self._encode(self.SUFFIX)

    @cached_property
    def answer_ids(self) -> tuple[int, ...]:
        """What ends the user's turn of the chat and opens the model's, thinking left out where the model knows it."""
        thinks = self._tokenizer.token_to_id(self.THINKING) is not None
        return self._encode(self.ANSWER_TURN + (self.NO_THINKING if thinks else ""))

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def encode_text(self, text: str) -> tuple[int, ...]:
        """Ids of a text of which special tokens' spellings are ordinary characters."""
        self._tokenizer.encode_special_tokens = True
        try:
            return self._encode(text)
        finally:
            self._tokenizer.encode_special_tokens = False

    def encode_context(self, text: str) -> ContextTokens:
        """Tokenise a rendered context; special tokens spelled in it are ordinary characters."""
        self._tokenizer.encode_special_tokens = True
        try:
            encoding = self._tokenizer.encode(text, add_special_tokens=False)
        finally:
            self._tokenizer.encode_special_tokens = False
        offsets = np.asarray(encoding.offsets, dtype=np.int32).reshape(-1, 2)
        return ContextTokens(np.asarray(encoding.ids, dtype=np.int32), offsets[:, 0], offsets[:, 1])

    def decode(self, ids: list[int]) -> str:
        """Text of generated ids, special tokens left out."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)

    def ends_within_character(self, ids: list[int]) -> bool:
        """Whether these ids spell good UTF-8 up to a last character of which bytes are missing."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            decoder.decode(b"".join(self._bytes(i) for i in ids))
        except UnicodeDecodeError:
            return False
        return bool(decoder.getstate()[0])

    def _bytes(self, token_id: int) -> bytes:
        """Bytes of a token of a byte-level vocabulary, or of one whose byte tokens read <0x0A>."""
        token = self._tokenizer.id_to_token(token_id)
        if token is None:
            raise ValueError(f"the tokenizer has no token {token_id}")
        if BYTE_TOKEN.fullmatch(token):
            return bytes([int(token[3:5], 16)])
        if all(letter in BYTE_OF_LETTER for letter in token):
            return bytes(BYTE_OF_LETTER[letter] for letter in token)
        return token.encode()

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids of special tokens, which no generated text may hold."""
        added = self._tokenizer.get_added_tokens_decoder()
        return frozenset(i for i, token in added.items() if token.special)

    @cached_property
    def vocabulary(self) -> int:
        """Number of ids, added tokens included."""
        return self._tokenizer.get_vocab_size(with_added_tokens=True)
