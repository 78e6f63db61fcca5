"""What tests of your own tables share: rows with some noise, and what a refusal looks like."""

import numpy as np

from zoloss_cli.api.validation import FoldData
from zoloss_cli.choices import DEFAULT_SCALING
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.data.user_table import read_for_training

GOOD = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11}.{i:02d},{'xy'[(i * 5 // 3) % 2]}\n" for i in range(30))
COLOURS = "a,colour,label\n1,red,x\n3,blue,y\n5,red,x\n2,blue,y\n"
SEVERAL = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11},{'xyz'[i % 3]}\n" for i in range(30))  # three classes


def noisy_rows(n: int = 60) -> list[list[str]]:
    """Two groups of points with a few labels turned round, and a column of text."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0) ^ (rng.random(n) < 0.1)
    return [
        [f"{a:.3f}", f"{b:.3f}", "red" if a > b else "blue", "good" if k else "bad"]
        for (a, b), k in zip(X, y, strict=True)
    ]


def build_clouds(n: int, n_classes: int = 2, seed: int = 0) -> FoldData:
    """Overlapping clouds, one for each class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return FoldData(rng.normal(size=(n, 3)) + 0.9 * y[:, None], y, "standard", 1)


def write_clouds(data: FoldData) -> str:
    rows = [",".join([*map(repr, x.tolist()), f"c{k}"]) for x, k in zip(data.X, data.y, strict=True)]
    return "\n".join(["a,b,c,label", *rows]) + "\n"


HEADER = ["a", "b", "colour", "label"]


def as_csv(rows, separator: str = ",", end: str = "\n") -> str:
    return "".join(separator.join(row) + end for row in [HEADER, *rows])


def loaded(path, how: str = DEFAULT_SCALING):
    own = read_for_training(path)
    return scale_parts(own.X, own.X, how)[0], own.index_classes(None)[0], own


def refused(ended, code: int, *parts: str, faults: int | None = 1) -> None:
    """Check that a command said what is wrong, in a sentence a fault (None: any number), and nothing else.

    That the label column was guessed may stand before it.
    """
    assert ended.code == code, ended.err
    assert ended.out == ""
    said = [line for line in ended.err.splitlines() if "(guessed; --label to change)" not in line]
    assert len(said) == faults or (faults is None and said)
    assert all(line.startswith("zoloss: ") for line in said)
    assert "Traceback" not in ended.err
    assert "--debug" not in ended.err  # nothing that nobody thought of
    for part in parts:
        assert part in ended.err
