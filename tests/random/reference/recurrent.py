# SPDX-License-Identifier: MIT
"""Layers with a state: RNN, SVDF and the LSTM family."""

import numpy as np

from .core import operation


def sigma(x):
    return 1 / (1 + np.exp(-x))


_ACTIVATIONS = {
    0: lambda x: x, 1: lambda x: np.maximum(x, 0), 2: lambda x: np.clip(x, -1, 1),
    3: lambda x: np.clip(x, 0, 6), 4: np.tanh, 6: sigma,
}


def _real(c, i):
    return None if i >= len(c) or c[i] is None else c.real(i)


def _limit(x, limit):
    return np.clip(x, -limit, limit) if limit and limit > 0 else x


def _time_first(x, time_major):
    return x if time_major else np.swapaxes(x, 0, 1)


# ---- RNN, SVDF ----

def _rnn_steps(xs, w, r, bias, h, act, aux=None, aux_w=None):
    """Outputs of all steps and the last state."""
    out = []
    for t, x in enumerate(xs):
        total = bias + x @ w.T + h @ r.T
        if aux_w is not None:
            total = total + aux[t] @ aux_w.T
        h = _ACTIVATIONS[act](total)
        out.append(h)
    return np.stack(out), h


@operation("RNN")
def rnn(c):
    _, h = _rnn_steps([c.real(0)], c.real(1), c.real(2), c.real(3), c.real(4), c.item(5))
    return [h, h]


@operation("UNIDIRECTIONAL_SEQUENCE_RNN")
def sequence_rnn(c):
    major = c.item(6)
    out, h = _rnn_steps(_time_first(c.real(0), major), c.real(1), c.real(2), c.real(3),
                        c.real(4), c.item(5))
    return [_time_first(out, major), h][:len(c.out_types)]


def _both(fw, bw, merge, major, states, wanted):
    """Outputs of two directions."""
    if merge:
        outs = [_time_first(np.concatenate([fw, bw], axis=-1), major)]
    else:
        outs = [_time_first(fw, major), _time_first(bw, major)]
    return (outs + states)[:wanted]


