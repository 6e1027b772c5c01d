# SPDX-License-Identifier: MIT
"""Whole models on the reference: operations in their order, branches and loops."""

import nntc

from .core import Refused, Value, run, store

CONTROL = ("IF", "WHILE")
MAX_ROUNDS = 1000


def evaluate(case):
    """Values of all operands of a case's main subgraph."""
    given = [_value(o) if o.data else None for o in (case.operands[i] for i in case.inputs)]
    return _evaluate(case, case, given)


def _value(o):
    return Value(o.type, o.array(), o.scale, o.zero_point, o.channel_dim, o.channel_scales)


def _evaluate(case, graph, given):
    values = [_value(o) if o.lifetime in (nntc.CONSTANT_COPY, nntc.CONSTANT_REFERENCE) else None
              for o in graph.operands]
    for i, value in zip(graph.inputs, given):
        values[i] = value
    for p in graph.operations:
        if p.type in CONTROL:
            results = _control(case, graph, p, values)
        else:
            outs = [graph.operands[i] for i in p.outputs]
            results = run(p.type, [values[i] for i in p.inputs], [o.type for o in outs])
            results = [Value(o.type, store(r, o.type, o.scale, o.zero_point), o.scale,
                             o.zero_point) for o, r in zip(outs, results)]
        for i, value in zip(p.outputs, results):
            values[i] = value
    return values


def _call(case, graph, operand, given):
    """Values of the outputs of the subgraph that an operand refers to."""
    inner = case.subgraphs[int.from_bytes(graph.operands[operand].data, "little")]
    values = _evaluate(case, inner, given)
    return [values[i] for i in inner.outputs]


def _control(case, graph, p, values):
    if p.type == "IF":
        condition = values[p.inputs[0]]
        if condition is None:
            raise Refused("no condition")
        given = [values[i] for i in p.inputs[3:]]
        return _call(case, graph, p.inputs[1 if condition.item() else 2], given)
    given = [values[i] for i in p.inputs[2:]]
    for _ in range(MAX_ROUNDS):
        if not _call(case, graph, p.inputs[0], given)[0].item():
            return given[:len(p.outputs)]
        after = _call(case, graph, p.inputs[1], given)
        given[:len(after)] = after
    raise Refused("no end after %d rounds" % MAX_ROUNDS)
