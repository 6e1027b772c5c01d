# SPDX-License-Identifier: MIT
"""Each operator with tensors of each rank and type that TensorFlow Lite takes, up to rank 6."""

import numpy as np

from .case_maker import FLOATS, MOVED, Given, const, quantize

_SHAPES = {1: (7,), 2: (2, 5), 3: (1, 3, 4), 4: (2, 3, 1, 4), 5: (2, 1, 3, 2, 2),
           6: (1, 2, 1, 3, 2, 2)}
_QUANTIZED = ("i1", "u1", "i2")
_SCALES = {"i1": 0.03, "u1": 0.03, "i2": 0.03 / 256}
_ZEROS = {"i1": 3, "u1": 125, "i2": 0}
_WHOLE = ("f4", "i4", "i8")
_NUMBERS = _WHOLE + _QUANTIZED
_NONE = [("e", 0)]

_FUNCTIONS = {
    # operator: types, function, scale and zero points of a result with fixed ones, options
    "ABS": (("f4", "i4", "i1", "i2"), np.abs),
    "CEIL": (("f4",), np.ceil),
    "COS": (("f4",), np.cos),
    "ELU": (("f4", "i1"), lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x)),
    "FLOOR": (("f4", "f2"), np.floor),
    "GELU": (("f4", "i1", "u1"), lambda x: x / 2 * (1 + np.tanh(
        np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))), {}, [("b", 1)]),
    "HARD_SWISH": (("f4", "i1", "u1"), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "LEAKY_RELU": (("f4", "i1", "u1", "i2"), lambda x: np.where(x < 0, x / 4, x), {}, [("f", 0.25)]),
    "LOGISTIC": (("f4", "f2", "i1", "u1", "i2"), lambda x: 1 / (1 + np.exp(-x)),
                 {"i1": (1 / 256, -128), "u1": (1 / 256, 0), "i2": (2.0 ** -15, 0)}),
    "NEG": (_WHOLE, np.negative),
    "RELU": (("f4",) + _QUANTIZED, lambda x: np.maximum(x, 0)),
    "RELU6": (("f4",) + _QUANTIZED, lambda x: np.clip(x, 0, 6)),
    "RELU_0_TO_1": (("f4", "i1", "u1"), lambda x: np.clip(x, 0, 1)),
    "RELU_N1_TO_1": (("f4", "i1", "u1"), lambda x: np.clip(x, -1, 1)),
    "ROUND": (("f4",), np.round),
    "SIGN": (("f4", "i4"), np.sign),
    "SIN": (("f4",), np.sin),
    "SQUARE": (("f4",), np.square),
    "TANH": (("f4", "f2", "i1", "u1", "i2"), np.tanh,
             {"i1": (1 / 128, 0), "u1": (1 / 128, 128), "i2": (2.0 ** -15, 0)}),
    "ZEROS_LIKE": (("f4", "i4", "i8"), np.zeros_like),
}

_POSITIVE = {
    "EXP": (("f4", "i1", "i2"), np.exp),
    "LOG": (("f4", "i1", "i2"), np.log),
    "RSQRT": (("f4", "i1", "i2"), lambda x: 1 / np.sqrt(x)),
    "SQRT": (("f4", "i1", "i2"), np.sqrt),
}

_PAIRS = {
    # operator: types, function, options
    "ADD": (_NUMBERS, np.add, _NONE),
    "SUB": (_NUMBERS, np.subtract, _NONE),
    "MUL": (_NUMBERS, np.multiply, _NONE),
    "DIV": (("f4", "u1"), np.divide, _NONE),
    "SQUARED_DIFFERENCE": (("f4", "i4", "i1"), lambda x, y: np.square(x - y), ()),
    "PRELU": (("f4", "i1", "u1"), lambda x, y: np.where(x < 0, x * y, x), ()),
}

