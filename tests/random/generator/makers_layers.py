# SPDX-License-Identifier: MIT
"""Operations on random operands, third part: layers with a state."""

import numpy as np

from .graph import FLOAT, I32, S16, S8, S8SYMM, U8
from .makers import make


def matrix(g, type, rows, columns, gain=1.0):
    limit = gain / np.sqrt(columns)
    return g.fresh(type, [rows, columns], -limit, limit)


def vector(g, type, size, low=-0.5, high=0.5):
    return g.fresh(type, [size], low, high)


def none(g, type):
    return g.omitted(type, g.choice([[0], [0, 0]]))


def _sequence(g):
    """A sequence and its layout: batch, steps, size."""
    x = g.data(FLOAT, (3, 3), low=-8, high=8,
               dims=[g.pick(1, 5), g.pick(1, 5), g.pick(1, 6)])
    major = g.chance(0.5)
    steps, batch = x.dims[:2] if major else (x.dims[1], x.dims[0])
    return x, major, batch, steps, x.dims[2]


def _layer(g, type, size, units):
    return [matrix(g, type, units, size), matrix(g, type, units, units), vector(g, type, units)]


def _act(g, bounded=False):
    return g.i32(g.choice([2, 4, 6] if bounded else [0, 1, 2, 3, 4, 6]))


@make("RNN")
def rnn(g, op):
    x = g.data(FLOAT, (2, 2), low=-8, high=8)
    units = g.pick(1, 6)
    g.op(op, [x] + _layer(g, x.type, x.dims[1], units) +
         [g.fresh(x.type, [x.dims[0], units], -1, 1), _act(g)], [(x.type, None)] * 2)


@make("UNIDIRECTIONAL_SEQUENCE_RNN")
def sequence_rnn(g, op):
    x, major, batch, _, size = _sequence(g)
    units = g.pick(1, 6)
    g.op(op, [x] + _layer(g, x.type, size, units) +
         [g.fresh(x.type, [batch, units], -1, 1), _act(g, True), g.i32(major)],
         [(x.type, None)] * g.pick(1, 2))


