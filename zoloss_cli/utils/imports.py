"""Imports at run time: optional packages, and Python files with users' own classes.

A class in a file is named `mine.py:MyClass`, or `mine.py:MyClass@SHA256` if its content matters. Files are
identified by their content, and run only if that is allowed. The text of a file is sent with its name, so that
worker processes and other hosts run what was planned, even if the file has changed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from zoloss_cli.errors import ConfigError, MissingPackageError, suggest_nearest
from zoloss_cli.utils.files import FileError, FileMissingError, read_file

INSTALL_NAMES = {"liblinear": "liblinear-official"}  # packages whose names in pip and Python differ


def is_installed(module: str) -> bool:
    """Return whether a package can be found, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def import_optional(module: str, needed_by: str) -> ModuleType:
    """Import a module of an optional package; raise MissingPackageError with the command to install it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except (ImportError, OSError) as error:  # OSError: a library that the package loads itself
        if not is_installed(package) or getattr(error, "name", None) == package:
            raise build_missing_error(package, needed_by) from None
        name, reason = find_install_name(package), " ".join(str(error).split())
        raise MissingPackageError(
            f"{needed_by} needs the package {name}, which cannot be imported ({reason}): "
            f"pip install --force-reinstall {name}"
        ) from error


def build_missing_error(
    package: str, needed_by: str, purpose: str = "", instead: str = ""
) -> MissingPackageError:
    """Return the error about a missing package, with its purpose and an alternative, if given."""
    name = find_install_name(package)
    what_for, otherwise = f" {purpose}" * bool(purpose), f", or {instead}" * bool(instead)
    return MissingPackageError(
        f"{needed_by} needs the package {name}{what_for}, which is not installed: pip install {name}{otherwise}"
    )


def find_install_name(package: str) -> str:
    """Return a package's name in pip."""
    return INSTALL_NAMES.get(package, package)


MAX_CODE_BYTES = 1 << 20
FILE_NAME = re.compile(r"(?P<path>[^@]+\.py):(?P<attribute>\w+)(@(?P<sha256>[0-9a-f]{64}))?", re.ASCII)
DOTTED_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+", re.ASCII)

CodePolicy = Literal["refuse", "skip", "run"]


@dataclass(frozen=True)
class CodeSource:
    """The content of a Python file."""

    name: str  # without its folder
    sha256: str  # of the text in UTF-8
    text: str
    path: str = field(default="", compare=False)  # empty if it was not read from a file

    def __post_init__(self) -> None:
        """Raise ValueError if the text does not match the hash, for example from a changed manifest."""
        if hashlib.sha256(self.text.encode()).hexdigest() != self.sha256:
            raise ValueError(f"the text of {self.name} does not match its sha256: it was changed")


_policy: ContextVar[CodePolicy] = ContextVar("code policy", default="refuse")
_sources: dict[str, CodeSource] = {}  # by hash: known to this process, but not necessarily run


def find_code_policy() -> CodePolicy:
    """Return the policy for third-party code: refuse it, skip checking it, or run it."""
    return _policy.get()


@contextlib.contextmanager
def use_code_policy(policy: CodePolicy) -> Iterator[None]:
    """Set the policy for third-party code within this block; code that is run has the user's privileges."""
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


def allow_code(allowed: bool = True) -> contextlib.AbstractContextManager[None]:
    """Return a context within which classes from files and from untrusted packages may be used."""
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
    """Read the file of a class such as mine.py:MyClass without running it; return its name without folder, too.

    The path is relative to `folder` and must stay inside; without a folder, any path is read.
    """
    found = FILE_NAME.fullmatch(name)
    assert found is not None, name
    path = Path(found["path"])
    if folder is not None:  # a config must not reach files elsewhere
        if path.is_absolute() or not (folder / path).resolve().is_relative_to(folder.resolve()):
            raise ConfigError(
                f"'{name}' is not in the folder of the config: put the file next to the config, and name it "
                "from there"
            )
        path = folder / path
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


def _check_class_is_there(text: str, attribute: str, path: Path) -> None:
    """Raise ConfigError unless a file is valid Python and, by static analysis, defines the class."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise ConfigError(f"{path}{line} is not valid Python: {getattr(error, 'msg', error)}") from None
    classes = [node.name for node in body if isinstance(node, ast.ClassDef)]
    nodes = [node for top in body for node in ast.walk(top)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    names |= {alias.asname or alias.name for node in imports for alias in node.names}
    if attribute not in classes and attribute not in names:
        raise ConfigError(f"{path} has no class '{attribute}'{suggest_nearest(attribute, classes)}")


def remember_code(source: CodeSource) -> None:
    """Register a file's content in this process by its hash, without running it."""
    _sources[source.sha256] = source


def load_class(name: str) -> Any:
    """Run the file of a class, mine.py:MyClass@SHA256, once per process, and return the class."""
    found = FILE_NAME.fullmatch(name)
    source = _sources.get(found["sha256"] or "") if found else None
    if found is None or source is None:
        raise ConfigError(
            f"the code of '{name.partition('@')[0]}' is unknown: name its file in a config or option"
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
    module.__file__ = source.name
    with contextlib.suppress(FileError, ValueError):  # its path if unchanged, for tracebacks and compilers
        if source.path and read_file(Path(source.path), MAX_CODE_BYTES).decode() == source.text:
            module.__file__ = source.path
    sys.modules[name] = module
    try:
        exec(compile(source.text, module.__file__, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(f"{source.name} cannot be run: {reason}") from error
    return module