# Pairs of numbers as they are stored.
_STORED = {
    "ATAN2": (("f4",), np.arctan2),
    "BITWISE_XOR": (("i1", "u1", "i2", "i4", "u2", "u4"), np.bitwise_xor),
    "EQUAL": (_NUMBERS + ("?",), np.equal),
    "FLOOR_DIV": (("f4", "i4", "i2"), np.floor_divide),
    "FLOOR_MOD": (("i4", "i8", "i2"), np.mod),
    "GREATER": (_NUMBERS, np.greater),
    "GREATER_EQUAL": (_NUMBERS, np.greater_equal),
    "LESS": (_NUMBERS, np.less),
    "LESS_EQUAL": (_NUMBERS, np.less_equal),
    "LOGICAL_AND": (("?",), np.logical_and),
    "LOGICAL_OR": (("?",), np.logical_or),
    "MAXIMUM": (_NUMBERS, np.maximum),
    "MINIMUM": (_NUMBERS, np.minimum),
    "NOT_EQUAL": (_NUMBERS + ("?",), np.not_equal),
    "POW": (("f4",), np.power),
    "RIGHT_SHIFT": (("i1", "u1", "i2", "i4"), np.right_shift),
}

_REDUCTIONS = {
    "MEAN": (("f4",) + _QUANTIZED, np.mean),
    "SUM": (_NUMBERS, np.sum),
    "REDUCE_MAX": (_NUMBERS, np.max),
    "REDUCE_MIN": (_NUMBERS, np.min),
    "REDUCE_PROD": (_WHOLE, np.prod),
    "REDUCE_ANY": (("?",), np.any),
    "REDUCE_ALL": (("?",), np.all),
}

_ROWS = {
    "ARG_MAX": (("f4", "i4", "i1", "u1"), 1),
    "ARG_MIN": (("f4", "i4", "i1", "u1"), 1),
    "CUMSUM": (_WHOLE, 1),
    "LOG_SOFTMAX": (("f4", "i1", "u1"), 1),
    "L2_NORMALIZATION": (("f4",), 1),
    "SOFTMAX": (("f4", "f2") + _QUANTIZED, 1),
    "TOPK_V2": (_NUMBERS, 1),
}

# Those that other modules have; the others above have all of their types and ranks here.
_ELSEWHERE = {
    "BATCH_TO_SPACE_ND": _NUMBERS, "SPACE_TO_BATCH_ND": _NUMBERS, "CAST": MOVED,
    "LOGICAL_NOT": ("?",),
    "ADD_N": ("f4", "i4"), "BROADCAST_TO": MOVED, "CONCATENATION": MOVED,
    "DEQUANTIZE": _QUANTIZED, "DYNAMIC_UPDATE_SLICE": MOVED, "EXPAND_DIMS": MOVED,
    "FAKE_QUANT": ("f4",), "GATHER": MOVED, "PACK": MOVED, "PAD": ("f4", "i4", "i8", "i1", "u1"),
    "QUANTIZE": ("f4",) + _QUANTIZED, "RANK": MOVED, "RESHAPE": MOVED, "REVERSE_V2": MOVED,
    "SELECT": ("?",), "SELECT_V2": ("?",), "SHAPE": MOVED, "SLICE": MOVED, "STRIDED_SLICE": MOVED,
    "TILE": MOVED, "TRANSPOSE": MOVED, "UNPACK": MOVED, "WHERE": ("f4", "i4", "i8", "?"),
    "BUCKETIZE": ("f4", "i4", "i8"), "DILATE": ("f4", "i4"), "COMPLEX_ABS": ("c8",),
    "IMAG": ("c8",), "REAL": ("c8",),
}

# Only these ranks.
_LIMITS = {"BATCH_TO_SPACE_ND": (3, 4), "SPACE_TO_BATCH_ND": (3, 4),
           "L2_NORMALIZATION": (1, 4)}


def _stored(m, shape, dtype):
    return m.rng.integers(0, 2, shape).astype(dtype) if dtype == "?" else m.data(shape, dtype)


