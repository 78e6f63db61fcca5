"""The words of the glossary in docs/developers.md: texts for readers do not use those that it replaces."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest
from places import TOP

import zoloss_cli
from zoloss_cli.cli._lazy import load_command
from zoloss_cli.cli.app import COMMANDS

PACKAGE = Path(zoloss_cli.__file__).parent
# What is forbidden, and what to write.
FORBIDDEN = {
    r"\bprint(s|ed)?\b": "published value, paper",
    r"\bunits?\b": "task",
    r"\b(training|test|random|misclassified|noisy|[\d,]*\d) (examples?|points)\b": "samples",
    r"\b(training|test) rows?\b": "training samples, test samples",
    r"\blabels? (is |are )?turned (a)?round\b": "flipped labels",
    r"\bmore than chance\b|\bcould be luck\b|\bp for itself\b": "statistically significant, p-value",
    r"\bmust not exceed\b": "significance level",
    r"\bas far as chance can tell\b": "consistent with the published value",
    r"\bthe answers\b": "predictions",
    r"\b(is|are|was|were|be) told\b": "reported, shown, notified",
    r"\b(it|that|this|which|[a-z]+'|\}'?) is no (?!(longer|more|less|better|\w+er)\b)[a-z]+": "is not a ...",
    r"\bthat there is not\b": "that does not exist",
    r"\bhas not the\b|\bhave not the\b": "does not have the",
    r"\btoday's\b": "the current",
    r"\bdear (errors?|mistakes?)\b": "costly errors",
    r"\bone's own\b": "your own",
    r"\bevery so many\b": "every this many, every N",
    r"\b(one|a) (record|file|line|marker|panel|dot|bar|process|column) an? [a-z]+\b": "one ... per ...",
    r"\b(utiliz|leverag)\w+": "use",
    r"\bin order to\b": "to",
    r"\bsimply\b|\bobviously\b|\bof course\b": "leave it out",
}
# A word twice, and an article that does not go with its noun. Symbols and names of options are no words.
REPEATED = re.compile(r"(?<![-\w.'=/`*])(?!zoloss)([a-z]{2,}) \1(?![-\w/=.*`:'])")
ARTICLES = re.compile(
    r"(?<![-\w.'])(?:an (?=[bcdfgjkpqtvwyz][a-z])|"
    r"a (?=[aeio][a-z]{2})(?!(?:one|once|and|at|in|into|is|on|or|as|of)\b|one-))[a-z]+|\ba an\b|\ban a\b"
)
MAX_SENTENCE_WORDS = 90  # of a page's running text
# Where these words mean something else.
ALLOWED = (
    r"\bprint\(|\bprint (tables|the JSON|how much|one JSON|what would)|@media print|\bprint it\b",
    r"`make bench` prints",
    r"\b(readable|column) in print\b|\bfor print\b|\bprints? to paper\b",
    r"\bunit (vectors?|spheres?|square|length|directions?|ball|circle|tests?|mean)\b",
    r"\b(hidden|tanh|scaled|own|smaller|their|table's|metric's|its) units?\b",
    r"\bin (the )?units? (of|that)\b|\ba unit of b_i\b|\bwith unit and sense\b|\bcarry their unit\b",
    r"\"units\"",  # a key of manifests of zoloss 0.1
    r"tests/unit|\{unit\}",
)
GENERATED = re.compile(r"<!-- output: .*?<!-- end -->|<!-- bench -->.*?<!-- end -->", re.S)
GLOSSARY = re.compile(r"^\| word \| meaning \| not \|$.*", re.S | re.M)
PAGES = [*TOP.glob("*.md"), TOP / "results" / "README.md", *(TOP / "docs").rglob("*.md")]
TEXTS = sorted([*PAGES, *(TOP / "configs").rglob("*.yaml"), *PACKAGE.rglob("*.yaml")])
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "shipped" not in path.parts)


def find_forbidden(text: str) -> list[str]:
    """Each forbidden word with what is around it, and what to write instead."""
    for allowed in ALLOWED:
        text = re.sub(allowed, lambda hit: "-" * len(hit[0]), text, flags=re.I)
    return [
        f"...{text[max(0, hit.start() - 30) : hit.end() + 30]}...: say {better}"
        for pattern, better in FORBIDDEN.items()
        for hit in re.finditer(pattern, text, re.I)
    ]


def find_slips(text: str) -> list[str]:
    """Return repeated words and wrong articles, with what is around them."""
    hits = [*REPEATED.finditer(text), *ARTICLES.finditer(text)]
    return [f"...{text[max(0, hit.start() - 30) : hit.end() + 30]}..." for hit in hits]


def find_long_sentences(text: str) -> list[str]:
    """Return the sentences of a page's paragraphs that have too many words; lists end theirs by lines."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-|#>]|\d+\.) ?)", text)
    sentences = [
        sentence for part in paragraphs if "|" not in part for sentence in re.split(r"(?<=[.!?:;])\s+", part)
    ]
    return [" ".join(each.split())[:80] for each in sentences if len(each.split()) > MAX_SENTENCE_WORDS]


