# SPDX-License-Identifier: MIT
"""Quantized elements, pairs, reductions, products and states, compared with real arithmetic."""

import numpy as np

import archive
from tflite_file import Operator, Subgraph, Tensor, model

from .case_maker import MOVED, SHAPES, Given, const, quantize, state

_NONE = ("e", 0)
_ONE_STEP = (1, 0)
_ZEROS = {"i1": 3, "u1": 125, "i2": 0}


def _given(m, shape, dtype, scale):
    return m.quantized(shape, dtype, scale if dtype != "i2" else scale / 256, _ZEROS[dtype])


def _out(m, name, inputs, value, dtype, scale, options=(), limits=_ONE_STEP):
    scale = scale if dtype != "i2" else scale / 256
    zero = _ZEROS[dtype] - (dtype != "i2")
    m.add(name, inputs, [quantize(value, dtype, scale, zero)], options, limits, scale, zero)


def pairs(m):
    wide = (2, 1, 3, 1, 2)
    for a, b in (((5,), (5,)), ((2, 1, 3), (4, 1)), (wide, (3, 1, 2)), (wide, wide)):
        for dtype in ("i1", "u1", "i2"):
            x, y = _given(m, a, dtype, 0.02), _given(m, b, dtype, 0.03)
            for name, value in (("ADD", x.real() + y.real()), ("SUB", x.real() - y.real()),
                                ("MUL", x.real() * y.real())):
                _out(m, name, [x, y], value, dtype, 0.06, [_NONE])
                _out(m, name, [x, y], np.maximum(value, 0), dtype, 0.06, [("e", 1)])
                # Finer than the product of the scales, which the HAL's MUL cannot be.
                if name == "MUL":
                    _out(m, name, [x, y], value, dtype, 0.0004 if dtype != "i2" else 0.0006 / 512,
                         [_NONE])
            # One scale: stored numbers.
            p, q = m.data(a, dtype), m.data(b, dtype)
            scale, zero = (0.5, _ZEROS[dtype])
            for name, f in (("MAXIMUM", np.maximum), ("MINIMUM", np.minimum)):
                m.add(name, [Given(p, False, scale, zero), Given(q, False, scale, zero)], [f(p, q)],
                      (), (0, 0), scale, zero)
            for name, f in (("EQUAL", np.equal), ("NOT_EQUAL", np.not_equal),
                            ("GREATER", np.greater), ("GREATER_EQUAL", np.greater_equal),
                            ("LESS", np.less), ("LESS_EQUAL", np.less_equal)):
                m.add(name, [Given(p, False, scale, zero), Given(q, False, scale, zero)], [f(p, q)])
        x, y = _given(m, a, "u1", 0.02), _given(m, b, "u1", 0.03)
        y.value = np.where(y.value == y.zero_point, y.value + np.uint8(9), y.value)
        _out(m, "DIV", [x, y], x.real() / y.real(), "u1", 0.1, [_NONE])


def _gate(x):
    return x * np.clip(x + 3, 0, 6) / 6