def _input(m, shape, dtype, least=None):
    """Numbers, or quantized ones."""
    if dtype not in _QUANTIZED:
        value = m.data(shape, dtype)
        return Given(value if least is None else (np.abs(value) + 1).astype(dtype))
    given = m.quantized(shape, dtype, _SCALES[dtype], _ZEROS[dtype])
    if least is not None:
        given.value = np.maximum(given.value, given.zero_point + least).astype(dtype)
    return given


def _real(given):
    return given.real() if given.scale else given.value.astype(
        "f8" if given.value.dtype.kind == "f" else given.value.dtype)


def _add(m, name, inputs, value, dtype, options=(), fixed=None, loose=None):
    if dtype not in _QUANTIZED:
        limits = {"f4": FLOATS, "f2": (2e-3, 2e-3)}.get(dtype)
        m.add(name, inputs, [np.asarray(value).astype(dtype)], options, limits)
        return
    scale, zero = fixed or (_SCALES[dtype] * 2, _ZEROS[dtype])
    m.add(name, inputs, [quantize(value, dtype, scale, zero)], options, loose or (1, 0), scale, zero)


def functions(m):
    for shape in _SHAPES.values():
        for name, (types, f, *more) in _FUNCTIONS.items():
            for dtype in types:
                fixed, options = (more + [{}, ()][len(more):])[:2]
                x = _input(m, shape, dtype)
                _add(m, name, [x], f(_real(x)), dtype, options, fixed.get(dtype),
                     (24, 0) if dtype == "i2" and fixed else None)
        for name, (types, f) in _POSITIVE.items():
            for dtype in types:
                x = _input(m, shape, dtype, {"i1": 9, "i2": 4000}.get(dtype, 1))
                # Tables of int16 are straight between 513 samples.
                _add(m, name, [x], f(_real(x)), dtype, (), None, (60, 0.01) if dtype == "i2" else None)
        x = _stored(m, shape, "?")
        m.add("LOGICAL_NOT", [x], [np.logical_not(x)])
        for dtype in MOVED:
            x = _stored(m, shape, dtype)
            m.add("CAST", [x], [x.astype("f4")], [("e", m.type_of(dtype)), ("e", 0)])


def pairs(m):
    for shape in _SHAPES.values():
        for name, (types, f, options) in _PAIRS.items():
            for dtype in types:
                x, y = _input(m, shape, dtype), _input(m, shape, dtype, 9 if name == "DIV" else None)
                _add(m, name, [x, y], f(_real(x), _real(y)), dtype, options)
        for name, (types, f) in _STORED.items():
            for dtype in types:
                x, y = _stored(m, shape, dtype), _stored(m, shape, dtype)
                if name in ("FLOOR_DIV", "FLOOR_MOD"):
                    y = (np.abs(y) % 9 + 1).astype(dtype)
                if name == "POW":
                    x, y = np.abs(x) + 1, y / 4
                if name == "RIGHT_SHIFT":
                    y = (np.abs(y.astype("i4")) % 8).astype(dtype)
                m.add(name, [x, y], [f(x, y)], ())


def reductions(m):
    for shape in _SHAPES.values():
        axes = sorted({0, len(shape) - 1})
        for name, (types, f) in _REDUCTIONS.items():
            for dtype in types:
                options = [("b", len(shape) % 2)]
                how = {"axis": tuple(axes), "keepdims": bool(len(shape) % 2)}
                if dtype in _QUANTIZED and name in ("MEAN", "SUM"):
                    x = _input(m, shape, dtype)
                    _add(m, name, [x, const(axes)], f(x.real(), **how), dtype, options)
                else:
                    x = _stored(m, shape, dtype)
                    value = f(x.astype("f8") if dtype == "f4" else x, **how).astype(dtype)
                    m.add(name, [x, const(axes)], [value], options, (2e-4, 1e-5)
                          if dtype == "f4" else None)


def rows(m):
    for rank, shape in _SHAPES.items():
        for dtype in _NUMBERS:
            x = m.data(shape, dtype)
            order = np.argsort(-x.astype("f8" if dtype == "f4" else "i8"), -1, "stable")[..., :2]
            m.add("TOPK_V2", [x, const(2)], [np.take_along_axis(x, order, -1), order.astype("i4")])
        for dtype in _WHOLE:
            x = m.data(shape, dtype)
            m.add("CUMSUM", [x, const(-1)], [np.cumsum(x, -1, dtype)], [("b", 0), ("b", 0)],
                  (2e-5, 1e-6) if dtype == "f4" else None)
        for dtype in ("f4", "i4", "i1", "u1"):
            x = m.data(shape, dtype)
            for name, f in (("ARG_MAX", np.argmax), ("ARG_MIN", np.argmin)):
                m.add(name, [x, const(rank - 1)], [f(x, -1).astype("i4")], [("e", 2)])
        x = m.data(shape)
        if rank <= 4:
            m.add("L2_NORMALIZATION", [x], [x / np.sqrt(np.square(x).sum(-1, keepdims=True))], _NONE)
        for dtype in ("f4", "f2") + _QUANTIZED:
            x = _input(m, shape, dtype)
            e = np.exp(_real(x) - _real(x).max(-1, keepdims=True))
            e /= e.sum(-1, keepdims=True)
            fixed = {"i1": (1 / 256, -128), "u1": (1 / 256, 0), "i2": (2.0 ** -15, 0)}.get(dtype)
            _add(m, "SOFTMAX", [x], e, dtype, [("f", 1.0)], fixed, (24, 0) if dtype == "i2" else None)
            if dtype in ("f4", "i1", "u1"):
                fixed = {"i1": (1 / 16, 127), "u1": (1 / 16, 255)}.get(dtype)
                _add(m, "LOG_SOFTMAX", [x], np.log(e), dtype, (), fixed)


def _to_batch(x, blocks, pads, fill):
    wide = np.pad(x, [(0, 0)] + pads + [(0, 0)] * (x.ndim - 1 - len(pads)), constant_values=fill)
    parts = [wide[(slice(None),) + tuple(slice(o, None, b) for o, b in zip(at, blocks))]
             for at in np.ndindex(*blocks)]
    return np.concatenate(parts, 0)


def blocks(m):
    cases = (((2, 6, 3), (2,), [(0, 0)]), ((1, 5, 2), (3,), [(1, 3)]), ((2, 4, 6, 2), (2, 3), [(0, 0)] * 2),
             ((1, 3, 4, 1), (2, 2), [(1, 0), (2, 0)]), ((2, 4, 3, 2), (1, 5), [(0, 0), (1, 1)]),
             ((1, 2, 1), (4,), [(5, 1)]))
    for shape, block, pads in cases:
        for dtype in ("f4", "i4", "i8", "i1", "u1", "i2"):
            x, scale, zero = m.data(shape, dtype), 0.0, 0
            if dtype in ("i1", "u1"):
                scale, zero = 0.5, _ZEROS[dtype]
            y = _to_batch(x, block, pads, zero)
            m.add("SPACE_TO_BATCH_ND", [Given(x, False, scale, zero), const(block), const(pads)], [y],
                  (), (0, 0), scale, zero)
            m.add("BATCH_TO_SPACE_ND", [Given(y, False, scale, zero), const(block), const(pads)], [x],
                  (), (0, 0), scale, zero)


def complete(m):
    """Has each operator been made with all ranks that it takes?"""
    tables = (_FUNCTIONS, _POSITIVE, _PAIRS, _STORED, _REDUCTIONS, _ROWS)
    wanted = {name: row[0] for table in tables for name, row in table.items()}
    wanted.update(_ELSEWHERE)
    missing = []
    for name, types in sorted(wanted.items()):
        least, most = _LIMITS.get(name, (1, 6))
        missing += ["%s of %s, rank %d" % (name, dtype, rank) for dtype in types
                    for rank in range(least, most + 1)
                    if (name, rank, np.dtype(dtype)) not in m.ranks]
    if missing:
        raise SystemExit("no case: " + "; ".join(missing))


MAKERS = (functions, pairs, reductions, rows, blocks, complete)
