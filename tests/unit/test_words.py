"""The words of the glossary in docs/developers.md: texts for readers do not use those that it replaces."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest
from places import TOP

import zoloss_cli

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
}
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
    assert find_forbidden(read_page(path)) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_strings_and_comments_use_the_words_of_the_glossary(path):
    assert find_forbidden(read_strings_and_comments(path)) == []


def test_a_forbidden_word_is_found_and_an_allowed_use_is_not():
    assert find_forbidden("ours above print") == ["...ours above print...: say published value, paper"]
    assert find_forbidden("a unit that fails")[0].endswith("say task")
    assert find_forbidden("40 test examples")[0].endswith("say samples")
    assert find_forbidden("Print tables of the unit sphere in the file's own units") == []