@make("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(g, op):
    x, major, batch, _, size = _sequence(g)
    t, units = x.type, (g.pick(1, 5), g.pick(1, 5))
    ins = [x]
    for n in units:
        ins += _layer(g, t, size, n) + [g.fresh(t, [batch, n], -1, 1)]
    if g.chance(0.4):
        other = g.pick(1, 4)
        ins += [g.fresh(t, list(x.dims[:2]) + [other], -2, 2),
                matrix(g, t, units[0], other), matrix(g, t, units[1], other)]
    else:
        ins += [none(g, t) for _ in range(3)]
    merge, states = g.chance(0.5), g.chance(0.5)
    ins += [_act(g, True), g.flag(major), g.flag(merge)]
    g.op(op, ins, [(t, None)] * ((1 if merge else 2) + 2 * states))


@make("SVDF")
def svdf(g, op):
    x = g.data(FLOAT, (2, 2), low=-8, high=8)
    t, (batch, size) = x.type, x.dims
    rank, units, memory = g.pick(1, 3), g.pick(1, 4), g.pick(1, 6)
    filters = rank * units
    g.op(op, [x, matrix(g, t, filters, size), matrix(g, t, filters, memory),
              vector(g, t, units) if g.chance(0.6) else none(g, t),
              g.fresh(t, [batch, memory * filters], -1, 1), g.i32(rank), _act(g)],
         [(t, None)] * 2)


# ---- LSTM ----

def _cell(g, t, size, units, outs, cifg, peephole, projection):
    """The 17 weights and biases of a cell."""
    def gates(make_one):
        return [none(g, t) if cifg and i == 0 else make_one() for i in range(4)]

    ins = gates(lambda: matrix(g, t, units, size)) + gates(lambda: matrix(g, t, units, outs))
    if peephole:
        ins += [none(g, t) if cifg else vector(g, t, units), vector(g, t, units),
                vector(g, t, units)]
    else:
        ins += [none(g, t) for _ in range(3)]
    ins += gates(lambda: vector(g, t, units))
    if projection:
        ins += [matrix(g, t, outs, units), vector(g, t, outs) if g.chance(0.5) else none(g, t)]
    else:
        ins += [none(g, t), none(g, t)]
    return ins


def _norms(g, t, units, cifg, used):
    if not used:
        return [none(g, t) for _ in range(4)]
    return [none(g, t) if cifg and i == 0 else vector(g, t, units, 0.2, 1) for i in range(4)]


class _Options:
    def __init__(self, g):
        self.cifg, self.peephole = g.chance(0.4), g.chance(0.5)
        self.projection, self.norm = g.chance(0.4), g.chance(0.4)
        # Normalized gates need values that differ.
        self.units = g.pick(3 if self.norm else 1, 6)
        self.outs = g.pick(1, 5) if self.projection else self.units
        self.limits = [g.choice([0.0, 0.5, 2.0]), g.choice([0.0, 0.5]) if self.projection
                       else 0.0]

    def cell(self, g, t, size):
        return _cell(g, t, size, self.units, self.outs, self.cifg, self.peephole,
                     self.projection)

    def states(self, g, t, batch):
        return [g.fresh(t, [batch, self.outs], -1, 1), g.fresh(t, [batch, self.units], -1, 1)]

    def norms(self, g, t):
        return _norms(g, t, self.units, self.cifg, self.norm)


@make("LSTM")
def lstm(g, op):
    x = g.data(FLOAT, (2, 2), low=-8, high=8)
    t, o = x.type, _Options(g)
    ins = [x] + o.cell(g, t, x.dims[1]) + o.states(g, t, x.dims[0]) + [g.i32(g.choice([4, 2]))]
    ins += [g.real(v, t) for v in o.limits]
    if o.norm or g.chance(0.3):
        ins += o.norms(g, t)
    g.op(op, ins, [(t, None)] * 4)


@make("UNIDIRECTIONAL_SEQUENCE_LSTM")
def sequence_lstm(g, op):
    x, major, batch, _, size = _sequence(g)
    t, o = x.type, _Options(g)
    ins = [x] + o.cell(g, t, size) + o.states(g, t, batch) + [g.i32(g.choice([4, 2]))]
    ins += [g.real(v, t) for v in o.limits] + [g.flag(major)] + o.norms(g, t)
    g.op(op, ins, [(t, None)] * g.choice([1, 3]))


@make("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(g, op):
    x, major, batch, _, size = _sequence(g)
    t, o = x.type, _Options(g)
    ins = [x] + o.cell(g, t, size) + o.cell(g, t, size) + o.states(g, t, batch) + \
        o.states(g, t, batch)
    if g.chance(0.4):
        other = g.pick(1, 4)
        ins.append(g.fresh(t, list(x.dims[:2]) + [other], -2, 2))
        for _ in range(2):
            ins += [none(g, t) if o.cifg and i == 0 else matrix(g, t, o.units, other)
                    for i in range(4)]
    else:
        ins += [none(g, t) for _ in range(9)]
    merge, states = g.chance(0.5), g.chance(0.5)
    ins += [g.i32(g.choice([4, 2]))] + [g.real(v, t) for v in o.limits]
    ins += [g.flag(merge), g.flag(major)] + o.norms(g, t) + o.norms(g, t)
    g.op(op, ins, [(t, None)] * ((1 if merge else 2) + 4 * states))


@make("QUANTIZED_16BIT_LSTM")
def quantized_16bit_lstm(g, op):
    batch, size, units = g.pick(1, 3), g.pick(1, 6), g.pick(1, 6)
    x = g.data((U8,), (2, 2), dims=[batch, size]) if g.must_connect else \
        g.fresh(U8, [batch, size], quant=(1 / 128, 128), const=False)
    if (x.scale, x.zero_point) != (1 / 128, 128):
        x = g.op("MAXIMUM", [x, x], [(U8, (1 / 128, 128))])[0]
    batch, size = x.dims
    quant = float(np.float32(g.rng.uniform(0.003, 0.008))), g.pick(100, 150)
    ins = [x]
    for columns in (size, units):
        ins += [g.fresh(U8, [units, columns], quant=quant) for _ in range(4)]
    scale = float(np.float32(x.scale) * np.float32(quant[0]))
    for _ in range(4):
        ins.append(g.constant(I32, np.round(g.rng.uniform(-0.5, 0.5, units) / scale), scale))
    ins.append(g.fresh(S16, [batch, units], -1, 1, quant=(2.0 ** -11, 0)))
    ins.append(g.fresh(U8, [batch, units], quant=(1 / 128, 128)))
    g.op(op, ins, [(S16, (2.0 ** -11, 0)), (U8, (1 / 128, 128))])


@make("QUANTIZED_LSTM")
def quantized_lstm(g, op):
    x = g.data((S8,), (2, 2))
    batch, size = x.dims
    cifg, peephole, projection = g.chance(0.3), g.chance(0.4), g.chance(0.5)
    norm = g.chance(0.4)
    units = g.pick(4 if norm else 1, 6)
    outs = g.pick(1, 5) if projection else units
    state_quant = 1 / 128, g.pick(-10, 10)
    # Gates have 15 bits behind the point: finer cells would show how they are rounded.
    cell_quant = 2.0 ** -g.pick(9, 13), 0

    def gates(make_one, type=S8SYMM):
        return [none(g, type) if cifg and i == 0 else make_one(i) for i in range(4)]

    weight = float(np.float32(1.0 / 127 / np.sqrt(size) / max(x.scale * 64, 1)))
    back = float(np.float32(1.0 / 127 / np.sqrt(outs)))
    ins = [x] + gates(lambda _: g.fresh(S8SYMM, [units, size], -127 * weight, 127 * weight,
                                        quant=(weight, 0)))
    ins += gates(lambda _: g.fresh(S8SYMM, [units, outs], -127 * back, 127 * back,
                                   quant=(back, 0)))
    ins += [g.fresh(S16, [units], -0.5, 0.5, quant=(2.0 ** -15, 0))
            if peephole and not (cifg and i == 0) else none(g, S16) for i in range(3)]
    norm_scale = 2.0 ** -13
    bias_scale = norm_scale / 1024 if norm else \
        float(np.float32(x.scale) * np.float32(weight))
    ins += gates(lambda _: g.constant(
        I32, np.round(g.rng.uniform(-0.5, 0.5, units) / bias_scale), bias_scale), I32)
    hidden = 1 / 128, g.pick(-10, 10)
    if projection:
        p = float(np.float32(1.0 / 127 / np.sqrt(units)))
        ins.append(g.fresh(S8SYMM, [outs, units], -127 * p, 127 * p, quant=(p, 0)))
        scale = float(np.float32(p) * np.float32(hidden[0]))
        ins.append(g.constant(I32, np.round(g.rng.uniform(-0.3, 0.3, outs) / scale), scale)
                   if g.chance(0.5) else none(g, I32))
    else:
        ins += [none(g, S8SYMM), none(g, I32)]
        hidden = state_quant
    ins.append(g.fresh(S8, [batch, outs], quant=state_quant, const=False))
    limit = min(1.0, 32767 * cell_quant[0])
    ins.append(g.fresh(S16, [batch, units], -0.8 * limit, 0.8 * limit, quant=cell_quant,
                       const=False))
    ins += [g.fresh(S16, [units], 0.3, 1.0, quant=(norm_scale, 0))
            if norm and not (cifg and i == 0) else none(g, S16) for i in range(4)]
    ins += [g.real(0.0), g.real(0.0)]
    ins += [g.real(2.0 ** -12) for _ in range(4)] + [g.i32(hidden[1]), g.real(hidden[0])]
    g.op(op, ins, [(S8, state_quant), (S16, cell_quant), (S8, state_quant)])
