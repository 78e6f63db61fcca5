"""Small configs that would take all time or memory: each ends in one sentence."""

import resource
import subprocess
import sys

from processes import HANG_SECONDS

END = "datasets: [heart]\nlearners: [fld]\n"
MEMORY_BYTES = 3 << 30  # of addresses, which NumPy and OpenBLAS reserve far more of than they use


def nest(levels: int, last: str = "x") -> str:
    rows = [f"a0: &a0 [{','.join([last] * 9)}]"]
    rows += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(rows) + "\n" + END


def merge(levels: int) -> str:
    rows = ["m0: &m0 {a: 1, b: 2}"]
    rows += [f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}]}}" for i in range(1, levels)]
    return "\n".join(rows) + "\n" + END


CASES = {
    "aliases": (nest(6), "more than 10,000 values"),
    "merged": (merge(9), "more than 10,000 values"),
    "itself": ("a: &a [*a]\n" + END, "'*a' refers to itself"),
    "deep list": ("a: " + "[" * 5000 + "]" * 5000 + "\n" + END, "nested too deeply"),
    "keys": ("".join(f"k{i}: 1\n" for i in range(100_000)) + END, "more than 10,000 values"),
    "list key": ("? [a]\n: b\n" + END, "not valid YAML: found unhashable key"),
    "digits": (END + f"split: {{seed: {'9' * 5000}}}\n", ":3: not valid YAML: a number of 5,000 characters"),
    "tag": (END + "split: {seed: !!int abc}\n", ":3: not valid YAML: this is not a valid int"),
    "size": ("datasets: {ringnorm: {size: 1000000000000}}\nlearners: [fld]\n", "datasets.ringnorm.size"),
    "combinations": (
        "datasets: [heart]\nlearners: {pocket: {best_of: {"
        + ", ".join(f"p{i}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]" for i in range(9))
        + "}}}\n",
        "learners.pocket.best_of: lists 1,000,000,000 combinations",
    ),
    "zero byte": ("title: a\0b\n" + END, "not valid YAML"),
    "bytes": ("x" * (1 << 20) + ": 1\n" + END, "is too large"),
}


def test_hostile_configs_end_in_one_sentence_each(write_config):
    paths = {name: write_config(text, f"{name}.yaml") for name, (text, _) in CASES.items()}
    ended = subprocess.run(
        [sys.executable, "-m", "zoloss_cli", "validate", *paths.values()],
        capture_output=True, text=True, timeout=HANG_SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )  # fmt: skip
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == len(CASES)
    for line, (name, path) in zip(ended.stderr.splitlines(), paths.items(), strict=True):
        assert line.startswith(f"zoloss: {path}"), name
        assert CASES[name][1] in line
        assert len(line) < 1000


def test_of_many_mistakes_the_first_are_shown(zoloss, write_config):
    for text in (
        END + "".join(f"k{i}: 1\n" for i in range(4000)),
        END + "k: {" + ", ".join(f"a{i}: 1, a{i}: 2" for i in range(2000)) + "}\n",
        "datasets: [" + ", ".join(f"d{i}" for i in range(4000)) + "]\nlearners: [fld]\n",
        "datasets: [heart]\nlearners: {pocket: {" + ", ".join(f"a{i}: 1" for i in range(4000)) + "}}\n",
    ):
        path = write_config(text)
        ended = zoloss("validate", path)
        assert ended.code == 2
        lines = ended.err.splitlines()
        assert len(lines) == 21
        assert lines[-1].startswith(f"zoloss: {path}: and ")
        assert lines[-1].endswith(" more errors")
    ended = zoloss("validate", write_config(END + 'split: {"a\\nb": 1}\n'))
    assert "split.a\\nb: " in ended.err  # a message is one line whatever the key