def elements(m):
    for shape in SHAPES[1:]:
        for dtype in ("i1", "u1", "i2"):
            x = _given(m, shape, dtype, 0.03)
            real = x.real()
            for name, value in (("RELU", np.maximum(real, 0)), ("RELU6", np.clip(real, 0, 6)),
                                ("RELU_N1_TO_1", np.clip(real, -1, 1)),
                                ("RELU_0_TO_1", np.clip(real, 0, 1))):
                if dtype == "i2" and name not in ("RELU", "RELU6"):
                    continue
                # With the quantization of its input, with another scale, with another zero point.
                for scale, zero in ((x.scale, x.zero_point), (x.scale / 2, x.zero_point),
                                    (x.scale, x.zero_point - (dtype != "i2"))):
                    m.add(name, [x], [quantize(value, dtype, scale, zero)], (), _ONE_STEP, scale,
                          zero)
            if dtype != "u1":
                _out(m, "ABS", [x], np.abs(real), dtype, 0.03)
                p = Given(np.maximum(x.value, x.zero_point + 1).astype(dtype), False, x.scale,
                          x.zero_point)
                _out(m, "SQRT", [p], np.sqrt(p.real()), dtype, 0.02)
                p = Given(np.maximum(x.value, x.zero_point + (9 if dtype == "i1" else 4000))
                          .astype(dtype), False, x.scale, x.zero_point)
                # Tables of int16 are straight between 513 samples.
                loose = _ONE_STEP if dtype == "i1" else (60, 0.01)
                _out(m, "EXP", [x], np.exp(real), dtype, 0.2, (), loose)
                _out(m, "LOG", [p], np.log(p.real()), dtype, 0.03, (), loose)
                _out(m, "RSQRT", [p], 1 / np.sqrt(p.real()), dtype, 0.03, (), loose)
            m.add("DEQUANTIZE", [x], [real.astype("f4")])
            for target in ("i1", "u1", "i2"):
                _out(m, "QUANTIZE", [x], real, target, 0.05)
            v = m.data(shape)
            _out(m, "QUANTIZE", [v], v, dtype, 0.05)
        x = _given(m, shape, "i2", 0.03)
        for name, f in (("LOGISTIC", lambda v: 1 / (1 + np.exp(-v))), ("TANH", np.tanh)):
            m.add(name, [x], [quantize(f(x.real()), "i2", 2.0 ** -15, 0)], (), (8, 0), 2.0 ** -15)
        e = np.exp(x.real() - x.real().max(-1, keepdims=True))
        m.add("SOFTMAX", [x], [quantize(e / e.sum(-1, keepdims=True), "i2", 2.0 ** -15, 0)],
              [("f", 1.0)], (24, 0), 2.0 ** -15)
        for dtype, zero in (("i1", 127), ("u1", 255)):
            x = _given(m, shape, dtype, 0.03)
            e = x.real() - x.real().max(-1, keepdims=True)
            e -= np.log(np.exp(e).sum(-1, keepdims=True))
            m.add("LOG_SOFTMAX", [x], [quantize(e, dtype, 1 / 16, zero)], (), _ONE_STEP, 1 / 16,
                  zero)
            alpha = Given(m.data(shape[-1:], dtype), True, 0.01, _ZEROS[dtype])
            value = np.where(x.real() < 0, x.real() * alpha.real(), x.real())
            _out(m, "PRELU", [x, alpha], value, dtype, 0.05)
            if len(shape) > 4:
                _out(m, "HARD_SWISH", [x], _gate(x.real()), dtype, 0.03)


def reductions(m):
    for shape, axes in (((7,), (0,)), ((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)),
                        ((2, 1, 3, 1, 2), (0, 4))):
        for keep in (0, 1):
            for dtype in ("i1", "u1", "i2"):
                x = _given(m, shape, dtype, 0.03)
                options, how = [("b", keep)], {"axis": axes, "keepdims": bool(keep)}
                _out(m, "SUM", [x, const(axes)], x.real().sum(**how), dtype, 0.1, options)
                _out(m, "MEAN", [x, const(axes)], x.real().mean(**how), dtype, 0.02, options)
                for name, f in (("MAX", np.max), ("MIN", np.min)):
                    m.add("REDUCE_" + name, [x, const(axes)], [f(x.value, **how)], options, (0, 0),
                          x.scale, x.zero_point)


def products(m):
    for a, b in (((2, 3), (3, 4)), ((2, 1, 2, 3), (3, 3, 4)), ((5, 1, 7), (5, 7, 1))):
        for dtype in ("i1", "i2"):
            x, y = _given(m, a, dtype, 0.02), _given(m, b, dtype, 0.03)
            y.zero_point = 0
            value = np.matmul(x.real(), y.real())
            for adj_x in (0, 1):
                for adj_y in (0, 1):
                    u, v = (Given(np.swapaxes(g.value, -1, -2).copy() if turn else g.value, False,
                                  g.scale, g.zero_point) for g, turn in ((x, adj_x), (y, adj_y)))
                    _out(m, "BATCH_MATMUL", [u, v], value, dtype, 0.2,
                         [("b", adj_x), ("b", adj_y), ("b", 0)])