@operation("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(c):
    act, major, merge = c.item(12), c.item(13), c.item(14)
    xs = _time_first(c.real(0), major)
    aux, fw_aux, bw_aux = (_real(c, i) for i in (9, 10, 11))
    aux = None if aux is None else _time_first(aux, major)
    bw_xs = aux if aux is not None and bw_aux is None else xs
    fw, fw_h = _rnn_steps(xs, c.real(1), c.real(2), c.real(3), c.real(4), act, aux, fw_aux)
    bw, bw_h = _rnn_steps(bw_xs[::-1], c.real(5), c.real(6), c.real(7), c.real(8), act,
                          None if aux is None else aux[::-1], bw_aux)
    return _both(fw, bw[::-1], merge, major, [fw_h, bw_h], len(c.out_types))


@operation("SVDF")
def svdf(c):
    x, feature, time, bias = c.real(0), c.real(1), c.real(2), _real(c, 3)
    rank, act = c.item(5), c.item(6)
    filters, memory = time.shape
    state = c.real(4).reshape(-1, filters, memory).copy()
    state[:, :, -1] = x @ feature.T
    y = (state * time).sum(axis=2).reshape(x.shape[0], filters // rank, rank).sum(axis=2)
    if bias is not None:
        y = y + bias
    shifted = np.concatenate([state[:, :, 1:], np.zeros_like(state[:, :, :1])], axis=2)
    return [shifted.reshape(x.shape[0], -1), _ACTIVATIONS[act](y)]


# ---- LSTM ----

class Cell:
    """Weights of one LSTM layer; lists are in the order input, forget, cell, output."""

    def __init__(self, c, first, norms):
        take = lambda at, n: [_real(c, at + i) for i in range(n)]  # noqa: E731
        self.w = take(first, 4)
        self.r = take(first + 4, 4)
        peephole = take(first + 8, 3)
        self.peephole = [peephole[0], peephole[1], None, peephole[2]]
        self.bias = take(first + 11, 4)
        self.projection, self.projection_bias = take(first + 15, 2)
        self.norm = take(norms, 4) if norms is not None else [None] * 4
        self.aux = [None] * 4

    def _gate(self, g, x, h, state, aux):
        total = x @ self.w[g].T + h @ self.r[g].T
        if self.aux[g] is not None:
            total = total + aux @ self.aux[g].T
        if self.peephole[g] is not None:
            total = total + self.peephole[g] * state
        if self.norm[g] is None:
            return total + self.bias[g]
        mean = total.mean(axis=-1, keepdims=True)
        variance = ((total - mean) ** 2).mean(axis=-1, keepdims=True)
        return (total - mean) / np.sqrt(variance + 1e-8) * self.norm[g] + self.bias[g]

    def step(self, x, h, state, act, cell_limit, limit, aux=None):
        g = _ACTIVATIONS[act]
        forget = sigma(self._gate(1, x, h, state, aux))
        gate = 1 - forget if self.w[0] is None else sigma(self._gate(0, x, h, state, aux))
        state = _limit(forget * state + gate * g(self._gate(2, x, h, state, aux)), cell_limit)
        h = sigma(self._gate(3, x, h, state, aux)) * g(state)
        if self.projection is not None:
            h = h @ self.projection.T
            if self.projection_bias is not None:
                h = h + self.projection_bias
            h = _limit(h, limit)
        return h, state

    def steps(self, xs, h, state, act, cell_limit, limit, aux=None):
        out = []
        for t, x in enumerate(xs):
            h, state = self.step(x, h, state, act, cell_limit, limit,
                                 None if aux is None else aux[t])
            out.append(h)
        return np.stack(out), h, state


@operation("LSTM")
def lstm(c):
    cell = Cell(c, 1, 23)
    h, state = cell.step(c.real(0), c.real(18), c.real(19), c.item(20), c.item(21), c.item(22))
    gates = 3 if cell.w[0] is None else 4
    return [np.zeros((h.shape[0], state.shape[1] * gates)), h, state, h]


@operation("UNIDIRECTIONAL_SEQUENCE_LSTM")
def sequence_lstm(c):
    major = c.item(23)
    out, h, state = Cell(c, 1, 24).steps(_time_first(c.real(0), major), c.real(18), c.real(19),
                                         c.item(20), c.item(21), c.item(22))
    return [_time_first(out, major), h, state][:len(c.out_types)]


@operation("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(c):
    fw, bw = Cell(c, 1, 53), Cell(c, 18, 57)
    major, merge = c.item(52), c.item(51)
    xs = _time_first(c.real(0), major)
    aux = _real(c, 39)
    aux = None if aux is None else _time_first(aux, major)
    fw.aux = [_real(c, 40 + i) for i in range(4)]
    bw.aux = [_real(c, 44 + i) for i in range(4)]
    bw_xs = aux if aux is not None and bw.aux[1] is None else xs
    rest = c.item(48), c.item(49), c.item(50)
    fw_out, fw_h, fw_c = fw.steps(xs, c.real(35), c.real(36), *rest, aux=aux)
    bw_out, bw_h, bw_c = bw.steps(bw_xs[::-1], c.real(37), c.real(38), *rest,
                                  aux=None if aux is None else aux[::-1])
    return _both(fw_out, bw_out[::-1], merge, major, [fw_h, fw_c, bw_h, bw_c],
                 len(c.out_types))


# ---- quantized LSTM ----

@operation("QUANTIZED_16BIT_LSTM")
def quantized_16bit_lstm(c):
    x, h, state = c.real(0), c.real(14), c.real(13)
    unit = np.float64(np.float32(c[0].scale)) * np.float64(np.float32(c[1].scale))
    # The operation's definition has the rows of both matrices in the other order than
    # the values they meet: recurrent weights first, but the input before the state.
    values = np.concatenate([x, h], axis=1)
    gates = [values @ np.concatenate([c.real(5 + g), c.real(1 + g)], axis=1).T +
             c[9 + g].data * unit for g in range(4)]
    # Gates are limited to the range of Q3.12.
    gates = [np.clip(g, -8, 8) for g in gates]
    state = sigma(gates[1]) * state + sigma(gates[0]) * np.tanh(gates[2])
    return [state, sigma(gates[3]) * np.tanh(state)]


@operation("QUANTIZED_LSTM")
def quantized_lstm(c):
    x, h, state = c.real(0), c.real(18), c.real(19)
    peephole = [_real(c, 9), _real(c, 10), None, _real(c, 11)]
    step = [c.item(26 + g) for g in range(4)]

    def gate(g, cell):
        w, r = c[1 + g], c[5 + g]
        bias, norm = c[12 + g], c[20 + g]
        parts = [x @ w.real.T, h @ r.real.T]
        if peephole[g] is not None:
            parts.append(peephole[g] * cell)
        if norm is None:
            parts[0] = parts[0] + bias.data * (np.float64(np.float32(c[0].scale)) *
                                               np.float64(np.float32(w.scale)))
        # Sums before a normalization are coarse: part of the operation's definition.
        q = np.clip(sum(np.round(p / step[g]) for p in parts), -32768, 32767)
        if norm is None:
            return np.clip(q * step[g], -8, 8)
        mean = q.mean(axis=-1, keepdims=True)
        variance = ((q - mean) ** 2).mean(axis=-1, keepdims=True)
        y = (q - mean) / np.sqrt(np.maximum(variance, 1e-9))
        return y * norm.real + bias.data * np.float64(np.float32(norm.scale)) / 1024

    forget = sigma(gate(1, state))
    take = 1 - forget if c[1] is None else sigma(gate(0, state))
    state = _limit(forget * state + take * np.tanh(gate(2, state)), c.item(24))
    y = sigma(gate(3, state)) * np.tanh(state)
    hidden_scale, hidden_zero = c.item(31), c.item(30)
    # The hidden values are eight bits wide.
    y = (np.clip(np.round(y / hidden_scale) + hidden_zero, -128, 127) - hidden_zero) * \
        hidden_scale
    if c[16] is not None:
        y = y @ c.real(16).T
        if c[17] is not None:
            y = y + c[17].data * (hidden_scale * np.float64(np.float32(c[16].scale)))
        y = _limit(y, c.item(25))
    return [y, state, y]


