# SPDX-License-Identifier: MIT
"""How far results of a device may be from those of the reference.

SUITE has the limits of the Android test suite for random graphs: by class of operation for
graphs of one operation, by size for others (RandomGraphTest.cpp in the NDK tests of
packages/modules/NeuralNetworks; J12 and J13 of the conformance checklist). They leave room
for devices that compute in half precision. This one does not, so by default a result must
keep the limits of NARROW, and what only moves data or counts has to be exact.

Booleans agree exactly with both; the suite lets one of ten differ. NaN differs from
everything, and an infinity from everything but itself.
"""

import numpy as np

from nntc import FLOATS, QUANTIZED

CONVOLUTION = set("""CONV_2D DEPTHWISE_CONV_2D GROUPED_CONV_2D TRANSPOSE_CONV_2D
    FULLY_CONNECTED""".split())
SIMPLE = set("""ABS ADD CAST CONCATENATION DEQUANTIZE DIV ELU EXP HARD_SWISH LOG MAXIMUM
    MINIMUM MUL NEG PRELU QUANTIZE RELU RELU1 RELU6 RSQRT SELECT SIN SQRT SUB""".split())
COPY = set("""BATCH_TO_SPACE_ND CHANNEL_SHUFFLE DEPTH_TO_SPACE EMBEDDING_LOOKUP EXPAND_DIMS
    FILL FLOOR GATHER HASHTABLE_LOOKUP PAD PAD_V2 RESHAPE SLICE SPACE_TO_BATCH_ND
    SPACE_TO_DEPTH SPLIT SQUEEZE STRIDED_SLICE TILE TOPK_V2 TRANSPOSE""".split())

# Absolute and relative error of float32 and float16, steps of quantized types, mean
# error of float32.
SUITE = {
    # J12: graphs of one operation
    "copy": (1e-6, 1e-3, 1, 1e-7), "simple": (1e-5, 1e-2, 2, 1e-6),
    "complex": (1e-3, 1.0, 10, 3e-5), "convolution": (2e-2, 1.0, 10, 4e-4),
    # J13: graphs of several operations
    "graph of 5": (1e-2, 1.0, 12, None), "graph of 40": (1e-1, 1.0, 12, None),
}
# float32: sums of up to some thousand products, which the device adds in single and the
# reference in double precision, come within 40 units of 2^-23, anything simpler within 8.
# float16: a unit in the last place, 2^-10, since results are rounded to it once. Quantized
# types: a step, since the reference rounds the real value and the device a product with a
# multiplier of 31 bits. In graphs of several operations such differences pass through
# further operations: float32 and quantized types keep the limits of the suite.
NARROW = {
    "copy": (1e-6, 1e-3, 1, 1e-7), "simple": (1e-6, 1e-3, 1, 1e-6),
    "complex": (5e-6, 1e-3, 1, 3e-6), "convolution": (5e-6, 1e-3, 1, 3e-6),
    "graph of 5": (1e-2, 0.3, 12, None), "graph of 40": (1e-1, 0.5, 12, None),
}
# Cells of LSTM in TENSOR_QUANT16_SYMM come from fixed-point functions, the reference's from
# real ones: these have the limit of the suite for "complex" in NARROW, too.
CELL_STEPS = SUITE["complex"][2]


def class_of(op, operations):
    """The class of a result: by operation if there is one, by their number if not."""
    if operations > 5:
        return "graph of 40"
    if operations > 1:
        return "graph of 5"
    if op in CONVOLUTION:
        return "convolution"
    return "copy" if op in COPY else "simple" if op in SIMPLE else "complex"


class Difference:
    """Outcome of a comparison: worst is in units of the limit.

    With a text it is larger than any that is within the limits.
    """

    def __init__(self, text=None, worst=0.0, error=0.0):
        self.text = text
        self.worst = float("inf") if text else worst
        self.error = float("inf") if text else error


def agrees(expected, actual, limit):
    """For each element, doubles, whether it is within a limit that may be an array.

    NaN never is. An infinity has no distance from anything: only itself will do.
    """
    with np.errstate(invalid="ignore"):
        near = abs(expected - actual) <= limit
    return np.where(np.isinf(expected) | np.isinf(actual), expected == actual, near)


def first_difference(good, expected, actual):
    """What to say of elements of which not all are good."""
    at = np.unravel_index(np.argmin(good), good.shape)
    return "%d of %d elements, first %s: %s, expected %s" % (
        (~good).sum(), good.size, list(map(int, at)), actual[at], expected[at])


def limit_of(type, exact, kind, half, classes):
    """The largest error: of float types times 1 + |expected|, of others in steps.

    @exact, @kind, @half, @classes: see compare().
    """
    single, double, steps, _ = classes[kind]
    if exact and classes is NARROW:
        return 0
    if type in FLOATS:
        half = half and (classes is SUITE or "graph" in kind)
        return double if half or "16" in type else single
    if type in QUANTIZED:
        return max(steps, CELL_STEPS) if "16_SYMM" in type else steps
    # J05 of the checklist: integers within 1.
    return 0 if type == "TENSOR_BOOL8" else 1


def compare(expected, actual, type, exact, kind, half, classes):
    """A Difference; its text is None if the result is good.

    @exact: every byte counts; @kind: a class; @half: limits of float16 count for float32,
    which the suite has in models with operands of that type; @classes: SUITE or NARROW.
    """
    if expected.shape != actual.shape:
        return Difference("shape %s, expected %s" % (actual.shape, expected.shape))
    if expected.size == 0:
        return Difference()
    if type == "TENSOR_BOOL8" and not exact:
        # Any byte but 0 is true.
        expected, actual = expected != 0, actual != 0
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    bias = classes[kind][3]
    limit = np.full_like(e, limit_of(type, exact, kind, half, classes))
    if type in FLOATS:
        limit = limit * (1 + abs(e))
    good = agrees(e, a, limit)
    if not good.all():
        return Difference(first_difference(good, expected, actual))
    with np.errstate(invalid="ignore"):
        difference = np.where(e == a, 0, a - e)
    error = abs(difference)
    half = half and (classes is SUITE or "graph" in kind)
    if bias and type == "TENSOR_FLOAT32" and not half and not exact and e.size >= 10:
        mean = abs((difference / np.maximum(1, abs(e))).mean())
        if not mean <= bias:
            return Difference("mean error %g, limit %g" % (mean, bias))
    worst = float((error / np.where(limit == 0, 1, limit)).max())
    return Difference(None, worst, float((error / (1 + abs(e))).max())
                      if type in FLOATS else float(error.max()))
