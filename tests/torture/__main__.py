"""Run campaigns for some minutes or tries, a line each; a fault comes with the command that repeats it."""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "support"), str(TESTS.parent)]
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # a process that forks has no other threads

from processes import hear_signals  # noqa: E402

from torture import CAMPAIGNS, load_campaign  # noqa: E402
from torture.campaign import Campaign  # noqa: E402

REPORT_SECONDS = 60
MAX_SHOWN_FAULTS = 20


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/torture", description=__doc__)
    parser.add_argument("--campaign", action="append", choices=CAMPAIGNS, help="only this one; may be repeated")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all campaigns together (default: 10)")
    parser.add_argument("--tries", type=int, help="of each campaign, instead of minutes")
    parser.add_argument(
        "--seed", type=int, help="of the first try; the next has the next one (default: at random)"
    )
    parser.add_argument("--short", action="store_true", help="a few tries of each, as in the test suite")
    return parser.parse_args()


def run_campaign(campaign: Campaign, first: int, tries: int | None, seconds: float) -> int:
    began = reported = time.monotonic()
    done = n_faulty = 0
    campaign.prepare()
    if tries is None or tries > campaign.batch:
        campaign.warm_up()
    try:
        while done < tries if tries is not None else time.monotonic() - began < seconds:
            size = campaign.batch if tries is None else min(campaign.batch, tries - done)
            found = campaign.attack_many(list(range(first + done, first + done + size)))
            done += size
            for seed, faults in found.items():
                n_faulty += bool(faults)
                if faults and n_faulty <= MAX_SHOWN_FAULTS:
                    print(*(f"FAULT {campaign.name} {seed}: {fault}" for fault in faults), sep="\n")
                    print(f"  again: python tests/torture --campaign {campaign.name} --seed {seed} --tries 1")
            if time.monotonic() - reported > REPORT_SECONDS:
                reported = time.monotonic()
                print(f"{campaign.name}: {done:,} so far, {n_faulty} with faults", flush=True)
    except KeyboardInterrupt:
        print(f"{campaign.name}: interrupted")
    finally:
        campaign.close()
        minutes = (time.monotonic() - began) / 60
        counts = ", ".join(f"{name} {count:,}" for name, count in sorted(campaign.counts.items()))
        print(
            f"{campaign.name}: {done:,} {campaign.unit}, seeds {first} to {first + done - 1}, "
            f"{minutes:.1f} min: {n_faulty} with faults ({counts})",
            flush=True,
        )
    return n_faulty


def main() -> int:
    asked = parse_arguments()
    hear_signals()
    names = asked.campaign or list(CAMPAIGNS)
    first = random.randrange(10**6) if asked.seed is None else asked.seed
    print(f"seed {first}", flush=True)
    n_faulty = 0
    for name in names:
        folder = Path(tempfile.mkdtemp(prefix=f"torture-{name}-"))
        campaign = load_campaign(name, folder)
        tries = campaign.n_short if asked.short else asked.tries
        found = run_campaign(campaign, first, tries, 60 * asked.minutes / len(names))
        n_faulty += found
        if found:
            print(f"  files of tries with faults: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return int(n_faulty > 0)


if __name__ == "__main__":
    sys.exit(main())
