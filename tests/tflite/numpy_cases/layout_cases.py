# SPDX-License-Identifier: MIT
"""Shapes, elements that move, results that depend on values."""

import numpy as np

from .case_maker import MOVED, SHAPES, Given, const

BITCASTS = (("f4", "i4"), ("i4", "i2"), ("i8", "f4"), ("u1", "i1"))


def shapes(m):
    for shape in SHAPES:
        for dtype in MOVED:
            x = m.data(shape, dtype)
            if shape:
                m.add("SHAPE", [x], [np.array(shape, "i4")], [("e", 2)])
                m.add("SHAPE", [x], [np.array(shape, "i8")], [("e", 4)])
                m.add("RANK", [x], [np.array(len(shape), "i4")])
    for a, b in (((1, 3), (2, 1)), ((4,), (2, 3, 4)), ((2, 1, 3), (5, 3))):
        for dtype in ("i4", "i8"):
            m.add("BROADCAST_ARGS", [np.array(a, dtype), np.array(b, dtype)],
                  [np.array(np.broadcast_shapes(a, b), dtype)])
    for start, limit, delta in ((0, 5, 1), (3, -4, -2), (1, 2, 1), (-7, 7, 3)):
        for dtype in ("i4", "i8", "f4"):
            given = [np.array(v, dtype) for v in (start, limit, delta)]
            out = np.arange(start, limit, delta).astype(dtype)
            m.add("RANGE", given, [out], unknown=True)
            m.add("RANGE", [given[0], Given(given[1], True), Given(given[2], True)], [out],
                  unknown=True)


def fills(m):
    for shape in SHAPES[1:]:
        for dtype in MOVED:
            v = m.data((), dtype)
            m.add("FILL", [const(shape), v], [np.full(shape, v)])
    # Not of rank 0: such indices are [1] here, and the result has one dimension more.
    for shape in ((1,), (3,), (2, 2)):
        for axis in (-1, 0):
            for dtype in ("f4", "i4", "i8", "i1", "u1", "?"):
                index = m.rng.integers(-1, 5, shape).astype("i4")
                on, off = (np.array(v, dtype) for v in (1, 0))
                hot = index[..., None] == np.arange(4)
                if axis == 0:
                    hot = np.moveaxis(hot, -1, 0)
                m.add("ONE_HOT", [index, const(4), on, off], [np.where(hot, on, off)],
                      [("i", axis)])
    for dtype in ("f4", "i4", "i8", "i1", "u1"):
        values = m.data((3,), dtype)
        out = np.full((4, 5), 7, dtype)
        places = np.array([[0, 1], [2, 4], [3, 0]], "i4")
        out[tuple(places.T)] = values
        m.add("SPARSE_TO_DENSE", [places, const((4, 5)), values, Given(np.array(7, dtype), True)],
              [out], [("b", 0)])
        line = np.zeros(6, dtype)
        line[[1, 5]] = values[0]
        m.add("SPARSE_TO_DENSE", [np.array([1, 5], "i4"), const((6,)), values[0],
                                  Given(np.array(0, dtype), True)], [line], [("b", 0)])


def buckets(m):
    for shape in SHAPES:
        for dtype in ("f4", "f8", "i4", "i8"):
            for bounds in ([0.0], [-2.5, 0.0, 0.0, 1.0, 100.0]):
                x = m.data(shape, dtype)
                m.add("BUCKETIZE", [x], [np.searchsorted(np.array(bounds), x, "right").astype("i4")],
                      [("vf", bounds)])


def dilations(m):
    for shape in SHAPES[1:]:
        for dtype in ("f4", "i4", "i8", "i1", "u1"):
            x, pad = m.data(shape, dtype), m.data((), dtype)
            factors = m.rng.integers(1, 4, len(shape)).astype("i4")
            out = np.full([(n - 1) * f + 1 for n, f in zip(shape, factors)], pad, dtype)
            out[tuple(slice(None, None, int(f)) for f in factors)] = x
            m.add("DILATE", [x, const(factors), Given(pad, True)], [out])


