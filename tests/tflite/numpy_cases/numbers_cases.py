# SPDX-License-Identifier: MIT
"""Elements, pairs of elements, sums, products."""

import math

import numpy as np

from tflite_file import TYPES

from .case_maker import FLOATS, SHAPES, Given, const, quantize

_PAIRS = [((), ()), ((1,), (5,)), ((2, 3), (3,)), ((2, 1, 4), (1, 3, 1)), ((3, 2), (3, 2)),
          ((2, 1, 2, 3), (2, 2, 1, 3))]
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x, approximate=False):
    x = x.astype(np.float64)
    if approximate:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _elu(x):
    return np.where(x < 0, np.expm1(np.minimum(x, 0).astype(np.float64)), x)


def _leaky(alpha):
    return lambda x: np.where(x < 0, x * np.float32(alpha), x)


def unary(m):
    simple = {"CEIL": np.ceil, "COS": np.cos, "ROUND": np.round, "SIGN": np.sign, "ELU": _elu,
              "RELU_0_TO_1": lambda x: np.clip(x, 0, 1), "SQUARE": np.square}
    for shape in SHAPES:
        x = m.data(shape)
        for name, f in simple.items():
            m.add(name, [x], [f(x).astype("f4")])
        for alpha in (0.1, 0.5, 2.0):
            m.add("LEAKY_RELU", [x], [_leaky(alpha)(x).astype("f4")], [("f", alpha)])
        for approximate in (0, 1):
            m.add("GELU", [x], [_gelu(x, approximate).astype("f4")], [("b", approximate)],
                  (1e-5, 1e-5))
        for dtype in ("i4",):
            n = m.data(shape, dtype)
            m.add("SIGN", [n], [np.sign(n)])
        for dtype in ("f4", "f2", "i4", "i8"):
            n = m.data(shape, dtype)
            m.add("ZEROS_LIKE", [n], [np.zeros_like(n)])
    for shape in SHAPES[1:6]:
        for dtype, zero in (("i1", 3), ("u1", 120), ("i2", 0)):
            scale, out = (0.05, 0.04) if dtype != "i2" else (0.0003, 0.0002)
            q = m.quantized(shape, dtype, scale, zero)
            m.add("LEAKY_RELU", [q], [quantize(_leaky(0.25)(q.real()), dtype, out, zero)],
                  [("f", 0.25)], (1, 0), out, zero)
        q = m.quantized(shape, "i1", 0.03, -5)
        m.add("GELU", [q], [quantize(_gelu(q.real()), "i1", 0.02, -10)], [("b", 0)], (1, 0),
              0.02, -10)
        m.add("ELU", [q], [quantize(_elu(q.real()), "i1", 0.025, -7)], (), (1, 0), 0.025, -7)


def complex_numbers(m):
    for shape in SHAPES:
        z = m.data(shape, "c8")
        m.add("REAL", [z], [z.real])
        m.add("IMAG", [z], [z.imag])
        m.add("COMPLEX_ABS", [z], [np.abs(z).astype("f4")])
    for shape in ((4, 4), (2, 3, 5), (1, 8)):
        x = m.data(shape)
        for size in ((4, 4), (2, 8), (1, 2)):
            part = np.zeros(shape[:-2] + size)
            h, w = min(size[0], shape[-2]), min(size[1], shape[-1])
            part[..., :h, :w] = x[..., :h, :w]
            m.add("RFFT2D", [x, const(size)], [np.fft.rfft2(part).astype("c8")], (), (1e-4, 1e-5))


def pairs(m):
    for a, b in _PAIRS:
        x, y = m.data(a), m.data(b)
        y = np.where(np.abs(y) < 0.1, np.float32(1), y)
        # TensorFlow Lite's ATAN2 broadcasts nothing.
        other = m.data(a)
        m.add("ATAN2", [x, other], [np.arctan2(x, other)])
        m.add("FLOOR_DIV", [x, y], [np.floor(x.astype("f8") / y).astype("f4")])
        m.add("FLOOR_MOD", [x, y], [np.mod(x, y)], (), (2e-5, 1e-6))
        m.add("SQUARED_DIFFERENCE", [x, y], [np.square(x - y)])
        n, d = m.data(a, "i4"), m.data(b, "i4")
        m.add("SQUARED_DIFFERENCE", [n, d], [np.square(n - d)])
        for dtype in ("i1", "i2", "i4", "i8"):
            n, d = m.data(a, dtype), m.data(b, dtype)
            d = np.where((d == 0) | (d == -1), d.dtype.type(3), d)
            if dtype in ("i2", "i4"):
                m.add("FLOOR_DIV", [n, d], [n // d])
            if dtype != "i1":
                m.add("FLOOR_MOD", [n, d], [np.mod(n, d)])
        for dtype in ("i1", "u1", "i2", "u2", "i4", "u4"):
            n, d = m.data(a, dtype), m.data(b, dtype)
            m.add("BITWISE_XOR", [n, d], [n ^ d])
            s = (np.abs(d.astype("i4")) % np.dtype(dtype).itemsize).astype(dtype)
            m.add("RIGHT_SHIFT", [n, s], [n >> s])
        x, y = m.quantized(a, "i1", 0.02, 4), m.quantized(b, "i1", 0.03, -9)
        square = quantize((x.real() - y.real()) ** 2, "i1", 0.15, -128)
        m.add("SQUARED_DIFFERENCE", [x, y], [square], (), (1, 0), 0.15, -128)


def comparisons(m):
    for a, b in _PAIRS:
        for dtype in ("f4", "i4", "i8", "i2"):
            x, y = m.data(a, dtype), m.data(b, dtype)
            m.add("LESS", [x, y], [x < y])
            m.add("LESS", [x, x], [x < x])


def sums(m):
    for shape in SHAPES[1:]:
        for dtype in ("f4", "i4"):
            parts = [m.data(shape, dtype) for _ in range(3)]
            m.add("ADD_N", parts, [parts[0] + parts[1] + parts[2]])
        for dtype in ("f4", "i4", "i8"):
            x = m.data(shape, dtype)
            axis = int(m.rng.integers(-len(shape), len(shape)))
            for exclusive in (0, 1):
                for reverse in (0, 1):
                    y = np.flip(x, axis) if reverse else x
                    total = np.cumsum(y, axis, dtype=x.dtype)
                    total = total - y if exclusive else total
                    total = np.flip(total, axis) if reverse else total
                    m.add("CUMSUM", [x, const(axis)], [total], [("b", exclusive), ("b", reverse)],
                          (2e-5, 1e-6) if dtype == "f4" else None)


def products(m):
    for a, b in (((2, 3), (3, 4)), ((1, 1), (1, 1)), ((2, 3, 5), (5, 2)), ((2, 1, 2, 3), (3, 3, 4)),
                 ((5, 1, 7), (5, 7, 1))):
        x, y = m.data(a), m.data(b)
        for adj_x in (0, 1):
            for adj_y in (0, 1):
                u = np.swapaxes(x, -1, -2) if adj_x else x
                v = np.swapaxes(y, -1, -2) if adj_y else y
                m.add("BATCH_MATMUL", [u.copy(), v.copy()], [np.matmul(x, y)],
                      [("b", adj_x), ("b", adj_y), ("b", 0)], (2e-5, 1e-6))
        p, q = m.quantized(a, "i1", 0.02, 3), m.quantized(b, "i1", 0.03, 0)
        m.add("BATCH_MATMUL", [p, q], [quantize(np.matmul(p.real(), q.real()), "i1", 0.2, 5)],
              [("b", 0), ("b", 0), ("b", 0)], (1, 0), 0.2, 5)


def casts(m):
    types = ("f4", "i4", "i8", "i1", "u1", "i2", "?")
    for source in types:
        for target in types:
            for shape in ((), (5,), (2, 1, 3)):
                x = m.data(shape, source)
                if source == "f4":
                    x = np.abs(x)  # negative floats are limited, where numpy wraps
                y = x != 0 if target == "?" else x.astype(target)
                m.add("CAST", [x], [y], [("e", TYPES[np.dtype(t)]) for t in (source, target)])


def fake_quantization(m):
    for shape in SHAPES:
        for low, high, bits, narrow in ((-1, 1, 8, 0), (0, 6, 8, 1), (-3, 2, 4, 0)):
            x = m.data(shape)
            least, most = narrow, 2 ** bits - 1
            scale = np.float32(high - low) / np.float32(most - least)
            zero = np.clip(np.floor(least - np.float32(low) / scale + 0.5), least, most)
            a, b = (least - zero) * scale, (most - zero) * scale
            # An element in the middle of two steps may go to either.
            y = np.floor((np.clip(x, a, b) - a) / scale + 0.5) * scale + a
            m.add("FAKE_QUANT", [x], [y.astype("f4")],
                  [("f", low), ("f", high), ("i", bits), ("b", narrow)], (1e-5, 1e-6))


def segments(m):
    for rows, inner in ((6, ()), (5, (3,)), (7, (2, 2)), (1, (4,))):
        for dtype in ("f4", "i4"):
            x = m.data((rows,) + inner, dtype)
            ids = np.sort(m.rng.integers(0, 3, rows)).astype("i4")
            ids = np.unique(ids, return_inverse=True)[1].astype("i4")
            out = np.zeros((ids.max() + 1,) + inner, dtype)
            np.add.at(out, ids, x)
            m.add("SEGMENT_SUM", [x, const(ids)], [out], (), FLOATS if dtype == "f4" else None)
            ids, count = m.rng.integers(-1, 4, rows).astype("i4"), 5
            info = np.finfo("f4") if dtype == "f4" else np.iinfo("i4")
            x = np.clip(x, -9, 9)
            for name, f, start in (("SUM", np.add, 0), ("PROD", np.multiply, 1),
                                   ("MAX", np.maximum, info.min), ("MIN", np.minimum, info.max)):
                out = np.full((count,) + inner, start, dtype)
                f.at(out, ids[ids >= 0], x[ids >= 0])
                m.add("UNSORTED_SEGMENT_" + name, [x, ids, const(count)], [out], (),
                      (1e-4, 1e-6) if dtype == "f4" else None)


def volumes(m):
    for n, size, kernel, stride, dilation in ((1, (3, 4, 5), (2, 2, 2), 1, 1),
                                              (2, (4, 5, 3), (2, 3, 1), 2, 1),
                                              (1, (5, 5, 5), (2, 2, 2), 1, 2),
                                              (1, (1, 1, 1), (1, 1, 1), 1, 1)):
        x, bias = m.data((n,) + size + (2,)), m.data((3,))
        w = m.data(kernel + (2, 3))
        for pad in (0, 1):
            span = [(k - 1) * dilation + 1 for k in kernel]
            out = [-(-s // stride) if pad == 0 else (s - p) // stride + 1
                   for s, p in zip(size, span)]
            total = [max(0, (o - 1) * stride + p - s) if pad == 0 else 0
                     for o, p, s in zip(out, span, size)]
            edges = [(0, 0)] + [(t // 2, t - t // 2) for t in total] + [(0, 0)]
            wide = np.pad(x.astype("f8"), edges)
            y = np.zeros((n, *out, 3))
            for at in np.ndindex(*out):
                part = tuple(slice(i * stride, i * stride + p, dilation) for i, p in zip(at, span))
                y[(slice(None),) + at] = np.tensordot(wide[(slice(None),) + part], w, 4) + bias
            options = [("e", pad), ("i", stride), ("i", stride), ("i", stride), ("e", 0),
                       ("i", dilation), ("i", dilation), ("i", dilation)]
            m.add("CONV_3D", [x, Given(w, True), Given(bias, True)], [y.astype("f4")], options,
                  (5e-5, 1e-6))
            # The transposed one: each element of an image of that size spreads over the input.
            g = m.data((n, *out, 3))
            spread = np.zeros(wide.shape)
            for at in np.ndindex(*out):
                part = tuple(slice(i * stride, i * stride + p, dilation) for i, p in zip(at, span))
                one = g[(slice(None),) + at]
                spread[(slice(None),) + part] += np.einsum("nc,dhwic->ndhwi", one, w)
            cut = tuple(slice(t // 2, t // 2 + s) for t, s in zip(total, size))
            m.add("CONV_3D_TRANSPOSE", [const((n,) + size + (2,)), Given(w, True), g],
                  [spread[(slice(None),) + cut].astype("f4")], options, (5e-5, 1e-6))


MAKERS = (unary, complex_numbers, pairs, comparisons, sums, products, casts, fake_quantization,
          segments, volumes)
