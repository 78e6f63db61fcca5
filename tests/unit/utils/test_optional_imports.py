from __future__ import annotations

import sys

import pytest

from zoloss_cli.errors import MissingPackageError
from zoloss_cli.utils.imports import check_installed, import_optional, is_installed


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A package that is installed and cannot be imported."""
    (tmp_path / "half_there.py").write_text("import no_such_part\n", encoding="utf-8")
    (tmp_path / "no_library.py").write_text("raise OSError('libgone.so: cannot open')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("half_there", "no_library"):
        sys.modules.pop(name, None)


def test_what_is_there_is_imported():
    assert import_optional("json.decoder", "a test") is sys.modules["json.decoder"]
    check_installed("json", "a test")


def test_a_missing_package_is_asked_for_by_the_name_that_pip_knows(monkeypatch):
    for name in ("liblinear", "liblinear.liblinearutil"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not there
    assert not is_installed("liblinear")
    with pytest.raises(MissingPackageError, match=r"^'lr' needs .*: pip install liblinear-official$"):
        import_optional("liblinear.liblinearutil", "'lr'")
    with pytest.raises(ImportError):  # which libraries may expect
        check_installed("liblinear", "'lr'")


@pytest.mark.parametrize(
    ("module", "reason"), [("half_there", "No module named 'no_such_part'"), ("no_library", "libgone.so")]
)
def test_a_package_that_cannot_be_imported_is_not_called_missing(broken, module, reason):
    with pytest.raises(MissingPackageError, match=f"cannot be imported .*{reason}.*--force-reinstall {module}"):
        import_optional(module, "a test")