def orders(m):
    for shape in SHAPES[1:]:
        for dtype in MOVED:
            x, rank = m.data(shape, dtype), len(shape)
            axes = m.rng.permutation(rank)[:max(1, rank // 2)]
            m.add("REVERSE_V2", [x, const(axes)], [np.flip(x, tuple(axes))])
            wide = tuple(int(3 if s == 1 else s) for s in shape)
            m.add("BROADCAST_TO", [x, const((2,) + wide)], [np.broadcast_to(x, (2,) + wide)])
            axis = int(m.rng.integers(0, rank))
            parts = [np.squeeze(p, axis) for p in np.split(x, shape[axis], axis)]
            m.add("UNPACK", [x], parts, [("i", shape[axis]), ("i", axis)])
            other = m.data(shape, dtype)
            m.add("PACK", [x, other], [np.stack([x, other], axis)], [("i", 2), ("i", axis)])
            if shape[axis] > 1:
                sizes = [1, shape[axis] - 1]
                m.add("SPLIT_V", [x, const(sizes), const(axis)], np.split(x, [1], axis), [("i", 2)])
            start = np.array([int(m.rng.integers(-2, s + 2)) for s in shape], "i4")
            update = m.data(tuple((s + 1) // 2 for s in shape), dtype)
            out, place = x.copy(), [int(np.clip(b, 0, s - u)) for b, s, u in
                                    zip(start, shape, update.shape)]
            out[tuple(slice(p, p + u) for p, u in zip(place, update.shape))] = update
            m.add("DYNAMIC_UPDATE_SLICE", [x, update, start], [out])
    for shape, seq, batch in (((3, 4), 1, 0), ((4, 2, 3), 0, 1), ((2, 3, 5), 2, 0)):
        for dtype in MOVED:
            x = m.data(shape, dtype)
            lengths = m.rng.integers(0, shape[seq] + 1, shape[batch]).astype("i4")
            out = x.copy()
            for b, n in enumerate(lengths):
                at = [slice(None)] * len(shape)
                at[batch], at[seq] = slice(b, b + 1), slice(0, n)
                out[tuple(at)] = np.flip(x[tuple(at)], seq)
            m.add("REVERSE_SEQUENCE", [x, lengths], [out], [("i", seq), ("i", batch)])
    for source, target in BITCASTS:
        x = np.abs(m.data((3, 4), source))
        y = x.view(target)
        if y.itemsize < x.itemsize:
            y = y.reshape(3, 4, -1)
        m.add("BITCAST", [x], [y], limits=(0, 0))


def slices(m):
    for shape in SHAPES[1:]:
        for dtype in MOVED:
            x = m.data(shape, dtype)
            begin = [int(m.rng.integers(0, s)) for s in shape]
            size = [int(m.rng.integers(1, s - b + 1)) for s, b in zip(shape, begin)]
            out = x[tuple(slice(b, b + n) for b, n in zip(begin, size))]
            m.add("SLICE", [x, const(begin), const(size)], [out])
            rest = x[tuple(slice(b, None) for b in begin)]
            m.add("SLICE", [x, const(begin), const([-1] * len(shape))], [rest])


def edges(m):
    for shape in SHAPES[1:6]:
        for dtype in ("f4", "i4", "i8", "i1", "u1"):
            x = m.data(shape, dtype)
            pads = m.rng.integers(0, 3, (len(shape), 2))
            value = m.data((), dtype)
            m.add("PADV2", [x, const(pads), value], [np.pad(x, pads, constant_values=value)])
            for mode, name in ((0, "reflect"), (1, "symmetric")):
                most = np.array(shape)[:, None] - (1 - mode)
                near = np.minimum(pads, most)
                m.add("MIRROR_PAD", [x, const(near)], [np.pad(x, near, name)], [("e", mode)])


def choices(m):
    for shape in SHAPES:
        for dtype in MOVED:
            c, a, b = m.data(shape, "?"), m.data(shape, dtype), m.data(shape, dtype)
            m.add("SELECT", [c, a, b], [np.where(c, a, b)])
            m.add("SELECT_V2", [c, a, b], [np.where(c, a, b)])
            if len(shape) > 1:
                one = m.data(shape[-1:], dtype)
                m.add("SELECT_V2", [c, one, b], [np.where(c, one, b)])
        if shape:
            for dtype in ("?", "f4", "i4", "i8"):
                x = m.data(shape, dtype) * m.data(shape, "?")
                m.add("WHERE", [x], [np.argwhere(x).astype("i8")], unknown=True)
    for dtype in ("f4", "i4", "i8", "i1", "u1", "i2"):
        x = m.data((9,), dtype)[m.rng.integers(0, 4, 12)]
        _, first = np.unique(x, return_index=True)
        values = x[np.sort(first)]
        places = np.array([int(np.nonzero(values == v)[0][0]) for v in x], "i4")
        m.add("UNIQUE", [x], [values, places], [("e", 2)], unknown=True)


def places(m):
    for shape, depth in (((5,), 1), ((3, 4), 1), ((3, 4), 2), ((2, 3, 4), 2), ((2, 3, 4), 3)):
        for dtype in ("f4", "i4", "i8", "i1", "u1", "?"):
            x = m.data(shape, dtype)
            index = np.stack([m.rng.integers(0, s, 3) for s in shape[:depth]], -1).astype("i4")
            m.add("GATHER_ND", [x, index], [x[tuple(index.T)]])
            if dtype == "?":
                continue
            updates = m.data((3,) + shape[depth:], dtype)
            if dtype in ("i1", "u1"):
                updates = updates % 16
            out = np.zeros(shape, dtype)
            np.add.at(out, tuple(index.T), updates)
            m.add("SCATTER_ND", [index, updates, const(shape)], [out])
    for shape in ((1,), (3,), (2, 3), (2, 1, 4)):
        for dtype in ("f4", "i4", "i8", "i1", "u1", "i2"):
            d = m.data(shape, dtype)
            n = shape[-1]
            out = np.zeros(shape + (n,), dtype)
            out[..., range(n), range(n)] = d
            m.add("MATRIX_DIAG", [d], [out])
            x = m.data(shape + (n + 1,), dtype)
            out = x.copy()
            out[..., range(n), range(n)] = d
            m.add("MATRIX_SET_DIAG", [x, d], [out])


def overlap(a, b):
    (top, left), (bottom, right) = (f(a[:2], a[2:]) for f in (np.minimum, np.maximum))
    (t, l), (u, r) = (f(b[:2], b[2:]) for f in (np.minimum, np.maximum))
    both = max(0, min(bottom, u) - max(top, t)) * max(0, min(right, r) - max(left, l))
    areas = (bottom - top) * (right - left), (u - t) * (r - l)
    return both / (sum(areas) - both) if min(areas) > 0 else 0


def boxes(m):
    for count, size in ((1, 1), (6, 4), (12, 5), (4, 8)):
        for _ in range(4):
            corner = m.rng.random((count, 2))
            other = corner + m.rng.random((count, 2))
            b = np.concatenate([corner, other], 1).astype("f4")
            scores = m.rng.random(count).astype("f4")
            chosen = []
            for i in np.argsort(-scores, kind="stable"):
                if scores[i] > 0.25 and len(chosen) < size and \
                        all(overlap(b[i].astype("f8"), b[j].astype("f8")) < 0.375 for j in chosen):
                    chosen.append(int(i))
            index, best = np.zeros(size, "i4"), np.zeros(size, "f4")
            index[:len(chosen)], best[:len(chosen)] = chosen, scores[chosen]
            number = np.array(len(chosen), "i4")
            limits = [const(size), const(0.375, "f4"), const(0.25, "f4")]
            m.add("NON_MAX_SUPPRESSION_V4", [b, scores] + limits, [index, number])
            m.add("NON_MAX_SUPPRESSION_V5", [b, scores] + limits + [const(0, "f4")],
                  [index, best, number])


def lookups(m):
    for combiner in (0, 1, 2):
        for inner in ((3,), (2, 2)):
            table, weights = m.data((5,) + inner), m.rng.random(4).astype("f4") + 1
            rows = np.array([1, 3, 0, 4], "i4")
            at = np.array([[0, 0], [0, 1], [2, 0], [2, 5]], "i4")
            out = np.zeros((3,) + inner)
            for i in range(3):
                mine = at[:, 0] == i
                w = weights[mine].astype("f8")
                by = (1, w.sum(), np.sqrt((w * w).sum()))[combiner] if mine.any() else 1
                out[i] = np.tensordot(w, table[rows[mine]], 1) / by
            m.add("EMBEDDING_LOOKUP_SPARSE", [rows, at, const((3, 6)), weights, table],
                  [out.astype("f4")], [("e", combiner)])


MAKERS = (shapes, fills, orders, slices, edges, choices, places, boxes, lookups, buckets, dilations)
