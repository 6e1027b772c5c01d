# SPDX-License-Identifier: MIT
"""Parameters that are fed, and constants without elements."""

import numpy as np

from .case_maker import FLOATS, MOVED, PARAMETERS, Given, const

_REDUCTIONS = ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")


def _positions(size, to, align, half):
    at = np.arange(to)
    if align and to > 1:
        return at * ((size - 1) / (to - 1))
    return np.maximum((at + 0.5) * (size / to) - 0.5, 0) if half else at * (size / to)


def _between(x, axis, to, align, half):
    at = np.minimum(_positions(x.shape[axis], to, align, half), x.shape[axis] - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    part = (at - low).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    return np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part


def resizes(m):
    for shape, size in (((1, 3, 4, 1), (6, 8)), ((2, 5, 3, 2), (2, 7)), ((1, 1, 1, 3), (3, 2))):
        for dtype in ("f4", "u1"):
            for align, half in ((0, 0), (1, 0), (0, 1)):
                x = m.data(shape, dtype)
                y = _between(_between(x.astype("f8"), 1, size[0], align, half), 2, size[1], align, half)
                scale = 0.5 if dtype == "u1" else 0.0
                y = y.astype("f4") if dtype == "f4" else np.floor(y + 0.5).astype("u1")
                m.add("RESIZE_BILINEAR", [Given(x, False, scale, 0), const(size)], [y],
                      [(None, 0), (None, 0), ("b", align), ("b", half)], FLOATS if dtype == "f4" else (1, 0),
                      scale)


def empty(m):
    for dtype in MOVED:
        x = m.data((3, 4), dtype)
        none = const(np.zeros((0, 4)), dtype)
        m.add("CONCATENATION", [none, x], [x], [("i", 0), ("e", 0)])
        m.add("CONCATENATION", [x, none, x], [np.concatenate([x, x])], [("i", -2), ("e", 0)])
        m.add("GATHER", [x, const(np.zeros(0))], [x[:0]], [("i", 0), ("i", 0)])
        m.add("REVERSE_V2", [x, const(np.zeros(0))], [x])
        m.add("PAD", [const(np.zeros((2, 0)), dtype), np.array([(0, 0), (1, 2)], "i4")],
              [np.zeros((2, 3), dtype)])
        if dtype in ("f4", "i4", "i8"):
            for name in _REDUCTIONS:
                m.add(name, [x, const(np.zeros(0))], [x], [("b", 1)])
                m.add(name, [x, const(np.zeros(0))], [x], [("b", 0)])
    q = m.quantized((2, 3), "i1", 0.5, 3)
    m.add("MEAN", [q, const(np.zeros(0))], [q.value], [("b", 0)], (0, 0), 0.5, 3)
    m.add("CONCATENATION", [q, Given(np.zeros((2, 0), "i1"), True, 0.5, 3)], [q.value],
          [("i", 1), ("e", 0)], (0, 0), 0.5, 3)


def complete(m):
    """Does each operator with parameters have them fed?"""
    missing = set(PARAMETERS) - {name for name, _ in m.twins}
    if missing:
        raise SystemExit("no case with parameters that are fed: " + ", ".join(sorted(missing)))


MAKERS = (resizes, empty, complete)
