"""Fit all learners after loading all kernels: python tests/support/loaded_kernels.py ORDER SCORES.npz."""

import importlib
import pkgutil
import sys

import numpy as np
from brief_learners import NAMES, make

from zoloss_cli import kernels


def load_all_kernels(is_reversed: bool) -> int:
    loaded = 0
    names = sorted(module.name for module in pkgutil.iter_modules(kernels.__path__))
    for name in reversed(names) if is_reversed else names:
        module = importlib.import_module(f"zoloss_cli.kernels.{name}")
        for value in vars(module).values():
            if getattr(value, "__module__", "") == module.__name__ and hasattr(value, "_cache"):
                index = getattr(value._cache, "_cache_file", None)
                for key in list(index._load_index()) if index is not None else ():
                    loaded += value._cache.load_overload(key[0], value.targetctx) is not None
    return loaded


def fit_all(order: str, path: str) -> None:
    loaded = load_all_kernels(order == "backwards")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = (X @ rng.standard_normal(4) + rng.standard_normal(120) > 0).astype(int)
    scores = {name: make(name).fit(X, y).decision_function(X) for name in NAMES}
    np.savez(path, loaded=loaded, **scores)


if __name__ == "__main__":
    fit_all(*sys.argv[1:])
