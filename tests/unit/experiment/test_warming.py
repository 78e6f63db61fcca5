"""Kernels are compiled before a learner is timed, with a notice where that takes seconds."""

from numba import njit
from processes import environment, run_zoloss

from zoloss_cli.api.choose import parse_learner
from zoloss_cli.experiment import warming
from zoloss_cli.experiment.warming import warm_up
from zoloss_cli.utils.text import show_notices_by


def test_a_compilation_is_told_once_and_only_where_there_is_one(request):
    def compile_two():
        for _ in range(2):
            assert njit(lambda x: x + 1.0)(2.0) == 3.0

    notices = []
    show_notices_by(notices.append)
    request.addfinalizer(lambda: show_notices_by(None))
    with warming.announce_compilation(7.4):
        pass
    assert notices == []
    with warming.announce_compilation(7.4):
        compile_two()
    (text,) = notices
    assert text.startswith("compiling kernels")
    assert text.endswith("about 7 s")
    with warming.announce_compilation(1.0):  # over before it is read
        compile_two()
    assert len(notices) == 1


def test_a_learner_is_warmed_up_once(monkeypatch):
    fitted = []
    monkeypatch.setattr(warming, "_warmed_up", set())
    monkeypatch.setattr(warming, "_fit_briefly", lambda spec: fitted.append(spec.name))
    spec = parse_learner("fld", [], None)
    warm_up(spec)
    warm_up(spec)
    assert fitted == ["fld"]


def test_the_command_compiles_and_keeps(tmp_path):
    """The second time there is nothing left to compile, so nothing is told."""
    env = {**environment(), "NUMBA_CACHE_DIR": str(tmp_path)}
    first = run_zoloss("warmup", "pocket", env=env)
    assert (first.code, first.err) == (0, "zoloss: compiling kernels, once, about 6 s\n")
    assert first.out.startswith("the kernels of 1 learner are ready, after ")
    compiled = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert compiled
    second = run_zoloss("warmup", "pocket", env=env)
    assert (second.code, second.err) == (0, "")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == compiled


def test_an_unknown_learner_is_named_with_the_nearest(zoloss):
    ended = zoloss("warmup", "pivott")
    assert ended.code == 2
    assert "did you mean 'pivot'" in ended.err
