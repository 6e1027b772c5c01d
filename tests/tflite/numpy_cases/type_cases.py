# SPDX-License-Identifier: MIT
"""Types and ranks that the HAL's operation of an operator lacks."""

import numpy as np

from .case_maker import MOVED, SHAPES, const, quantize

_NONE = ("e", 0)
_WIDE = (2, 1, 3, 1, 2, 2)


def pairs(m):
    for a, b in (((5,), (1,)), ((2, 1, 3), (4, 1)), (_WIDE, (3, 1, 2, 2))):
        x, y = m.data(a, "i8"), m.data(b, "i8")
        m.add("ADD", [x, y], [x + y], [_NONE])
        m.add("SUB", [x, y], [x - y], [_NONE])
        m.add("MUL", [x, y], [x * y], [_NONE])
        m.add("MAXIMUM", [x, y], [np.maximum(x, y)])
        m.add("MINIMUM", [x, y], [np.minimum(x, y)])
        for name, f in (("EQUAL", np.equal), ("NOT_EQUAL", np.not_equal), ("GREATER", np.greater),
                        ("GREATER_EQUAL", np.greater_equal), ("LESS_EQUAL", np.less_equal)):
            m.add(name, [x, y], [f(x, y)])
        x, y = m.quantized(a, "i2", 0.0002, 0), m.quantized(b, "i2", 0.0003, 0)
        for name, value in (("ADD", x.real() + y.real()), ("SUB", x.real() - y.real()),
                            ("MUL", x.real() * y.real())):
            m.add(name, [x, y], [quantize(value, "i2", 0.0009, 0)], [_NONE], (1, 0), 0.0009)


def reductions(m):
    for shape, axes in (((7,), (0,)), ((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)), (_WIDE, (2, 5))):
        for keep in (0, 1):
            for dtype in ("i4", "i8"):
                x = m.data(shape, dtype) % 5
                for name, f in (("SUM", np.sum), ("REDUCE_MAX", np.max), ("REDUCE_MIN", np.min),
                                ("REDUCE_PROD", np.prod)):
                    out = f(x, axis=axes, keepdims=bool(keep)).astype(dtype)
                    m.add(name, [x, const(axes)], [out], [("b", keep)])


def movements(m):
    for shape in SHAPES[1:]:
        for dtype in MOVED:
            x, rank = m.data(shape, dtype), len(shape)
            perm = m.rng.permutation(rank)
            m.add("TRANSPOSE", [x, const(perm)], [np.transpose(x, perm).copy()])
            times = m.rng.integers(1, 3, rank)
            m.add("TILE", [x, const(times)], [np.tile(x, times)])
            axis = int(m.rng.integers(0, rank))
            m.add("CONCATENATION", [x, x], [np.concatenate([x, x], axis)], [("i", axis), _NONE])
            index = m.rng.integers(0, shape[axis], 3)
            m.add("GATHER", [x, index.astype("i8")], [np.take(x, index, axis)],
                  [("i", axis), ("i", 0)])
            m.add("RESHAPE", [x, const([-1])], [x.reshape(-1)], [("v", [-1])])
    for dtype in MOVED:
        x = m.data((4, 3, 5), dtype)
        for begin, end, step, masks, out in (
                ((0, 1), (0, 3), (1, 1), (0, 0, 1, 0, 0), x[..., 1:3]),
                ((0, 1), (0, 3), (1, 1), (0, 0, 0, 1, 0), x[None, 1:3]),
                ((3, 0), (-5, 3), (-1, 2), (0, 0, 0, 0, 0), x[3::-1, 0:3:2]),
                ((1, 2), (2, 0), (1, -1), (0, 2, 0, 0, 1), x[1, 2::-1])):
            m.add("STRIDED_SLICE", [x, const(begin), const(end), const(step)], [out.copy()],
                  [("i", mask) for mask in masks] + [("b", 0)])


def shrunk(m):
    """Dimensions that go: the end does not count, and a negative begin counts from the end."""
    for shape in SHAPES[1:]:
        for dtype in MOVED + ("f2",):
            for mask in sorted({1, 1 << (len(shape) - 1), (1 << len(shape)) - 1}):
                x, rank = m.data(shape, dtype), len(shape)
                begin = [int(m.rng.integers(-s, s)) for s in shape]
                end = [b + int(m.rng.choice((0, 1, -1, 9))) for b in begin]
                at = tuple(b if mask >> d & 1 else slice(None) for d, b in enumerate(begin))
                whole = (1 << rank) - 1 & ~mask
                m.add("STRIDED_SLICE", [x, const(begin), const(end), const([1] * rank)],
                      [np.asarray(x[at])],
                      [("i", n) for n in (whole, whole, 0, 0, mask)] + [("b", 0)])


MAKERS = (pairs, reductions, movements, shrunk)
