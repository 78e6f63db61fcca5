"""Python files with users' own classes: identified by their content, and run only if that is allowed.

A class is named `mine.py:MyClass`, or `mine.py:MyClass@SHA256` if its content matters. The text of a file
travels with whatever names it, so that worker processes and other hosts run what was planned, whatever the file
holds by then.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.utils.files import FileError, FileMissingError, read_file

MAX_CODE_BYTES = 1 << 20
FILE_NAME = re.compile(r"(?P<path>[^@]+\.py):(?P<attribute>\w+)(@(?P<sha256>[0-9a-f]{64}))?", re.ASCII)
DOTTED_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+", re.ASCII)

CodePolicy = Literal["refuse", "skip", "run"]


@dataclass(frozen=True)
class CodeSource:
    """The content of a Python file.

    Attributes
    ----------
    name : str
        The file's name, without its folder.
    sha256 : str
        The hash of the text, in UTF-8.
    text : str
        Its content.
    path : str
        Where it was read; empty if it came from elsewhere.
    """

    name: str
    sha256: str
    text: str
    path: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Refuse a text that does not match the hash, for example from a changed manifest."""
        if hashlib.sha256(self.text.encode()).hexdigest() != self.sha256:
            raise ValueError(f"the text of {self.name} is not what its sha256 says: it was changed")


_policy: ContextVar[CodePolicy] = ContextVar("code policy", default="refuse")
_sources: dict[str, CodeSource] = {}  # by hash: what this process knows, not what it has run


def find_code_policy() -> CodePolicy:
    """Return what to do with other people's code: refuse it, leave it unchecked, or run it."""
    return _policy.get()


@contextlib.contextmanager
def use_code_policy(policy: CodePolicy) -> Iterator[None]:
    """Within this block, treat other people's code in this way: it can do whatever the user can."""
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


def allow_code(allowed: bool = True) -> contextlib.AbstractContextManager[None]:
    """Return a block within which classes from files and from untrusted packages may be used."""
    return use_code_policy("run" if allowed else "refuse")


def is_code_name(name: str) -> bool:
    """Return whether a learner's name is a class in a file, such as mine.py:MyClass."""
    return FILE_NAME.fullmatch(name) is not None


def is_dotted_name(name: str) -> bool:
    """Return whether a learner's name is a class of a package, such as sklearn.svm.LinearSVC."""
    return DOTTED_NAME.fullmatch(name) is not None


def name_class(name: str) -> str:
    """Return the bare name of a class in a file or a package."""
    if found := FILE_NAME.fullmatch(name):
        return found["attribute"]
    return name.rpartition(".")[2]


def read_code(name: str, folder: Path | None) -> tuple[str, CodeSource]:
    """Read the file of a class, without running it.

    Parameters
    ----------
    name : str
        The class, such as mine.py:MyClass.
    folder : Path or None
        The folder that the path is relative to and must stay inside; None for any path.

    Returns
    -------
    name : str
        The class by the file's name alone: the place of the file does not affect results.
    source : CodeSource
        The content, which `load_class` then finds by its hash.
    """
    found = FILE_NAME.fullmatch(name)
    assert found is not None, name
    path = Path(found["path"])
    if folder is not None:
        path = _confine(path, folder, name)
    try:
        text = read_file(path, MAX_CODE_BYTES).decode("utf-8")
    except FileMissingError:
        beside = sorted(p.name for p in path.parent.glob("*.py")) if path.parent.is_dir() else []
        raise ConfigError(f"there is no file {path}{suggest_nearest(path.name, beside)}") from None
    except FileError as error:
        raise ConfigError(f"{path} {error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a Python file: its text is not UTF-8") from None
    _check_class_is_there(text, found["attribute"], path)
    source = CodeSource(path.name, hashlib.sha256(text.encode()).hexdigest(), text, str(path.resolve()))
    remember_code(source)
    return f"{path.name}:{found['attribute']}", source


def _confine(path: Path, folder: Path, name: str) -> Path:
    """Return the path in its folder; a config must not reach files elsewhere."""
    inside = (folder / path).resolve()
    if path.is_absolute() or not inside.is_relative_to(folder.resolve()):
        raise ConfigError(
            f"'{name}' is not in the folder of the config: put the file next to the config, and name it from "
            "there"
        )
    return folder / path


def _check_class_is_there(text: str, attribute: str, path: Path) -> None:
    """Raise ConfigError unless a file is Python and binds the name, as far as that can be determined."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise ConfigError(f"{path}{line} is not valid Python: {getattr(error, 'msg', error)}") from None
    classes = [node.name for node in body if isinstance(node, ast.ClassDef)]
    names = {node.id for top in body for node in ast.walk(top) if isinstance(node, ast.Name)}
    names |= {
        alias.asname or alias.name
        for top in body
        for node in ast.walk(top)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    if attribute not in classes and attribute not in names:
        raise ConfigError(f"{path} has no class '{attribute}'{suggest_nearest(attribute, classes)}")


def remember_code(source: CodeSource) -> None:
    """Let this process find a file's content by its hash; nothing is run."""
    _sources[source.sha256] = source


def load_class(name: str) -> Any:
    """Run a file, once per process, and return the object with this name.

    Parameters
    ----------
    name : str
        The class with its content, mine.py:MyClass@SHA256.
    """
    found = FILE_NAME.fullmatch(name)
    source = _sources.get(found["sha256"] or "") if found else None
    if found is None or source is None:
        raise ConfigError(
            f"the code of '{name.partition('@')[0]}' is not known: name its file in a config or option"
        )
    module = _load_module(source)
    if not hasattr(module, found["attribute"]):
        raise ConfigError(f"{source.name} has no class '{found['attribute']}' after it was run")
    return getattr(module, found["attribute"])


def _load_module(source: CodeSource) -> ModuleType:
    name = f"zoloss_code_{source.sha256}"  # a unique name: it hides no other module, and pickle finds it
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = _find_filename(source)
    sys.modules[name] = module
    try:
        exec(compile(source.text, module.__file__, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(f"{source.name} cannot be run: {reason}") from error
    return module


def _find_filename(source: CodeSource) -> str:
    """Return the file's path if it still holds this text, for tracebacks and compilers; otherwise its name."""
    with contextlib.suppress(FileError, ValueError):
        if source.path and read_file(Path(source.path), MAX_CODE_BYTES).decode() == source.text:
            return source.path
    return source.name
