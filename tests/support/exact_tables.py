"""Tiny tables of numbers that floating point holds badly or not at all, as texts, for tests of exact bounds."""

import math
import random
from collections.abc import Callable
from decimal import Decimal

MAX_SAMPLES, MAX_FEATURES = 9, 3


Drawer = Callable[[], str]


def draw_last_places(rng: random.Random) -> Drawer:
    """Numbers that differ in the last place of a double."""
    ladder = [rng.choice([1.0, -1.0, 0.1, 1e16, 123456.789, -2.5e-7, 1e300]) * rng.uniform(1.0, 2.0)]
    for _ in range(3):
        ladder.append(math.nextafter(ladder[-1], math.inf))
    return lambda: repr(rng.choice(ladder))


def draw_long_decimals(rng: random.Random) -> Drawer:
    """Decimals of 17 to 40 digits, some of which only differ after the 17th."""
    n_digits, n_common = rng.randint(17, 40), rng.choice([0, 10, 16])
    common = "".join(rng.choices("0123456789", k=n_common))
    tails = ["".join(rng.choices("0123456789", k=n_digits - n_common)) for _ in range(rng.choice([2, 4, 9]))]
    point, sign = rng.randint(0, n_digits), rng.choice(["", "-"])
    wholes = [common + tail for tail in tails]
    texts = [f"{sign}{digits[:point] or '0'}.{digits[point:] or '0'}" for digits in wholes]
    return lambda: rng.choice(texts)


def draw_extremes(rng: random.Random) -> Drawer:
    """The largest and smallest doubles, and numbers beyond the smallest."""
    large = ["1e308", "-1e308", "1.7e308", "1.6999999999999999e308", "9.99e307", "0"]
    small = ["1e-308", "-1e-308", "2e-308", "5e-324", "1e-323", "1.5e-323", "-5e-324", "0", "1e-330", "3e-399"]
    values = rng.choice([large, small, small, [*large[:2], *small[:4]]])
    return lambda: rng.choice(values)


def draw_zeros(rng: random.Random) -> Drawer:
    zeros = ["-0", "-0.0", "0", "+0", "0.0", "-0e5", "0e-9", "-.0"]
    values = [*zeros, *rng.sample(["1", "-1", "1e-300", "-1e-17", "2"], 3)]
    return lambda: rng.choice(values)


def draw_large_integers(rng: random.Random) -> Drawer:
    start, step = rng.choice([2**53, -(2**53), 2**60, 10**19, 10**25, -(10**30)]), rng.choice([1, 1, 3])
    return lambda: str(start + step * rng.randint(0, 4))


def draw_magnitudes(rng: random.Random) -> Drawer:
    largest = rng.choice([3, 12, 25])
    return lambda: f"{rng.choice(['', '-'])}{rng.randint(1, 99)}e{rng.randint(-largest, largest)}"


def draw_decimals(rng: random.Random) -> Drawer:
    return lambda: f"{rng.gauss(0.0, 1.0):.{rng.choice([1, 3])}f}"


def draw_grid(rng: random.Random) -> Drawer:
    """Numbers of a grid, written in several ways."""
    steps = [("1", 0, 3), ("0.1", 0, 5), ("0.1", 7, 4), ("1e15", 1, 4), ("0.001", 10**9, 5)]
    step, start, size = rng.choice(steps)
    forms = {k: _write_in_forms((start + k) * Decimal(step)) for k in range(size)}
    return lambda: rng.choice(forms[rng.randrange(size)])


KINDS: dict[str, Callable[[random.Random], Drawer]] = {
    "last places": draw_last_places,
    "long decimals": draw_long_decimals,
    "extremes": draw_extremes,
    "zeros": draw_zeros,
    "large integers": draw_large_integers,
    "magnitudes": draw_magnitudes,
    "grid": draw_grid,
    **dict.fromkeys(("decimals", "duplicates", "collinear", "mixed"), draw_decimals),
}


def draw_table(
    kind: str, rng: random.Random, n_samples: int | None = None
) -> tuple[list[str], list[list[str]]]:
    # More samples than features, so that few tables are separable.
    n = n_samples or max(rng.randint(3, MAX_SAMPLES) for _ in range(3))
    n_features = rng.randint(1, MAX_FEATURES)
    is_mixed = kind == "mixed"
    drawers = [KINDS[rng.choice(list(KINDS)) if is_mixed else kind](rng) for _ in range(n_features)]
    samples = [[draw() for draw in drawers] for _ in range(n)]
    if kind == "duplicates" or rng.random() < 0.15:
        samples = [rng.choice(samples[: max(2, n // 2)]) for _ in range(n)]
    if kind == "collinear":
        factors = [rng.choice([1, 2, 3, -5, 10]) for _ in range(n_features)]
        places = [rng.randint(-9, 9) for _ in range(n)]
        samples = [[_write_in_forms(f * k * Decimal("0.1"))[0] for f in factors] for k in places]
    labels = ["n", "p", *(rng.choice("np") for _ in range(n - 2))]
    rng.shuffle(labels)
    rows = [[*x, label] for x, label in zip(samples, labels, strict=True)]
    return [*(f"x{j}" for j in range(n_features)), "label"], rows


def render_table(header: list[str], rows: list[list[str]]) -> str:
    return "".join(",".join(row) + "\n" for row in [header, *rows])


def _write_in_forms(value: Decimal) -> list[str]:
    plain = f"{value:f}"
    return [plain, f"{plain}0" if "." in plain else f"{plain}.0", f"{value:e}", f"{value:.20E}"]
