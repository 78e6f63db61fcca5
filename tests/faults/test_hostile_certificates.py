"""Hostile files for `zoloss verify` and the checker: each ends in time and memory, with one sentence."""

import re

import pytest
from hostile_certificates import QUICK, find_faults, run_checker


@pytest.mark.parametrize("name", QUICK)
def test_hostile_files_are_refused_in_a_sentence(name, tmp_path):
    build, words = QUICK[name]
    ended = run_checker(*build(tmp_path))
    assert find_faults(ended) == []
    assert re.search(words, ended.err)
