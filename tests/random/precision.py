# SPDX-License-Identifier: MIT
"""How far results of a device may be from those of the reference.

The limits are those of the Android test suite for random graphs: by class of operation
for graphs of one operation, by size for others. They leave room for devices that compute
in half precision; this one does not, so by default a result must also keep narrower
limits, and what only moves data or counts has to be exact.
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
NARROW = {
    "copy": (1e-6, 1e-3, 1, 1e-7), "simple": (1e-6, 1e-3, 1, 1e-6),
    "complex": (5e-6, 1e-3, 1, 3e-6), "convolution": (5e-6, 1e-3, 1, 3e-6),
    "graph of 5": (1e-2, 0.3, 12, None), "graph of 40": (1e-1, 0.5, 12, None),
}
# Cells of 16 bits: results of fixed-point functions are some steps off.
CELL_STEPS = 10


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
    """Outcome of a comparison: worst is in units of the limit."""

    def __init__(self, text=None, worst=0.0, error=0.0):
        self.text = text
        self.worst = worst
        self.error = error


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
    return 1


def compare(expected, actual, type, exact, kind, half, classes):
    """A Difference; its text is None if the result is good.

    @exact: every byte counts; @kind: a class; @half: limits of float16 count for float32,
    which the suite has in models with operands of that type; @classes: SUITE or NARROW.
    """
    if expected.shape != actual.shape:
        return Difference("shape %s, expected %s" % (actual.shape, expected.shape))
    if expected.size == 0:
        return Difference()
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    bias = classes[kind][3]
    error = abs(e - a)
    limit = np.full_like(e, limit_of(type, exact, kind, half, classes))
    if type in FLOATS:
        limit = limit * (1 + abs(e))
    elif type == "TENSOR_BOOL8" and limit.any():
        wrong = ((e != 0) != (a != 0)).mean()
        return Difference("%d %% of the truth values differ" % (100 * wrong)
                          if wrong > 0.1 else None, wrong)
    good = error <= limit			# false for NaN
    if not good.all():
        at = np.unravel_index(np.argmin(good), good.shape)
        return Difference("%d of %d elements, first %s: %s, expected %s" % (
            (~good).sum(), good.size, list(map(int, at)), actual[at], expected[at]))
    half = half and (classes is SUITE or "graph" in kind)
    if bias and type == "TENSOR_FLOAT32" and not half and not exact and e.size >= 10:
        mean = abs(((a - e) / np.maximum(1, abs(e))).mean())
        if mean > bias:
            return Difference("mean error %g, limit %g" % (mean, bias))
    worst = float((error / np.where(limit == 0, 1, limit)).max())
    return Difference(None, worst, float((error / (1 + abs(e))).max())
                      if type in FLOATS else float(error.max()))
