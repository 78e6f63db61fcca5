"""Scoring systems by HiGHS beside ours: ``scoring_milp.py SECONDS DATASET ...``, 5 terms and points within 5.

Both solve the same problem with the same conditions. HiGHS has one thread, and so many seconds of CPU time.
"""

import sys
import time
from pathlib import Path

import highspy
import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from scoring_program import MilpProgram, build_milp, to_milp_loss

from zoloss_cli import ScoringSystemClassifier, load_dataset


def load_solver(program: MilpProgram) -> highspy.Highs:
    solver = highspy.Highs()
    for option, value in {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0}.items():
        solver.setOptionValue(option, value)
    n, A = len(program.costs), csr_array(program.A)
    solver.addVars(n, program.lower, program.upper)
    every = np.arange(n, dtype=np.int32)
    solver.changeColsCost(n, every, program.costs)
    solver.changeColsIntegrality(n, every, np.full(n, highspy.HighsVarType.kInteger))
    largest = np.full(len(program.least), highspy.kHighsInf)
    solver.addRows(len(largest), program.least, largest, A.nnz, A.indptr[:-1], A.indices, A.data)
    return solver


def solve(program: MilpProgram, seconds: float) -> tuple[float, float, float]:
    solver, start, found = load_solver(program), time.process_time(), [0.0]

    def stop_in_time(event) -> None:
        event.interrupt(time.process_time() - start > seconds)

    solver.cbMipInterrupt.subscribe(stop_in_time)
    solver.cbMipImprovingSolution.subscribe(lambda event: found.append(time.process_time() - start))
    solver.run()
    info = solver.getInfo()
    return info.objective_function_value, info.mip_dual_bound, found[-1]


def main() -> None:
    for name in sys.argv[2:]:
        X, y = load_dataset(name)
        model = ScoringSystemClassifier(max_terms=5, max_points=5, random_state=0)
        model.fit(X, y)  # once for the kernels
        start = time.process_time()
        model.fit(X, y)
        ours = time.process_time() - start
        problem = model._build_scoring_problem(model._build_problem(X, y, None))
        start = time.process_time()
        cost, bound, last = solve(build_milp(problem), float(sys.argv[1]))
        loss, bound = (to_milp_loss(problem, each) for each in (cost, bound))
        print(
            f"{name}: HiGHS {loss:.0f} errors after {last:.0f} s, at least {bound:.2f} after "
            f"{time.process_time() - start:.0f} s; ours {model.training_errors_}, at least "
            f"{model.lower_bound_:.0f}, after {ours:.1f} s of CPU time",
            flush=True,
        )


if __name__ == "__main__":
    main()
