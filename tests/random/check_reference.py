#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the reference on NNTC files with results of other implementations.

The reference has to agree with them before it judges the device. Prints TAP.
"""

import argparse
import collections
import glob
import os
import sys

import numpy as np

import nntc
import precision
import reference

# Their results are random: the vectors give frequencies.
WITHOUT_VECTORS = {"RANDOM_MULTINOMIAL"}


# Steps that a quantized result may be off, J06 of the conformance checklist; of an LSTM
# whose gates the reference computes with real functions and others in fixed point, what the
# Android test suite allows complex operations (J12).
STEPS = collections.defaultdict(lambda: 1, {"QUANTIZED_LSTM": 10})


def compare(case, operand, value, half):
    """Why a result is not the expected one, or None.

    Precision as the vectors demand, J01 to J07 of the conformance checklist.
    """
    expected = operand.array()
    if value.shape != expected.shape:
        return "shape %s, expected %s" % (value.shape, expected.shape)
    if expected.size == 0:
        return None
    if operand.type in reference.FLOATS:
        e, a = expected.astype(np.float64), value.astype(np.float64)
        limit = 5 * 2.0 ** -10 * (1 + abs(e)) if half else 1e-5 + 5 * 2.0 ** -23 * abs(e)
        good = precision.agrees(e, a, limit)
    elif operand.type == "TENSOR_BOOL8":
        good = (expected != 0) == (value != 0)
    else:
        steps = max(STEPS[p.type] for p in case.all_operations())
        good = abs(expected.astype(np.int64) - value.astype(np.int64)) <= steps
    return None if good.all() else precision.first_difference(good, expected, value)


def judge(case):
    """Why the reference disagrees with a case, or None."""
    half = case.relaxed or any(o.type == "TENSOR_FLOAT16" for o in case.operands)
    try:
        values = reference.evaluate(case)
    except Exception as error:  # pylint: disable=broad-except
        return "%s: %s" % (type(error).__name__, error)
    for i in case.outputs:
        o = case.operands[i]
        wrong = None if o.ignore else compare(case, o, values[i].data, half)
        if wrong:
            return wrong
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="where .nntc files are looked for")
    parser.add_argument("--cases", type=int, metavar="N",
                        help="take the first N cases of each file with the same operations "
                        "only")
    parser.add_argument("--verbose", action="store_true", help="show all differences")
    args = parser.parse_args()
    met, left_out = set(), 0
    good, bad = collections.Counter(), collections.Counter()
    texts = collections.defaultdict(list)
    paths = sorted(glob.glob(os.path.join(args.directory, "**/*.nntc"), recursive=True))
    for path in paths:
        taken = collections.Counter()
        for case in nntc.read(path):
            ops = [p.type for p in case.operations]
            taken[tuple(ops)] += 1
            if args.cases and taken[tuple(ops)] > args.cases:
                continue
            # Leave out cases that must be refused or have random results.
            if case.expect_failure or case.tolerance:
                left_out += 1
                continue
            met.update(p.type for p in case.all_operations())
            # Cases with internal inputs have an ADD in front of the operation.
            name = next((op for op in reversed(ops) if op != "ADD"), ops[0])
            wrong = judge(case)
            (bad if wrong else good)[name] += 1
            if wrong:
                texts[name].append("%s %s: %s" % (os.path.basename(path), case.name, wrong))
    names = sorted(set(good) | set(bad))
    if not names:
        print("1..0 # SKIP no test vectors in %s" % args.directory)
        return 4
    for n, name in enumerate(names, 1):
        print("%s %d - reference of %s: %d cases agree, %d do not" % (
            "not ok" if bad[name] else "ok", n, name, good[name], bad[name]))
        for text in texts[name][:None if args.verbose else 3]:
            print("# " + text)
    missing = sorted({*reference.TABLE, *reference.CONTROL} - met - WITHOUT_VECTORS)
    print("%sok %d - the reference has met %d operations of the vectors%s%s" % (
        "not " if missing else "", len(names) + 1, len(met),
        ", not " if missing else "", " ".join(missing)))
    print("# %d cases are to be refused or have random results" % left_out)
    print("1..%d" % (len(names) + 1))
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main())
