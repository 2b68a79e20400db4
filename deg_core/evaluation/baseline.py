"""The constrained-decoding baseline: the same base model writes the whole JSON object (contract section 11).

Greedy decoding under an llguidance grammar of the schema. Tokens that the grammar forces are appended without
sampling and ride in the next forward pass, with a KV cache; the logits of the last position only are computed.
"""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llguidance.hf
import llguidance.numpy
import numpy as np
import torch
from llguidance import LLMatcher
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, PreTrainedModel
from transformers.utils.logging import disable_progress_bar

from deg_core.contract.errors import InputError
from deg_core.evaluation.grammar import Grammar, compile_grammar, plain_schema
from deg_core.model.tokens import Tokens

INSTRUCTION = (
    "Fill the JSON Schema from the text. Answer with one JSON object that is valid against the schema. "
    "Copy values from the text; use null where the text does not say and the schema allows it."
)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

_SLOT = "\N{OBJECT REPLACEMENT CHARACTER}"
_CHATML = f"<|im_start|>user\n{_SLOT}<|im_end|>\n<|im_start|>assistant\n"
_ACCELERATED = (
    "torch_chunk_gated_delta_rule",
    "torch_recurrent_gated_delta_rule",
    "causal_conv1d_fn",
    "causal_conv1d_update",
)


@dataclass(frozen=True)
class BaselineAnswer:
    """value: the JSON object, None when the answer ended before its grammar did.

    text, ids: what was written. generated_tokens: all tokens of it; sampled_tokens: those that the grammar did not force.
    capped: it ran into the token cap.
    """

    value: Any
    text: str
    ids: tuple[int, ...]
    prompt_tokens: int
    generated_tokens: int
    sampled_tokens: int
    capped: bool


class Prompts:
    """The chat prompts of a Hugging Face folder's model, whose tokenizer it is. Raises InputError where it has none."""

    def __init__(self, folder: str | Path):
        self.tokens = Tokens.load(folder)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))
        self._head, self._tail = _chat_frame(self.tokenizer)

    def prompt(self, context: str, schema: Mapping[str, Any]) -> list[int]:
        """Instruction, schema and text; spellings of special tokens in these are ordinary characters."""
        shown = json.dumps(plain_schema(schema), ensure_ascii=False)
        body = f"{INSTRUCTION}\n\nJSON Schema:\n{shown}\n\nText:\n{context}"
        return [
            *self.tokens.encode_line(self._head),
            *self.tokens.encode_text(body),
            *self.tokens.encode_line(self._tail),
        ]


class Baseline:
    """A causal language model of a Hugging Face folder, constrained by JSON Schema.

    dtype: "float32" or "bfloat16". device: a torch device. Raises InputError when the folder lacks a tokenizer.
    """

    def __init__(self, folder: str | Path, dtype: str = "bfloat16", device: str = "cpu"):
        prompts = Prompts(folder)
        self.prompt = prompts.prompt
        self._network = load_network(folder, dtype, device)
        vocabulary = self._network.config.get_text_config().vocab_size
        self._engine = llguidance.hf.from_tokenizer(prompts.tokenizer, n_vocab=vocabulary)
        self._mask = llguidance.numpy.allocate_token_bitmask(1, vocabulary)

    def grammar(self, schema: Mapping[str, Any], limits: Mapping[str, int]) -> Grammar:
        """The grammar that answers to a schema are held to; limits bound its free strings."""
        return compile_grammar(schema, limits, self._engine)

    def answer(self, context: str, schema: Mapping[str, Any], grammar: Grammar, max_tokens: int) -> BaselineAnswer:
        """Write the JSON object of one rendered context, max_tokens tokens at most.

        Raises InputError when the grammar engine fails in the middle.
        """
        prompt = self.prompt(context, schema)
        matcher = LLMatcher(self._engine, grammar.text, log_level=0)
        written, sampled = self._decode(prompt, matcher, max_tokens)
        if matcher.is_error():
            raise InputError(f"llguidance stopped: {matcher.get_error()}")
        finished = matcher.is_stopped() and matcher.is_accepting()
        text = self._engine.decode_str(written)
        return BaselineAnswer(
            value=json.loads(text) if finished else None,
            text=text,
            ids=tuple(written),
            prompt_tokens=len(prompt),
            generated_tokens=len(written),
            sampled_tokens=sampled,
            capped=not finished,
        )

    @torch.inference_mode()
    def _decode(self, prompt: list[int], matcher: LLMatcher, max_tokens: int) -> tuple[list[int], int]:
        cache = DynamicCache(config=self._network.config)
        written: list[int] = []
        sampled = 0
        unread = list(prompt)
        while len(written) < max_tokens:
            forced = matcher.compute_ff_tokens()[: max_tokens - len(written)]
            matcher.consume_tokens(forced)
            written += forced
            unread += forced
            if matcher.is_stopped() or len(written) == max_tokens:
                break
            token = self._next_token(unread, cache, matcher)
            matcher.consume_token(token)
            written.append(token)
            sampled += 1
            unread = [token]
            if matcher.is_stopped():
                break
        return written, sampled

    def _next_token(self, unread: list[int], cache: DynamicCache, matcher: LLMatcher) -> int:
        """Read the unread tokens into the cache and take the best admissible next one."""
        ids = torch.tensor([unread], device=self._network.device)
        logits = read(self._network, ids, cache)[0, -1].float().cpu().numpy()
        llguidance.numpy.fill_next_token_bitmask(matcher, self._mask)
        allowed = np.unpackbits(self._mask[0].view(np.uint8), bitorder="little")[: len(logits)]
        return int(np.where(allowed, logits, -np.inf).argmax())


