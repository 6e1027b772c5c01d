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


def lstm(m):
    for steps, batches, size, cells in ((1, 1, 1, 1), (3, 2, 4, 3), (5, 1, 2, 6)):
        for time_major in (0, 1):
            for clip in (0.0, 0.5):
                x = m.data((steps, batches, size)) / 3
                w = [m.data((cells, size)) / 3 for _ in range(4)]
                r = [m.data((cells, cells)) / 3 for _ in range(4)]
                b = [m.data((cells,)) / 3 for _ in range(4)]
                h, c = np.zeros((batches, cells)), np.zeros((batches, cells))
                rows = []
                for step in x.astype("f8"):
                    i, f, g, o = (step @ w[k].T + h @ r[k].T + b[k] for k in range(4))
                    c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
                    c = np.clip(c, -clip, clip) if clip else c
                    h = _sigmoid(o) * np.tanh(c)
                    rows.append(h)
                y = np.stack(rows)
                if not time_major:
                    x, y = np.swapaxes(x, 0, 1), np.swapaxes(y, 0, 1)
                weights = [Given(v, True) for v in w + r] + [None] * 3
                weights += [Given(v, True) for v in b]
                m.add("UNIDIRECTIONAL_SEQUENCE_LSTM",
                      [np.ascontiguousarray(x)] + weights + [None, None] +
                      [state((batches, cells)), state((batches, cells))] + [None] * 4,
                      [y.astype("f4")],
                      [("e", 4), ("f", clip), ("f", 0.0), ("b", time_major), ("b", 0)],
                      (2e-5, 1e-5))


MAKERS = (svdf, lstm)
