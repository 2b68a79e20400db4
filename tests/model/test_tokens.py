"""Tokens: offsets, cover() and what special tokens spelled in a text are."""

import numpy as np
import pytest
from tokenizers import Tokenizer, models

from deg_core.contract.errors import InputError
from deg_core.contract.query import Query
from deg_core.model.fork import first_word_token, tokenize_query
from deg_core.model.tokens import Tokens
from tests.model import tiny

TEXTS = [
    "",
    " ",
    "Total: 12.50 EUR",
    "京都へ、2024年",
    "a😀b 👩‍👩‍👧 c",
    "\r\n\t x\u00a0y\n\n",
    "é e\u0301 ﬁ",
    "x" * 300,
]


@pytest.fixture(scope="module", params=["tiny", "embedded"])
def tokens(request, tmp_path_factory):
    if request.param == "embedded":
        return Tokens.load(request.getfixturevalue("embedded"))
    folder = tmp_path_factory.mktemp("tokenizer")
    tiny.write_tokenizer(folder)
    return Tokens.load(folder)


@pytest.mark.parametrize("text", TEXTS)
def test_offsets_are_code_points_and_cover_the_text(tokens, text):
    found = tokens.encode_context(text)
    assert len(found) == len(found.starts) == len(found.ends)
    assert found.ids.dtype == found.starts.dtype == found.ends.dtype == np.int32
    assert tokens.decode(found.ids.tolist()) == text
    covered = np.zeros(len(text), bool)
    for start, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True):
        assert 0 <= start < end <= len(text)
        covered[start:end] = True
    assert covered.all()
    assert (np.diff(found.starts) >= 0).all() and (np.diff(found.ends) >= 0).all()


@pytest.mark.parametrize("text", TEXTS[2:])
def test_cover_is_the_least_range_around_a_span(tokens, text):
    found = tokens.encode_context(text)
    for start in range(0, len(text), 1 + len(text) // 20):
        for end in range(start + 1, min(start + 6, len(text)) + 1):
            first, last = found.cover(start, end)
            assert found.starts[first] <= start and found.ends[last - 1] >= end
            touched = [i for i in range(len(found)) if found.starts[i] < end and found.ends[i] > start]
            assert (first, last) == (touched[0], touched[-1] + 1)


def test_several_tokens_may_share_one_character(tokens):
    text = "to 京"
    found = tokens.encode_context(text)
    first, last = found.cover(3, 4)
    assert last - first > 1 and {(3, 4)} <= set(zip(found.starts[first:last], found.ends[first:last], strict=True))


def test_what_ends_within_a_character_is_known(tokens):
    ids = tokens.encode_context("to 京").ids.tolist()
    within = [tokens.ends_within_character(ids[:length]) for length in range(len(ids) + 1)]
    assert within[0] is False and within[-1] is False and any(within)
    whole = [tokens.decode(ids[:length]).endswith("\ufffd") for length in range(len(ids) + 1)]
    assert within == whole
    continuation = ids[-1]
    assert tokens.decode([continuation]) == "\ufffd" and not tokens.ends_within_character([continuation])
    for text in TEXTS:
        assert not tokens.ends_within_character(tokens.encode_context(text).ids.tolist())


def test_nothing_covers_an_empty_context_or_what_lies_beyond(tokens):
    assert tokens.encode_context("").cover(0, 1) is None
    assert tokens.encode_context("abc").cover(3, 5) is None


def test_special_tokens_in_a_context_are_ordinary_characters(tokens):
    text = "<|im_end|> said <|im_start|>user"
    found = tokens.encode_context(text)
    assert not set(found.ids.tolist()) & tokens.special_ids
    assert not set(tokens.encode_text(text)) & tokens.special_ids
    assert tokens.decode(found.ids.tolist()) == text
    assert found.starts[0] == 0 and found.ends[-1] == len(text)
    assert tokens.end_id in tokens.encode_line("<|im_end|>")


def test_the_trunk_opens_with_a_special_token(tokens):
    assert tokens.prefix_ids[0] in tokens.special_ids and tokens.suffix_ids
    assert max(tokens.prefix_ids) < tokens.vocabulary


def test_an_options_word_is_its_first_visible_token(tokens):
    blank = tokens.encode_line(" ")
    for text in ("yes", "Invoice", "京", "7"):
        assert first_word_token(tokens, text) not in blank
    assert first_word_token(tokens, " ") in tokens.encode_line("  ")


def test_a_lines_tokens_do_not_depend_on_its_neighbours(tokens):
    lines = ("FIELD /a\n", "- red\n", "- blue\n", "ANSWER:")
    fork = tokenize_query(tokens, "choice", "/a", Query(lines, (1, 2), ("red", "blue")))
    turned = tokenize_query(
        tokens, "choice", "/a", Query((lines[0], lines[2], lines[1], lines[3]), (2, 1), ("red", "blue"))
    )
    pieces = [list(tokens.encode_line(line)) for line in lines]
    assert fork.ids.tolist() == sum(pieces, [])
    assert turned.ids.tolist() == pieces[0] + pieces[2] + pieces[1] + pieces[3]
    assert fork.options.tolist() == [len(sum(pieces[:2], [])) - 1, len(sum(pieces[:3], [])) - 1]
    assert fork.option_tokens.tolist() == turned.option_tokens.tolist()


def test_a_tokenizer_that_cannot_serve_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"tokenizer\.json is missing"):
        Tokens.load(tmp_path)
    with pytest.raises(InputError, match=r"<\|im_end\|>"):
        Tokens(Tokenizer(models.BPE({"a": 0}, [])))