def read(network: PreTrainedModel, ids: torch.Tensor, cache: DynamicCache) -> torch.Tensor:
    """Read ids [1, n] into the cache; logits [1, 1, vocabulary] of the last position."""
    named = "cache" if "cache" in inspect.signature(network.forward).parameters else "past_key_values"
    return network(input_ids=ids, use_cache=True, logits_to_keep=1, **{named: cache}).logits


def load_network(folder: str | Path, dtype: str, device: str) -> PreTrainedModel:
    """The causal language model of a folder, ready for inference; recurrent layers use torch's own functions on a CPU."""
    disable_progress_bar()
    network = AutoModelForCausalLM.from_pretrained(str(folder), dtype=DTYPES[dtype], attn_implementation="sdpa")
    if torch.device(device).type == "cpu":
        _use_torch_functions(network)
    return network.to(device).eval()  # type: ignore[arg-type]  # its decorator hides that a name will do


def faster_dtype(folder: str | Path, *, prompt_tokens: int = 256, steps: int = 16, rounds: int = 4) -> str:
    """The compute type, float32 or bfloat16, that reads a prompt and writes some tokens in less time on one thread.

    The two take turns and the best round of each counts, so that a busy moment of the machine does not decide.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        networks = {dtype: load_network(folder, dtype, "cpu") for dtype in DTYPES}
        taken: dict[str, list[float]] = {dtype: [] for dtype in DTYPES}
        for _ in range(rounds):
            for dtype, network in networks.items():
                taken[dtype].append(_decoding_s(network, prompt_tokens, steps))
        return min(DTYPES, key=lambda dtype: min(taken[dtype]))
    finally:
        torch.set_num_threads(threads)


@torch.inference_mode()
def _decoding_s(network: PreTrainedModel, prompt_tokens: int, steps: int) -> float:
    """Seconds of one pass over a prompt and some single tokens."""
    cache = DynamicCache(config=network.config)
    started = time.perf_counter()
    for length in (prompt_tokens, *[1] * steps):
        read(network, torch.ones(1, length, dtype=torch.long), cache)
    return time.perf_counter() - started


def _chat_frame(tokenizer: Any) -> tuple[str, str]:
    """What the model's chat template puts before and after the user's message."""
    if tokenizer.chat_template is None:
        rendered = _CHATML
    else:
        messages = [{"role": "user", "content": _SLOT}]
        rendered = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
    head, slot, tail = rendered.partition(_SLOT)
    if not slot:
        raise InputError("the tokenizer's chat template drops the user's message; give a chat model's folder")
    return head, tail


def _use_torch_functions(network: PreTrainedModel) -> None:
    """With flash-linear-attention installed transformers sends CPU tensors to Triton; put its torch functions back."""
    module = sys.modules[type(network).__module__]
    for name in _ACCELERATED:
        if hasattr(module, name):
            setattr(module, name, inspect.unwrap(getattr(module, name)))
