"""The campaigns of `make torture` in short, and that they would notice a fault."""

import re

from places import TOP
from processes import run_python
from torture import CAMPAIGNS
from torture.children import Outcome
from torture.judge import find_faults

# Puts what would be a defect into the package, then attacks it.
SABOTAGE = """
import runpy, sys
from zoloss_cli.results import record
record._verify_checks = lambda bodies, lines: True
record._strip_check = lambda line: line[:-record.CHECK_LENGTH] + b"}"
sys.argv = ["torture", "--campaign", "changed-results", "--seed", "1", "--tries", "5"]
runpy.run_path(sys.orig_argv[-1], run_name="__main__")
"""


def test_some_tries_of_every_campaign_find_nothing():
    ended = run_python(TOP / "tests" / "torture", "--short", "--seed", "7")
    assert ended.code == 0, ended.out + ended.err
    found = re.findall(r"^([a-z-]+): (\d+) .*: (\d+) with faults", ended.out, re.MULTILINE)
    assert [name for name, _, _ in found] == list(CAMPAIGNS)
    elsewhere = ("bare-users", "cluster-kills")  # where not permitted, and in test_cluster_kills.py
    assert all((tries != "0" or name in elsewhere) and faults == "0" for name, tries, faults in found)


def test_without_check_values_changes_are_found():
    ended = run_python("-c", SABOTAGE, TOP / "tests" / "torture" / "__main__.py")
    assert ended.code == 1, ended.out + ended.err
    assert "other numbers of" in ended.out
    assert "again: python tests/torture --campaign changed-results --seed" in ended.out


REFUSED = "zoloss: mine.csv: there is no such file\n"


def test_faults_are_seen_and_what_is_right_is_none():
    for outcome, fault in (
        (Outcome(1, "", "zoloss: unexpected KeyError: 'x' (zoloss --debug ...)\n"), "nobody thought of"),
        (Outcome(2, "", "Traceback (most recent call last):\n"), "a traceback"),
        (Outcome(3, "", REFUSED + "and more\n"), "another form than sentences"),
        (Outcome(3, "", ""), "without a word"),
        (Outcome(-9, "", REFUSED), "exit code -9"),
        (Outcome(99, "", REFUSED), "exit code 99"),
        (Outcome(0, "\x1b[2J", ""), "control character"),
        (Outcome(0, "", "", cpu_seconds=11.0), "CPU time"),
        (Outcome(0, "", "", peak_bytes=2 << 30), "of memory"),
        (Outcome(0, "", "", outside=["open /etc/passwd"]), "outside of the given folder"),
    ):
        assert any(fault in found for found in find_faults(outcome))
    for outcome in (Outcome(0, "a table", ""), Outcome(3, "", REFUSED), Outcome(2, "", "Usage: x\n")):
        assert find_faults(outcome) == []
