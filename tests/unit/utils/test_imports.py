"""Python files that hold a class, run only where allowed; and optional packages."""

import hashlib

import pytest

from zoloss_cli.errors import ConfigError, MissingPackageError
from zoloss_cli.external import is_trusted
from zoloss_cli.registry import find_registration
from zoloss_cli.utils.imports import (
    CodeSource,
    allow_code,
    find_code_policy,
    import_optional,
    is_code_name,
    is_dotted_name,
    load_class,
    name_class,
    read_code,
    use_code_policy,
)
from zoloss_cli.utils.processes import run_interruptibly


@pytest.fixture
def folder(tmp_path):
    """A folder with a file of two classes, which says when it is run."""
    (tmp_path / "mine.py").write_text("class Mine:\n    number = 1\nclass Other: pass\nprint('was run')\n")
    return tmp_path


def test_what_a_name_is():
    names = ["mine.py:Mine", "a/b c/mine.py:Mine", "sklearn.svm.LinearSVC", "rcd-bias", "ecc:stump", "v1.0"]
    names += ["mine.py:Mine@abc", "mine.py:", "mine.py:os.system", ".hidden"]
    assert list(filter(is_code_name, names)) == ["mine.py:Mine", "a/b c/mine.py:Mine"]
    assert list(filter(is_dotted_name, names)) == ["sklearn.svm.LinearSVC"]


def test_a_file_is_known_by_its_name_and_content_and_is_not_run(folder, capsys):
    name, source = read_code("mine.py:Mine", folder)
    text = (folder / "mine.py").read_bytes()
    assert (name, source.name, source.text) == ("mine.py:Mine", "mine.py", text.decode())
    assert source.sha256 == hashlib.sha256(text).hexdigest()
    assert read_code(f"{folder}/mine.py:Mine", None) == (name, source)  # by a path that somebody typed
    assert name_class(name) == "Mine"
    assert capsys.readouterr().out == ""


def test_two_versions_of_a_file_live_side_by_side(folder):
    sources = [read_code("mine.py:Mine", folder)[1]]
    (folder / "mine.py").write_text("class Mine:\n    number = 2\n")
    sources.append(read_code("mine.py:Mine", folder)[1])
    found = [load_class(f"mine.py:Mine@{source.sha256}") for source in sources]
    assert [each.number for each in found] == [1, 2]  # the first as it was read, not as it is by now
    assert len({each.__module__ for each in found}) == 2


def test_a_text_that_is_not_that_of_its_hash_is_refused():
    with pytest.raises(ValueError, match=r"the text of mine\.py does not match its sha256"):
        CodeSource("mine.py", hashlib.sha256(b"1").hexdigest(), "2")
    with pytest.raises(ConfigError, match=r"the code of 'mine\.py:Mine' is unknown"):
        load_class(f"mine.py:Mine@{'0' * 64}")


def test_a_config_reaches_no_file_outside_its_folder(folder):
    inside = folder / "inside"
    inside.mkdir()
    (inside / "link.py").symlink_to(folder / "mine.py")
    words = "is not in the folder of the config: put the file next to the config"
    for name in ("../mine.py", f"{folder}/mine.py", "link.py", "deep/../../mine.py"):
        with pytest.raises(ConfigError, match=words):
            read_code(f"{name}:Mine", inside)


def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path):
    for content, name, part in (
        (b"class Mine: pass", "mine.py:Mien", "mine.py has no class 'Mien'; did you mean 'Mine'?"),
        (b"x = 1", "mien.py:Mine", "mien.py; did you mean 'mine.py'?"),
        (b"class Mine:\n  pass\n x", "mine.py:Mine", "mine.py:3 is not valid Python"),
        (b"class Mine: pass # \xff", "mine.py:Mine", "its text is not UTF-8"),
        (b"\0", "mine.py:Mine", "is not valid Python"),
        (b"#" * (1 << 20) + b"\nclass Mine: pass", "mine.py:Mine", "is too large"),
    ):
        (tmp_path / "mine.py").write_bytes(content)
        with pytest.raises(ConfigError) as refused:
            read_code(name, tmp_path)
        assert part in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_file_that_fails_when_it_is_run_is_one_sentence(tmp_path):
    for line in ("raise OSError('disk on fire')", "import sys; sys.exit('bye')", "1 / 0"):
        (tmp_path / "mine.py").write_text(f"class Mine: pass\n{line}\n")
        _, source = read_code("mine.py:Mine", tmp_path)
        words = r"^mine\.py cannot be run: (OSError|SystemExit|ZeroDivisionError): "
        for _ in range(2):  # nothing half-made is left for the second time
            with pytest.raises(ConfigError, match=words):
                load_class(f"mine.py:Mine@{source.sha256}")


def test_code_is_refused_unless_it_is_allowed(folder, capsys):
    (folder / "mine.py").write_text("class Other: pass\nprint('was run')  # a text that no other test has\n")
    _, source = read_code("mine.py:Other", folder)
    name = f"mine.py:Other@{source.sha256}"
    words = r"'mine\.py:Other' is code from a file and runs with your permissions: .* --allow-code"
    assert find_code_policy() == "refuse"
    with pytest.raises(ConfigError, match=words):
        find_registration(name)
    with use_code_policy("skip"), pytest.raises(ConfigError, match=words):
        find_registration(name)
    assert capsys.readouterr().out == ""
    with allow_code():
        assert run_interruptibly(find_code_policy) == "run"  # a thread knows what is allowed
        with pytest.raises(ConfigError, match="is not an estimator"):
            find_registration(name)
    assert capsys.readouterr().out == "was run\n"
    assert run_interruptibly(find_code_policy) == "refuse"
    with pytest.raises(ConfigError, match=words):  # although it is loaded by now
        find_registration(name)


def test_only_scikit_learn_and_zoloss_are_trusted():
    names = ["sklearn.svm.LinearSVC", "zoloss_cli.learners.majority.MajorityClassifier", "sklearnx.svm.SVC"]
    assert list(filter(is_trusted, [*names, "pandas.DataFrame", "mine.py:Mine"])) == names[:2]
    with pytest.raises(ConfigError, match=r"'pandas\.DataFrame' is a class from a package that zoloss"):
        find_registration("pandas.DataFrame")


def test_a_package_that_cannot_be_imported_is_not_called_missing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for module, content, reason in (
        ("half_there", "import no_such_part", "No module named 'no_such_part'"),
        ("no_library", "raise OSError('libgone.so: cannot open')", "libgone.so"),
    ):
        (tmp_path / f"{module}.py").write_text(content, encoding="utf-8")
        words = f"cannot be imported .*{reason}.*--force-reinstall {module}"
        with pytest.raises(MissingPackageError, match=words):
            import_optional(module, "a test")
    assert issubclass(MissingPackageError, ImportError)  # which libraries may expect
