"""Feeds every parser of foreign input with changed files: python -m tests.fuzz

A fault is an error that the parser does not promise, more CPU time than its limit, or the end of the process. Its
input is kept in build/fuzz/; `--only NUMBER` reads it again. The input that is being read is build/fuzz/current, for
when the process ends. What was mended belongs into tests/fuzz/corpus/, so that it is read in every run.
"""

import argparse
import faulthandler
import sys
import time
import traceback
import warnings
from pathlib import Path

from tests.fuzz.targets import TARGETS, make_input

KEPT = Path(__file__).parents[2] / "build" / "fuzz"
HANG_S = 60
"""Real seconds after which an input counts as a hang: the process says where it is, and ends."""


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="inputs for each parser; 2000 unless given")
    parser.add_argument("--seed", default="1", help="another seed makes other inputs")
    parser.add_argument("--target", choices=TARGETS, action="append", help="this parser only")
    parser.add_argument("--only", type=int, help="only the input of this number")
    given = parser.parse_args(arguments)
    faulthandler.enable()
    KEPT.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    faults = 0
    for name in given.target or TARGETS:
        numbers = range(given.runs) if given.only is None else [given.only]
        faults += run(name, given.seed, numbers)
    return 1 if faults else 0


def run(name, seed, numbers):
    """The number of faults of one parser; prints them, and a line of figures."""
    target, faults, refused, slowest = TARGETS[name], 0, 0, (0.0, 0)
    for number in numbers:
        body = make_input(name, seed, number)
        (KEPT / "current").write_bytes(body)
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        began = time.process_time()
        try:
            target.read(body)
        except target.errors:
            refused += 1
        except Exception:  # noqa: BLE001  any other error is what is looked for
            faults += 1
            report(name, number, body, traceback.format_exc())
        spent = time.process_time() - began
        faulthandler.cancel_dump_traceback_later()
        slowest = max(slowest, (spent, number))
        if spent > target.seconds:
            faults += 1
            report(name, number, body, f"took {spent:.1f} s")
    print(
        f"{name:<16} {len(numbers)} inputs, {refused} refused, {faults} faults, "
        f"slowest {slowest[0]:.2f} s (number {slowest[1]})",
        flush=True,
    )
    return faults


def report(name, number, body, what):
    (KEPT / f"{name}-{number}").write_bytes(body)
    print(f"FAULT {name} --only {number}: {what}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