def movements(m):
    for shape in SHAPES[1:]:
        for dtype in MOVED + ("f8", "u2", "u4", "u8"):
            x, rank = m.data(shape, dtype), len(shape)
            edges = m.rng.integers(0, 3, (rank, 2)).astype("i4")
            if dtype != "?":
                m.add("PAD", [x, const(edges)], [np.pad(x, edges)])
            axis = int(m.rng.integers(0, rank))
            m.add("SPLIT", [const(axis), np.concatenate([x, x[::-1]], axis)], [x, x[::-1].copy()],
                  [("i", 2)])
            m.add("EXPAND_DIMS", [x, const(axis)], [np.expand_dims(x, axis)])
            one = np.expand_dims(x, axis)
            m.add("SQUEEZE", [one], [x], [("v", [axis])])
    # More dimensions than other cases have.
    for shape in ((1, 2, 1, 3, 1, 2, 2), (2, 1, 2, 1, 2, 1, 2, 1)):
        for dtype in MOVED:
            x, perm = m.data(shape, dtype), m.rng.permutation(len(shape))
            m.add("TRANSPOSE", [x, const(perm)], [np.transpose(x, perm).copy()])
            m.add("REVERSE_V2", [x, const([2, 5])], [np.flip(x, (2, 5))])
        x, y = m.data(shape), m.data(shape[3:])
        m.add("ADD", [x, y], [x + y], [_NONE])


def filters(m):
    """SVDF of int8, from a state of zeros on."""
    for batches, size, units, rank, memory in ((1, 1, 1, 1, 1), (2, 3, 4, 1, 5), (3, 5, 2, 2, 4)):
        count = units * rank
        x = m.quantized((batches, size), "i1", 0.04, 5)
        w = m.quantized((count, size), "i1", 0.01, 0)
        t = m.quantized((count, memory), "i2", 2.0 ** -14, 0)
        for biased in (False, True):
            held, scale = 2.0 ** -11, 2.0 ** -14 * 2.0 ** -11
            bias = Given(m.rng.integers(-10 ** 7, 10 ** 7, units).astype("i4"), True, scale)
            kept = np.clip(x.real() @ w.real().T, -16, 16)
            y = (kept * t.real()[:, -1]).reshape(batches, units, rank).sum(2)
            y = y + bias.real() if biased else y
            w.constant = t.constant = True
            variable = state((batches, count * memory), "i2")
            variable.scale = held
            _out(m, "SVDF", [x, w, t, bias if biased else None, variable], y, "i1", 0.1,
                 [("i", rank), _NONE])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm(m, batches, size, cells):
    """Inputs 1 to 19 of a layer of int8, and what a step computes from (x, output, cells)."""
    def weights(shape, step):
        w = m.quantized(shape, "i1", step, 0)
        w.constant = True
        w.value = np.maximum(w.value, -127)
        return w

    own = [weights((cells, size), 0.004) for _ in range(4)]
    again = [weights((cells, cells), 0.003) for _ in range(4)]
    biases = [Given(m.rng.integers(-5000, 5000, cells).astype("i4"), True, 0.02 * 0.004)
              for _ in range(4)]
    states = [state((batches, cells), "i1"), state((batches, cells), "i2")]
    states[0].scale, states[1].scale = 1 / 128, 2.0 ** -11

    def step(x, h, c):
        i, f, g, o = (x @ own[k].real().T + h @ again[k].real().T + biases[k].real()
                      for k in range(4))
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(c), c

    return own + again + [None] * 3 + biases + [None] * 2 + states, step


# Of the gates, which count with normalization only, and of the output.
_LSTM_STEPS = [(2.0 ** -12, 0)] * 4 + [(1 / 128, 0)]


