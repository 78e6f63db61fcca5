"""The shape of the code: short functions, few parameters, and one class of a name."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import zoloss_cli

PACKAGE = Path(zoloss_cli.__file__).parent
MAX_LINES = 60
MAX_PARAMETERS = 8
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if "kernels" not in p.parts and "shipped" not in p.parts)


def functions(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function):
    """Lines of a function's body without its docstring: explaining more must not be a reason to split."""
    first, *rest = function.body
    documented = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
    if documented and not rest:
        return 0
    return function.end_lineno - (rest[0] if documented else first).lineno + 1


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_functions_are_short_and_take_few_parameters(path):
    long = {f.name: n for f in functions(path) if (n := body_lines(f)) > MAX_LINES}
    assert not long
    if path.parent.name == "cli":
        return  # a command has as many parameters as options
    wide = {
        f.name: n
        for f in functions(path)
        if f.name != "__init__"  # an estimator has as many as its algorithm
        and not (path.parent.name == "api" and f.name in zoloss_cli.__all__)  # as many as a command has options
        and (n := len([a for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs) if a.arg != "self"]))
        > MAX_PARAMETERS
    }
    assert not wide


def test_a_class_name_is_used_once():
    names = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []
