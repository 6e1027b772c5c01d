# SPDX-License-Identifier: MIT
"""Operators of StableHLO, those without parameters and those with."""

import numpy as np

from archive import Case, Output
from tflite_file import Operator, Subgraph, Tensor, model

from .case_maker import MOVED, SHAPES, Given

_DIRECTIONS = (np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less)
_BODIES = (("STABLEHLO_ADD", np.add), ("STABLEHLO_MULTIPLY", np.multiply),
           ("STABLEHLO_MAXIMUM", np.maximum), ("STABLEHLO_MINIMUM", np.minimum),
           ("ADD", np.add), ("MAXIMUM", np.maximum))


def plain(m):
    one = {"ABS": np.abs, "COSINE": np.cos, "EXPONENTIAL": np.exp, "FLOOR": np.floor,
           "NEGATE": np.negative, "TANH": np.tanh, "LOGISTIC": lambda x: 1 / (1 + np.exp(-x))}
    two = {"ADD": np.add, "SUBTRACT": np.subtract, "MULTIPLY": np.multiply,
           "MAXIMUM": np.maximum, "MINIMUM": np.minimum}
    # FLOOR of the HAL ends at rank 4, and org.nnpu.tflite has none.
    for shape in SHAPES[:7]:
        x, y = m.data(shape), m.data(shape)
        for name, f in one.items():
            m.add("STABLEHLO_" + name, [x], [f(x).astype("f4")])
        positive = np.abs(x) + np.float32(0.25)
        m.add("STABLEHLO_LOG", [positive], [np.log(positive)])
        m.add("STABLEHLO_RSQRT", [positive], [(1 / np.sqrt(positive)).astype("f4")])
        y = (y / 2).astype("f4")
        m.add("STABLEHLO_POWER", [positive, y], [np.power(positive, y)], (), (1e-5, 2e-6))
        m.add("STABLEHLO_DIVIDE", [x, positive], [x / positive])
        c = m.data(shape, "?")
        for dtype in MOVED:
            a, b = m.data(shape, dtype), m.data(shape, dtype)
            m.add("STABLEHLO_SELECT", [c, a, b], [np.where(c, a, b)])
            m.add("STABLEHLO_RESHAPE", [a], [a.reshape(-1, 1)])
            m.add("STABLEHLO_CONVERT", [a], [a.astype("f4")])
        for dtype in ("f4", "i4", "i8"):
            a, b = m.data(shape, dtype), m.data(shape, dtype)
            for name, f in two.items():
                m.add("STABLEHLO_" + name, [a, b], [f(a, b)])
        d = m.data(shape, "?")
        m.add("STABLEHLO_AND", [c, d], [c & d])
        m.add("STABLEHLO_OR", [c, d], [c | d])


def comparisons(m):
    for shape in SHAPES:
        for dtype in ("f4", "i4", "i8"):
            a, b = ((m.data(shape, dtype) % 3).astype(dtype) for _ in range(2))
            for direction, f in enumerate(_DIRECTIONS):
                m.add("STABLEHLO_COMPARE", [a, b], [f(a, b)], [("I", direction), ("I", 1)])


def limits(m):
    for shape in SHAPES:
        for dtype in ("f4", "i4", "i8"):
            x = m.data(shape, dtype)
            low, high = np.array(-2, dtype), np.array(3, dtype)
            out = np.clip(x, low, high)
            m.add("STABLEHLO_CLAMP", [low, x, high], [out])
            m.add("STABLEHLO_CLAMP", [np.full(shape, low), x, high], [out])


def _body(name, dtype):
    tensors = [Tensor(dtype, ()) for _ in range(3)]
    return Subgraph(tensors, [Operator(name, [0, 1], [2])], [0, 1], [2])


def reductions(m):
    for shape, axes in (((7,), (0,)), ((2, 3), (1,)), ((2, 3, 4), (0, 2)), ((2, 1, 3, 2), (1, 3)),
                        ((1, 2, 2, 3, 2), (0, 4))):
        keep = tuple(a for a in range(len(shape)) if a not in axes)
        for name, f in _BODIES:
            for dtype in ("f4", "i4", "i8"):
                x, start = m.data(shape, dtype), m.data((), dtype)
                x = np.clip(x, -9, 9)
                out = f(f.reduce(np.transpose(x, keep + axes).reshape(
                    [shape[k] for k in keep] + [-1]), -1, dtype=dtype), start)
                m.add("STABLEHLO_REDUCE", [x, start], [out], [("vq", axes), ("i", 1)],
                      (1e-4, 1e-6) if dtype == "f4" else None, subgraphs=[_body(name, dtype)])
        x = m.data(shape, "?")
        for name, f, start in (("STABLEHLO_OR", np.any, False), ("STABLEHLO_AND", np.all, True)):
            m.add("STABLEHLO_REDUCE", [x, np.array(start)], [f(x, axis=axes)],
                  [("vq", axes), ("i", 1)], subgraphs=[_body(name, "?")])


def products(m):
    for batch in ((), (3,), (2, 1)):
        for rows, depth, columns in ((2, 3, 4), (1, 5, 1)):
            x, y = m.data(batch + (rows, depth)), m.data(batch + (depth, columns))
            n = len(batch)
            for turn_x in (0, 1):
                for turn_y in (0, 1):
                    a = np.swapaxes(x, -1, -2).copy() if turn_x else x
                    b = np.swapaxes(y, -1, -2).copy() if turn_y else y
                    m.add("STABLEHLO_DOT_GENERAL", [a, b], [np.matmul(x, y)],
                          [("vq", range(n)), ("vq", range(n)), ("vq", [n + 1 - turn_x]),
                           ("vq", [n + turn_y])], (2e-5, 1e-6))


def movements(m):
    for shape in SHAPES[1:]:
        for dtype in MOVED:
            x, rank = m.data(shape, dtype), len(shape)
            perm = [int(p) for p in m.rng.permutation(rank)]
            m.add("STABLEHLO_TRANSPOSE", [x], [np.transpose(x, perm).copy()], [("vq", perm)])
            axis = int(m.rng.integers(0, rank))
            m.add("STABLEHLO_CONCATENATE", [x, x[::-1].copy(), x],
                  [np.concatenate([x, x[::-1], x], axis)], [("q", axis)])
            begin = [int(m.rng.integers(0, s)) for s in shape]
            end = [int(m.rng.integers(b + 1, s + 1)) for b, s in zip(begin, shape)]
            step = [int(m.rng.integers(1, 3)) for _ in shape]
            out = x[tuple(slice(b, e, s) for b, e, s in zip(begin, end, step))]
            m.add("STABLEHLO_SLICE", [x], [out], [("vq", begin), ("vq", end), ("vq", step)])
            wide = [3 if s == 1 else s for s in shape]
            m.add("STABLEHLO_BROADCAST_IN_DIM", [x], [np.broadcast_to(x, [2] + wide)],
                  [("vq", range(1, rank + 1))])
            # Behind, too, where BROADCAST_TO alone would align the last dimensions.
            m.add("STABLEHLO_BROADCAST_IN_DIM", [x],
                  [np.broadcast_to(x[..., None], list(wide) + [2])], [("vq", range(rank))])
            m.add("STABLEHLO_BROADCAST_IN_DIM", [x.reshape(-1)[0].reshape(())],
                  [np.full(shape, x.reshape(-1)[0])], [("vq", [])])


def places(m):
    for shape in SHAPES[1:]:
        for dtype in MOVED:
            x, size = m.data(shape, dtype), [(s + 1) // 2 for s in shape]
            for index in ("i4", "i8"):
                # Some are outside, and moved.
                start = [np.array(m.rng.integers(-2, s + 2), index) for s in shape]
                at = [int(np.clip(b, 0, s - n)) for b, s, n in zip(start, shape, size)]
                part = tuple(slice(p, p + n) for p, n in zip(at, size))
                m.add("STABLEHLO_DYNAMIC_SLICE", [x] + start, [x[part]], [("vq", size)])
                update, out = m.data(size, dtype), x.copy()
                out[part] = update
                m.add("STABLEHLO_DYNAMIC_UPDATE_SLICE", [x, update] + start, [out])


def edges(m):
    for shape in SHAPES[1:]:
        for dtype in ("f4", "i4", "i8", "i1", "u1"):
            for spread in (0, 1):
                for least in (0, -1):
                    x, value = m.data(shape, dtype), m.data((), dtype)
                    between = [int(m.rng.integers(0, 3)) * spread for _ in shape]
                    size = [(s - 1) * (b + 1) + 1 for s, b in zip(shape, between)]
                    low = [int(m.rng.integers(least if s > 2 else 0, 3)) for s in size]
                    high = [int(m.rng.integers(least if s > 2 else 0, 3)) for s in size]
                    out = np.full(size, value, dtype)
                    out[tuple(slice(None, None, b + 1) for b in between)] = x
                    out = np.pad(out, [(max(a, 0), max(b, 0)) for a, b in zip(low, high)],
                                 constant_values=value)
                    out = out[tuple(slice(max(-a, 0), n - max(-b, 0))
                                    for a, b, n in zip(low, high, out.shape))]
                    m.add("STABLEHLO_PAD", [x, Given(value, True)], [out],
                          [("vq", low), ("vq", high), ("vq", between)])


def counters(m):
    for shape in SHAPES[1:]:
        for axis in range(len(shape)):
            for dtype in ("f4", "i4", "i8"):
                out = np.arange(shape[axis]).astype(dtype)
                out = out.reshape([-1 if d == axis else 1 for d in range(len(shape))])
                # The HAL has no models without inputs: the numbers are added to some.
                x = m.data(shape, dtype)
                tensors = [Tensor(dtype, shape) for _ in range(3)]
                lines = [Operator("STABLEHLO_IOTA", [], [1], [("q", axis)]),
                         Operator("STABLEHLO_ADD", [0, 1], [2])]
                m.cases.append(Case("stablehlo_iota %d" % len(m.cases), "STABLEHLO_IOTA", 1,
                                    model([Subgraph(tensors, lines, [0], [2])]), [x],
                                    [Output((x + out).astype(dtype))]))


def _unary(name, dtype, shape):
    """A subgraph: an operator on its input twice."""
    return Subgraph([Tensor(dtype, shape), Tensor(dtype, shape)], [Operator(name, [0, 0], [1])],
                    [0], [1])


def subgraphs(m):
    for shape in SHAPES:
        for dtype in ("f4", "i4", "i8"):
            x = m.data(shape, dtype)
            branches = [_unary("STABLEHLO_ADD", dtype, shape),
                        _unary("STABLEHLO_MULTIPLY", dtype, shape)]
            m.add("CALL", [x], [x + x], [("I", 1)], subgraphs=branches[:1])
            m.add("STABLEHLO_COMPOSITE", [x], [x * x], [(None, None), ("i", 2)],
                  subgraphs=branches)
            # All indices but the first stand for the last branch.
            for index in (0, 1, 2, -1):
                m.add("STABLEHLO_CASE", [np.array(index, "i4"), x], [x * x if index else x + x],
                      [("v", [1, 2])], subgraphs=branches)
            m.add("STABLEHLO_CASE", [np.array(5, "i4"), x], [x + x], [("v", [1])],
                  subgraphs=branches[:1])


def loops(m):
    for shape in SHAPES:
        for rounds in (0, 1, 3):
            # while (i < limit) { i++; x += x; }
            kinds = [("i4", ()), ("i4", ()), ("f4", shape)]
            carried = [Tensor(*k) for k in kinds]
            condition = Subgraph(carried + [Tensor("?", ())],
                                 [Operator("STABLEHLO_COMPARE", [0, 1], [3], [("I", 5), ("I", 3)])],
                                 [0, 1, 2], [3])
            one = Tensor("i4", (), np.array(1, "i4"))
            body = Subgraph(carried + [one, Tensor("i4", ()), Tensor("f4", shape)],
                            [Operator("STABLEHLO_ADD", [0, 3], [4]),
                             Operator("STABLEHLO_ADD", [2, 2], [5])], [0, 1, 2], [4, 1, 5])
            x, limit = m.data(shape), np.array(rounds, "i4")
            m.add("STABLEHLO_WHILE", [np.array(0, "i4"), limit, x],
                  [limit, limit, x * np.float32(2 ** rounds)], [("i", 1), ("i", 2)],
                  subgraphs=[condition, body])


MAKERS = (plain, comparisons, limits, reductions, products, movements, places, edges, counters,
          subgraphs, loops)