def sequences(m):
    """LSTM of int8. Each step rounds the output, and the next one multiplies what it rounded."""
    for steps, batches, size, cells in ((1, 1, 1, 1), (3, 2, 4, 3), (6, 1, 5, 8)):
        for time_major in (0, 1):
            inputs, step = _lstm(m, batches, size, cells)
            x = m.quantized((steps, batches, size), "i1", 0.02, 4)
            h = c = np.zeros((batches, cells))
            rows = []
            for row in x.real():
                h, c = step(row, h, c)
                rows.append(h)
            y = np.stack(rows)
            if not time_major:
                x.value, y = np.swapaxes(x.value, 0, 1).copy(), np.swapaxes(y, 0, 1)
            m.add("UNIDIRECTIONAL_SEQUENCE_LSTM", [x] + inputs + [None] * 4,
                  [quantize(y, "i1", 1 / 128, 0)],
                  [("e", 4), ("f", 0.0), ("f", 0.0), ("b", time_major), ("b", 0)], (2, 0), 1 / 128,
                  intermediates=_LSTM_STEPS)
        inputs, step = _lstm(m, batches, size, cells)
        x = m.quantized((batches, size), "i1", 0.02, 4)
        y, _ = step(x.real(), np.zeros((batches, cells)), np.zeros((batches, cells)))
        m.add("LSTM", [x] + inputs + [None] * 4, [quantize(y, "i1", 1 / 128, 0)],
              [("e", 4), ("f", 0.0), ("f", 0.0), ("e", 0), ("b", 0)], (2, 0), 1 / 128,
              intermediates=_LSTM_STEPS)


def basic_lstm(m):
    """LSTM of uint8 with the BASIC kernel, and cells of int16."""
    for batches, size, cells in ((1, 1, 1), (2, 2, 4), (3, 5, 2)):
        x = Given(m.rng.integers(0, 256, (batches, size)).astype("u1"), False, 1 / 128, 128)
        h = Given(m.rng.integers(0, 256, (batches, cells)).astype("u1"), False, 1 / 128, 128)
        c = Given(m.rng.integers(-4000, 4000, (batches, cells)).astype("i2"), False, 2.0 ** -11)
        w = Given(m.rng.integers(0, 256, (4 * cells, size + cells)).astype("u1"), True, 0.005, 117)
        scale = float(np.float32(1 / 128) * np.float32(0.005))
        b = Given(m.rng.integers(-9000, 9000, 4 * cells).astype("i4"), True, scale)
        joined = np.concatenate([x.value, h.value], 1)
        sums = np.concatenate([x.real(), h.real()], 1) @ w.real().T + b.real()
        i, g, f, o = (sums[:, k * cells:(k + 1) * cells] for k in range(4))
        kept = _sigmoid(f) * c.real() + _sigmoid(i) * np.tanh(g)
        y = _sigmoid(o) * np.tanh(kept)
        results = [(y, "u1", 1 / 128, 128), (kept, "i2", 2.0 ** -11, 0), (None, "u1", 1 / 128, 128),
                   (None, "i2", 2.0 ** -12, 0)]
        tensors = [Tensor(v.value.dtype, v.value.shape, v.value if v.constant else None,
                          v.scales(), v.zero_point) for v in (x, h, w, b, c)]
        shapes = (y.shape, y.shape, joined.shape, sums.shape)
        tensors += [Tensor(dtype, shape, None, (step,), zero)
                    for (_, dtype, step, zero), shape in zip(results, shapes)]
        line = Operator("LSTM", range(5), range(5, 9),
                        [("e", 4), ("f", 0.0), ("f", 0.0), ("e", 1), ("b", 0)])
        expected = [archive.Output(quantize(v, dtype, step, zero), 2 if dtype == "i2" else 1, 0)
                    for v, dtype, step, zero in results[:2]]
        m.cases.append(archive.Case("lstm %d" % len(m.cases), "LSTM", 1,
                                    model([Subgraph(tensors, [line], [0, 1, 4], [5, 6])]),
                                    [x.value, h.value, c.value], expected))


MAKERS = (pairs, elements, reductions, products, movements, filters, sequences, basic_lstm)
