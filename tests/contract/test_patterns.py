"""Patterns mean what they mean to `re`, and none of them takes longer than its size times the text."""

import re
from random import Random

import pytest
import regex

from deg_core.contract.automaton import Automaton
from deg_core.contract.patterns import MAX_STATES, Pattern, PatternError

PIECES = ["a", "b", "ab", ".", r"\d", r"\w", r"\s", "[ab]", "[^a]", "[a-c1]", "^", "$", r"\b", r"\B", r"\A", r"\Z"]
PIECES += ["é", "1", "-", "(?<=a)", "(?<!a)", "(?<=[ab]1)", r"(?<!\d\b)"]
WRAPS = ["(?:{})*", "(?:{})+", "(?:{})?", "(?:{}){{2}}", "(?:{}){{0,2}}", "(?:{}){{1,}}", "(?:{})*?", "({})"]
WRAPS += ["(?={})", "(?!{})", "(?i:{})", "(?s:{})", "(?m:{})"]


def random_pattern(random, leaves):
    if leaves == 1:
        return random.choice(PIECES)
    kind = random.randrange(3)
    if kind == 0:
        return random.choice(WRAPS).format(random_pattern(random, leaves - 1))
    left = random.randrange(1, leaves)
    parts = random_pattern(random, left), random_pattern(random, leaves - left)
    return "".join(parts) if kind == 1 else f"(?:{'|'.join(parts)})"


def random_cases(seed, number=4000):
    random = Random(seed)
    for _ in range(number):
        text = "".join(random.choices("aAbB1 -\né", k=random.randrange(8)))
        yield random_pattern(random, random.randrange(1, 9)), text


def test_it_finds_what_re_finds():
    for source, text in [("(?:a?){3}a", "aa"), ("(?=(?!a)b)b$", "b\n"), *random_cases(1)]:
        assert Pattern(source).found_in(text) == (re.search(source, text) is not None), (source, text)


def test_a_beginning_of_what_is_found_may_be_found():
    for source, text in random_cases(2):
        pattern = Pattern(source)
        if pattern.found_in(text):
            assert all(pattern.may_be_found_in(text[:cut]) for cut in range(len(text))), (source, text)


@pytest.mark.parametrize(
    ("source", "dead", "alive"),
    [
        ("^abc$", ["x", "b", "abcd", "abd"], ["", "a", "abc"]),
        ("abc", [], ["", "xyz", "ab"]),
        ("^(?!ab).*$", ["ab", "abc"], ["", "a", "ac"]),
        ("^(?=.*1)[a1]{3}$", ["b"], ["", "aa", "a1"]),
        (r"^\d{2}\b", ["1a", "12a"], ["1", "12", "12 "]),
        ("^(a|ab)(c|bcd)(d*)$", ["abcdx", "b"], ["abc", "abcdd", "a"]),
    ],
)
def test_a_text_that_cannot_become_a_match_is_told(source, dead, alive):
    pattern = Pattern(source)
    assert [text for text in dead if pattern.may_be_found_in(text)] == []
    assert [text for text in alive if not pattern.may_be_found_in(text)] == []


def test_what_the_regex_engine_gives_up_is_given_up():
    for source, text in random_cases(3):
        if not re.search(r"\(\?<?[=!]|\\[bBAZ]|[$^]", source):
            partial = regex.fullmatch(f"(?s:.*?)(?:{source})(?s:.*)", text, partial=True)
            assert Pattern(source).may_be_found_in(text) == (partial is not None), (source, text)


CATASTROPHIC = [
    "(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "(a*)*b",
    "(.*a){20}$",
    "^(?:a?){50}a{50}$",
    "(x+x+)+y",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^(\w+\s?)*$",
    "a*a*a*a*a*b",
    "^(?=(a+)+$)b",
    "(?<!a)(?!(a|aa)+$)a",
    "(?:(?:a{1,5}){1,5}){1,5}b",
]


@pytest.mark.parametrize("source", CATASTROPHIC)
@pytest.mark.parametrize("end", ["", "!", "b"])
def test_a_catastrophic_pattern_takes_work_in_proportion_to_the_text(source, end, monkeypatch):
    passes, work = Automaton._passes, []
    monkeypatch.setattr(Automaton, "_passes", lambda self, *arguments: work.append(0) or passes(self, *arguments))

    def work_on(text):
        work.clear()
        pattern = Pattern(source)
        pattern.found_in(text)
        pattern.may_be_found_in(text)
        return len(work)

    assert work_on("a" * 400 + end) <= 4.2 * work_on("a" * 100 + end) + 1000


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"(a)\1", "back-reference"),
        ("(a)?(?(1)b|c)", "conditional"),
        ("(?>a+)b", "atomic"),
        ("a++b", "possessive"),
        ("(", "unterminated"),
        ("(?<=a+)b", "fixed-width"),
        ("(" * 3000, "."),
        ("(a" * 3000 + ")" * 3000, "."),
        ("a{5000}", f"{MAX_STATES:,} characters"),
        ("((a{100}){100}){100}", f"{MAX_STATES:,} characters"),
        ("a{99999999999999}", "."),
        ("a" * 10_001, "longer than"),
    ],
)
def test_refused_with_what_to_write(source, words):
    with pytest.raises(PatternError, match=words):
        Pattern(source)


def test_empty_repeats_are_no_work():
    assert Pattern("(?:(?:(?:){60000}){60000}){0,60000}$").found_in("a")


def test_the_memory_of_steps_is_bounded():
    pattern = Pattern("(?:a|b)*a(?:a|b){14}$")
    text = "".join("ab"[number * number % 7 % 2] for number in range(20_000))
    assert pattern.found_in(text) == (text[-15] == "a")
    assert sum(len(key[0]) for key in pattern._automaton._steps) <= 200_000
