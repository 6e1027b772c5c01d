#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What precision.py lets pass, at its limits. Prints TAP."""

import sys

import numpy as np

import precision
from precision import NARROW, SUITE

COUNT = 12
checks = []


def check(good, text):
    checks.append(good)
    print("%sok %d - %s" % ("" if good else "not ", len(checks), text))


def passes(expected, actual, type="TENSOR_FLOAT32", exact=False, kind="simple", half=False,
           classes=NARROW):
    d = precision.compare(np.asarray(expected), np.asarray(actual), type, exact, kind, half,
                          classes)
    # What does not pass is worse than anything that does.
    if d.text and not d.worst > 1:
        raise AssertionError("a difference of %g of the limit: %s" % (d.worst, d.text))
    return not d.text


def check_floats():
    numbers = np.linspace(1, 2, COUNT, dtype=np.float32)
    for place, at in ("first", 0), ("middle", COUNT // 2), ("last", COUNT - 1):
        for name, value in (("NaN", np.nan), ("an infinity", np.inf),
                            ("a negative infinity", -np.inf)):
            other = numbers.copy()
            other[at] = value
            good = True
            for classes in NARROW, SUITE:
                for kind in classes:
                    good &= not passes(numbers, other, kind=kind, classes=classes)
                    good &= not passes(other, numbers, kind=kind, classes=classes)
            check(good, "%s as the %s element is a difference, given or expected" %
                  (name, place))
    check(not passes([np.nan], [np.nan]), "NaN differs from NaN")
    check(passes([np.inf], [np.inf]) and not passes([np.inf], [-np.inf]),
          "an infinity agrees with itself")
    check(passes(numbers, numbers), "equal numbers agree")
    large = numbers.copy()
    large[0] += 1
    large[1] += 1e-7
    check(not passes(numbers, large), "a small difference does not hide the larger one before it")
    check(passes([1.0], [1 + 1.9e-6]) and not passes([1.0], [1 + 2.1e-6]),
          "float32, simple: 1e-6 times 1 + |expected|")
    check(passes([1.0], [1 + 1.9e-5], classes=SUITE) and
          not passes([1.0], [1 + 2.1e-5], classes=SUITE), "J12 float32, simple: the suite's 1e-5")
    check(not passes(numbers, numbers + np.float32(1.5e-6), exact=False),
          "a mean error beyond the limit, although each element is within its own")


def check_others():
    ints = np.arange(COUNT, dtype=np.int32)
    off = ints.copy()
    off[3] += 1
    check(passes(ints, off, "TENSOR_INT32") and not passes(ints, off, "TENSOR_INT32", exact=True),
          "integers within 1, exact ones equal")
    quantized = np.full(COUNT, 100, np.uint8)
    for steps, good in (1, True), (2, False):
        check(passes(quantized, quantized + np.uint8(steps), "TENSOR_QUANT8_ASYMM") == good,
              "quantized, %d off" % steps)
    for steps, good in (10, True), (11, False):
        check(passes(quantized.astype(np.int16), quantized.astype(np.int16) + np.int16(steps),
                     "TENSOR_QUANT16_SYMM", kind="complex") == good,
              "a cell of 16 bits, %d off" % steps)
    truth = np.ones(1000, np.uint8)
    one = truth.copy()
    one[999] = 0
    good = all(not passes(truth, one, "TENSOR_BOOL8", kind=kind, classes=classes)
               for classes in (NARROW, SUITE) for kind in classes)
    check(good, "one boolean of 1000 differs: so do the results")
    check(passes(truth, truth * 7, "TENSOR_BOOL8"), "any byte but 0 is true")
    check(not passes(truth, truth[:999], "TENSOR_BOOL8"), "another shape")


def main():
    check_floats()
    check_others()
    print("1..%d" % len(checks))
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
