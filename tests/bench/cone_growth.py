"""How many cones of directions a proof takes for each number of errors, from random branches of its tree.

``python tests/bench/cone_growth.py DATA PROBES TARGET ...`` follows random branches down to the last target.
The child with the smaller matching is taken more often, and each cone counts one over the chance to come there:
Knuth's estimate (Estimating the efficiency of backtrack programs, Mathematics of Computation 29, 1975). A tree
is part of that of any higher target, so that one branch tells about all of them.
"""

import sys
import time

import numpy as np

from zoloss_cli import load_dataset
from zoloss_cli.learners.search.samples import ExactFeatures, merge_equal_samples
from zoloss_cli.proofs.cones import Column, Cone, ConeProblem, ConeWorkspace, build_cone_problem

PREFERENCE = 0.15  # a cone with one pair less is taken so much more often, to the power of e


class Branch:
    """A cone that was looked at: its children, and the pairs of its matching."""

    def __init__(self, space: ConeWorkspace, cone: Cone, target: int):
        space.split(cone, target)
        self.children, self.pairs = cone.children, int(space.stack[3][0])


def follow_branch(
    space: ConeWorkspace, roots: list[Branch], target: int, rng: np.random.Generator
) -> np.ndarray:
    counts, siblings, chance, least = np.zeros(target + 1), roots, 1.0, 0
    while siblings:
        pairs = np.array([branch.pairs for branch in siblings], float)
        chances = np.exp(-PREFERENCE * (pairs - pairs.min()))
        chances /= chances.sum()
        choice = int(rng.choice(len(siblings), p=chances))
        branch, chance = siblings[choice], chance * chances[choice]
        counts[least + 1 :] += 1.0 / chance  # it is there for all targets that its parent did not reach
        least = branch.pairs
        siblings = [Branch(space, child, target) for child in branch.children]
    return counts


def build_problem(name: str) -> tuple[ConeProblem, int]:
    """Return a data set as the cone search takes it, and the errors that equal samples cost."""
    X, y = load_dataset(name)
    signs = np.where(y == y.max(), 1.0, -1.0)
    kept, c, t, lost = merge_equal_samples(X, signs, np.ones(len(y)))
    problem = build_cone_problem(ExactFeatures(X).sign_samples(kept, t), c)
    assert problem is not None
    return problem, int(lost)


def main() -> None:
    name, probes, targets = sys.argv[1], int(sys.argv[2]), [int(target) for target in sys.argv[3:]]
    problem, lost = build_problem(name)
    space, last = ConeWorkspace(problem, does_log=False), max(targets) - lost
    scores, exponent, error = problem.compute_columns()
    columns = [Column(column, exponent, error) for column in scores]
    left, right = problem.copies[: problem.n_left].sum(), problem.copies[problem.n_left :].sum()
    mates = np.full(left, -1, np.int32), np.full(right, -1, np.int32)
    first = problem.list_first_cones()
    roots = [Branch(space, Cone([columns[k] for k in cone], *mates, share=0.0), last) for cone in first]
    start, rng = time.process_time(), np.random.default_rng(0)
    counts = np.array([follow_branch(space, roots, last, rng) for _ in range(probes)])
    print(f"{name}: {probes} branches in {time.process_time() - start:.1f} s")
    for target in targets:
        each = counts[:, target - lost]
        print(f"{target:>6} errors: {each.mean():.3g} cones, +- {each.std() / np.sqrt(probes):.1g}")


if __name__ == "__main__":
    main()