def read_page(path: Path) -> str:
    """A page without outputs of commands, which come from the code, and without the glossary itself."""
    text = GLOSSARY.sub("", GENERATED.sub("", path.read_text(encoding="utf-8")))
    return " ".join(text.replace("\n# ", " ").split())  # comments of YAML files go on in the next line


def read_strings_and_comments(path: Path) -> str:
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    with path.open("rb") as file:
        texts = [token.string for token in tokenize.tokenize(file.readline) if token.type in kinds]
    return "\n".join(" ".join(text.split()) for text in texts)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: "/".join(path.parts[-2:]))
def test_texts_use_the_words_of_the_glossary(path):
    text = read_page(path)
    assert find_forbidden(text) == []
    assert find_slips(re.sub(r"```.*?```", "", text)) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: "/".join(path.parts[-2:]))
def test_sentences_of_pages_are_not_too_long(path):
    text = GENERATED.sub("", path.read_text(encoding="utf-8"))
    assert find_long_sentences(text) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_strings_and_comments_use_the_words_of_the_glossary(path):
    text = read_strings_and_comments(path)
    assert find_forbidden(text) == []
    if "kernels" not in path.parts:  # whose comments are full of symbols
        assert find_slips(text) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_uses_the_words_of_the_glossary_and_ends_its_sentences(name):
    """Help that is put together from parts, as people see it."""
    command = load_command(name)
    texts = [command.help, *(param.help for param in command.params if param.help)]
    assert [fault for text in texts for fault in (*find_forbidden(text), *find_slips(text))] == []
    assert [text for text in texts[1:] if not text.endswith(".") or text[0] != text[0].upper()] == []


def test_a_forbidden_word_is_found_and_an_allowed_use_is_not():
    assert find_forbidden("ours above print") == ["...ours above print...: say published value, paper"]
    assert find_forbidden("a unit that fails")[0].endswith("say task")
    assert find_forbidden("40 test examples")[0].endswith("say samples")
    assert find_forbidden("Print tables of the unit sphere in the file's own units") == []


def test_slips_are_found():
    assert len(find_slips("it is is here")) == 1
    assert len(find_slips("an learner")) == 0  # l, m, n, r, s, x and h may be letters that are spelled
    assert len(find_slips("an data set, a estimator, a an error")) >= 3
    assert find_slips("a one-sided test, an SVM, `--results results/x`, x x'") == []
    long = "word " * (MAX_SENTENCE_WORDS + 1)
    assert find_long_sentences(f"Short.\n\n{long}.") == [long.strip()[:80]]
    assert find_long_sentences("word. " * 200) == []
    assert find_forbidden("'x' is no model")[0].endswith("say is not a ...")
    assert find_forbidden("a record a row")[0].endswith("per ...")
