# SPDX-License-Identifier: MIT
"""Operators with a state, from a state of zeros on."""

import numpy as np

from .case_maker import Given, state


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def svdf(m):
    for batches, size, units, rank, memory in ((1, 1, 1, 1, 1), (2, 3, 4, 1, 5), (3, 5, 2, 2, 4)):
        filters = units * rank
        for biased in (False, True):
            x, w, t = m.data((batches, size)), m.data((filters, size)), m.data((filters, memory))
            bias = m.data((units,))
            # Of a memory of zeros only the newest value counts.
            y = (x.astype("f8") @ w.T * t[:, -1]).reshape(batches, units, rank).sum(2)
            y = y + bias if biased else y
            m.add("SVDF", [x, Given(w, True), Given(t, True), Given(bias, True) if biased else None,
                           state((batches, filters * memory))], [y.astype("f4")],
                  [("i", rank), ("e", 0)], (5e-5, 1e-5))


class _Lstm:
    """Weights of a layer without peepholes and projection, and what it computes."""

    def __init__(self, m, size, cells, coupled=False):
        self.cells = cells
        self.weights = [m.data((cells, size)) / 3 for _ in range(4)]
        self.recurrent = [m.data((cells, cells)) / 3 for _ in range(4)]
        self.biases = [m.data((cells,)) / 3 for _ in range(4)]
        self.coupled = coupled

    def inputs(self):
        """Inputs 1 to 17 of the operator."""
        lists = [list(v) for v in (self.weights, self.recurrent, self.biases)]
        if self.coupled:
            for v in lists:
                v[0] = None
        weights, recurrent, biases = ([None if v is None else Given(v, True) for v in row]
                                      for row in lists)
        return weights + recurrent + [None] * 3 + biases + [None, None]

    def run(self, x, clip):
        h = c = np.zeros((x.shape[1], self.cells))
        rows = []
        for step in x.astype("f8"):
            i, f, g, o = (step @ self.weights[k].T + h @ self.recurrent[k].T + self.biases[k]
                          for k in range(4))
            f = _sigmoid(f)
            i = 1 - f if self.coupled else _sigmoid(i)
            c = f * c + i * np.tanh(g)
            c = np.clip(c, -clip, clip) if clip else c
            h = _sigmoid(o) * np.tanh(c)
            rows.append(h)
        return np.stack(rows)


_SIZES = ((1, 1, 1, 1), (3, 2, 4, 3), (5, 1, 2, 6))
_LSTM_LIMITS = (2e-5, 1e-5)


def sequence_lstm(m):
    for steps, batches, size, cells in _SIZES:
        for time_major in (0, 1):
            for clip in (0.0, 0.5):
                x = m.data((steps, batches, size)) / 3
                layer = _Lstm(m, size, cells)
                y = layer.run(x, clip)
                if not time_major:
                    x, y = np.swapaxes(x, 0, 1), np.swapaxes(y, 0, 1)
                m.add("UNIDIRECTIONAL_SEQUENCE_LSTM",
                      [np.ascontiguousarray(x)] + layer.inputs() +
                      [state((batches, cells)), state((batches, cells))] + [None] * 4,
                      [y.astype("f4")],
                      [("e", 4), ("f", clip), ("f", 0.0), ("b", time_major), ("b", 0)],
                      _LSTM_LIMITS)


def lstm(m):
    for _, batches, size, cells in _SIZES:
        for coupled in (False, True):
            for clip in (0.0, 0.5):
                for more in ([], [None] * 4):
                    x = m.data((batches, size))
                    layer = _Lstm(m, size, cells, coupled)
                    m.add("LSTM", [x] + layer.inputs() +
                          [state((batches, cells)), state((batches, cells))] + more,
                          [layer.run(x[None], clip)[0].astype("f4")],
                          [("e", 4), ("f", clip), ("f", 0.0), ("e", 0), ("b", 0)], _LSTM_LIMITS)


def basic_lstm(m):
    """All gates in one matrix; two of the outputs are what is between."""
    for _, batches, size, cells in _SIZES:
        for kept in (False, True):
            x = m.data((batches, size))
            w = m.data((4 * cells, size + cells)) / 3
            b = m.data((4 * cells,)) / 3
            last = [np.zeros((batches, cells), "f4") if kept else m.data((batches, cells))
                    for _ in range(2)]
            joined = np.concatenate([x, last[0]], 1)
            sums = (joined.astype("f8") @ w.T + b).reshape(batches, 4, cells)
            i, g, f, o = (sums[:, k] for k in range(4))
            c = _sigmoid(f) * last[1] + _sigmoid(i) * np.tanh(g)
            h = _sigmoid(o) * np.tanh(c)
            held = [state((batches, cells)) if kept else v for v in last]
            m.add("LSTM", [x, held[0], Given(w, True), Given(b, True), held[1]],
                  [v.astype("f4") for v in (h, c, joined, sums.reshape(batches, -1))],
                  [("e", 4), ("f", 0.0), ("f", 0.0), ("e", 1), ("b", 0)], _LSTM_LIMITS)


def _directions(x, forward, backward, merge, time_major):
    """Input and outputs of a bidirectional operator, in the order of the file."""
    outputs = [forward, backward[::-1]]
    if merge:
        outputs = [np.concatenate(outputs, 2)]
    if not time_major:
        x, outputs = np.swapaxes(x, 0, 1), [np.swapaxes(v, 0, 1) for v in outputs]
    return np.ascontiguousarray(x), [np.ascontiguousarray(v, "f4") for v in outputs]


def bidirectional_lstm(m):
    for steps, batches, size, cells in _SIZES:
        for time_major in (0, 1):
            for merge in (0, 1):
                x = m.data((steps, batches, size)) / 3
                layers = [_Lstm(m, size, cells + k) for k in range(2)]
                given, outputs = _directions(x, layers[0].run(x, 0.5),
                                             layers[1].run(x[::-1], 0.5), merge, time_major)
                states = [state((batches, v.cells)) for v in layers for _ in range(2)]
                m.add("BIDIRECTIONAL_SEQUENCE_LSTM",
                      [given] + layers[0].inputs() + layers[1].inputs() + states + [None] * 9,
                      outputs, [("e", 4), ("f", 0.5), ("f", 0.0), ("b", merge), ("b", time_major)],
                      _LSTM_LIMITS)


def _run_rnn(x, w, r, b):
    h, rows = np.zeros((x.shape[1], len(b))), []
    for step in x.astype("f8"):
        h = np.tanh(step @ w.T + h @ r.T + b)
        rows.append(h)
    return np.stack(rows)


def bidirectional_rnn(m):
    for steps, batches, size, units in _SIZES:
        for time_major in (0, 1):
            for merge in (0, 1):
                x = m.data((steps, batches, size)) / 3
                layers = [(m.data((units + k, size)) / 3, m.data((units + k, units + k)) / 3,
                           m.data((units + k,)) / 3) for k in range(2)]
                given, outputs = _directions(x, _run_rnn(x, *layers[0]),
                                             _run_rnn(x[::-1], *layers[1]), merge, time_major)
                inputs = [given]
                for k, layer in enumerate(layers):
                    inputs += [Given(v, True) for v in layer] + [state((batches, units + k))]
                m.add("BIDIRECTIONAL_SEQUENCE_RNN", inputs + [None] * 3, outputs,
                      [("b", time_major), ("e", 4), ("b", merge)], _LSTM_LIMITS)


MAKERS = (svdf, sequence_lstm, lstm, basic_lstm, bidirectional_lstm, bidirectional_rnn)
