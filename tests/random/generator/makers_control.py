# SPDX-License-Identifier: MIT
"""Operations on random operands, last part: IF and WHILE, whose subgraphs are random.

Both subgraphs of an IF grow on the values of the operands, so that either could be taken; the
results are those of the one that is taken. Those of a WHILE grow on the first values;
then the loop runs, and where a later round multiplies rounding errors or leaves the domain
of an operation, the WHILE is taken back. A subgraph may have others in it.
"""

import numpy as np

import nntc

from .graph import BOOL8, CONTROL, FQI, I32, MAX_ELEMENTS, Graph, State, Unfit
from .makers import TABLE, attempt, make

# Types of operands that are passed; other types are passed if a subgraph asks for them.
PASSED = FQI + (BOOL8,)
MAX_DEPTH = 3
MAX_ROUNDS = 6


def pick_name(g):
    """Which operation to try next: now and then IF or WHILE."""
    if g.depth < MAX_DEPTH and g.chance(0.07):
        return g.choice(("IF", "WHILE"))
    return g.choice(sorted(TABLE))


class Inner(Graph):
    """A subgraph of another graph: its inputs come from there."""

    def __init__(self, outer, operands):
        super().__init__(outer.rng, outer.steps)
        self.depth = outer.depth + 1
        # Now and then an operand that could be a constant is an input.
        self.constants = 0.8
        self.inputs = []
        self.outputs = []
        for t, exact in operands:
            own = self.add(nntc.INPUT, State(t.value, t.disturbed, exact))
            if own.rank:
                self.results.append(own)

    def add(self, lifetime, state):
        t = super().add(lifetime, state)
        if lifetime == nntc.INPUT:
            self.inputs.append(t)
        return t

    def is_connected(self):
        return bool(self.operations) or self.chance(0.9)

    def mark(self):
        return len(self.inputs), super().mark()

    def undo(self, mark):
        del self.inputs[mark[0]:]
        super().undo(mark[1])

    def add_unused(self, value):
        """An input that nothing reads."""
        return Graph.add(self, nntc.INPUT, State(value))

    def grow(self, steps):
        for _ in range(10 * steps):
            if len(self.operations) < steps:
                attempt(self, pick_name(self))

    def written(self):
        return [t for _, _, made in self.operations for t in made if _is_passed(t)]


def _is_passed(t):
    return t.type in PASSED and 0 < t.value.data.size <= MAX_ELEMENTS


def _quant(t):
    return t.scale, t.zero_point


# ---- operands ----

def _some(g, fits, type=None):
    """A tensor to pass: known or fresh."""
    known = [t for t in g.results if _is_passed(t) and fits(t)]
    if known and g.chance(0.6):
        return g.choice(known)
    return g.fresh(type or g.choice(PASSED), g.shape(1, 4, 200))


def _join(g, inners, operands):
    """Give subgraphs the same inputs; the operands of @g for them.

    Inputs that one of them needs beside @operands are added to @g and to all of them.
    """
    count = len(operands)
    more = [(inner, t) for inner in inners for t in inner.inputs[count:]]
    for inner in inners:
        inner.inputs[count:] = [t if owner is inner else inner.add_unused(t.value)
                                for owner, t in more]
    return operands + [g.add(g.lifetime(), State(t.value)) for _, t in more]


def _element(g, x):
    """One element of a tensor, of shape [1]."""
    if x.dims != (1,):
        if x.rank > 1:
            x, = g.op("RESHAPE", [x, g.ints([-1])], [(x.type, x)])
        x, = g.op("SLICE", [x, g.ints([g.pick(0, x.dims[0] - 1)]), g.ints([1])], [(x.type, x)])
    return x


def _computed_condition(g):
    known = [t for t in g.results if t.exact and _is_passed(t) and t.rank <= 4 and
             t.known == list(t.dims)]
    # Counters of loops are integers.
    counters = [t for t in known if t.type == I32 and t.dims == (1,)]
    if counters and g.chance(0.5):
        x = g.choice(counters)
    else:
        x = g.choice(known) if known else g.fresh(g.choice(PASSED), g.shape(1, 3, 60))
    if x.type == BOOL8:
        if x.dims == (1,):
            return g.op("LOGICAL_NOT", [x], [(BOOL8, None)])[0]
        return g.op(g.choice(("REDUCE_ANY", "REDUCE_ALL")),
                    [x, g.ints(range(x.rank)), g.flag(False)], [(BOOL8, None)])[0]
    x = _element(g, x)
    y = g.constant(x.type, x.value.data + np.asarray([g.pick(-1, 1)]).astype(x.value.data.dtype),
                   x.scale, x.zero_point)
    op = g.choice(("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"))
    return g.op(op, [x, y], [(BOOL8, None)])[0]


def _condition(g):
    """A TENSOR_BOOL8 of shape [1]: an input, an existing result, or computed for this."""
    known = [t for t in g.results if t.type == BOOL8 and t.known == [1] and t.exact]
    if known and g.chance(0.5):
        t = g.choice(known)
    elif g.chance(0.45):
        t = _computed_condition(g)
    else:
        t = g.constant(BOOL8, [g.pick(0, 1)], const=g.chance(0.3))
    if not t.exact or t.known != [1]:
        raise Unfit("no condition")
    t.fixed = True
    return t


def _is_true(state):
    if not state.exact or state.value.shape != (1,):
        raise Unfit("no condition")
    return bool(state.value.data[0])


# ---- outputs of a subgraph ----

def _copy(g, x, like):
    """A tensor with the elements of another one, in the quantization of a third."""
    op = g.choice(("LOGICAL_AND", "LOGICAL_OR") if x.type == BOOL8 else ("MAXIMUM", "MINIMUM"))
    return g.op(op, [x, x], [(like.type, like)])[0]


def _match(g, like, taken, same_shape):
    """A result of the type and quantization of @like, and perhaps of its shape."""
    def fits(t):
        return t.type == like.type and 0 < t.value.data.size <= MAX_ELEMENTS and \
            (not same_shape or t.dims == like.dims)

    written = [t for t in g.written() if fits(t) and _quant(t) == _quant(like) and
               t not in taken]
    if written and g.chance(0.7):
        return g.choice(written)
    known = [t for t in g.results if fits(t)]
    x = g.choice(known) if known else g.fresh(like.type, like.dims, quant=_quant(like))
    return _copy(g, x, like)


@make("IF")
def if_(g, op):
    if g.depth >= MAX_DEPTH:
        raise Unfit("too deep")
    operands = [g.data(PASSED)]
    operands += [_some(g, lambda t: True) for _ in range(g.pick(0, 2))]
    if g.chance(0.1):
        operands.append(operands[0])
    condition = _condition(g)
    first = second = Inner(g, [(t, t.exact) for t in operands])
    first.grow(g.pick(1, 4))
    written = first.written()
    if not written:
        raise Unfit("nothing to give")
    count = min(g.pick(1, 2), len(written))
    first.outputs = [written[i] for i in sorted(g.rng.permutation(len(written))[:count])]
    branches = [first]
    if g.chance(0.9):
        second = Inner(g, [(t, t.exact) for t in operands])
        second.grow(g.pick(0, 3))
        same_shape = g.chance(0.5)
        for t in first.outputs:
            second.outputs.append(_match(second, t, second.outputs, same_shape))
        branches.append(second)
        g.rng.shuffle(branches)
    operands = _join(g, branches, operands)
    taken, other = branches[0], branches[-1]
    if not condition.value.data[0]:
        taken, other = other, taken
    made = g.append(op, [condition, g.subgraph(branches[0]), g.subgraph(branches[-1])] + operands,
                    [t.state for t in taken.outputs])
    for t, a, b in zip(made, taken.outputs, other.outputs):
        t.known = list(a.known)
        t.meet(b.known)
    g.inner_work += taken.work()


def replay_if(ins, states, _):
    return ins[1 if _is_true(states[0]) else 2].graph.replay(states[3:])


CONTROL["IF"] = replay_if


# ---- loops ----

class _Counter:
    """How a loop counts: from a start by a step, until a comparison is false."""

    def __init__(self, g):
        rounds = g.choice((0, 1, 1, 2, 2, 3, 4))
        step = g.choice((1, 1, 2, 3, -1, -2))
        start = g.pick(-5, 5)
        end = start + step * rounds
        self.step = step
        slack = g.pick(0, abs(step) - 1)
        up = step > 0
        # Each comparison holds for the values before @end, and not for @end.
        self.compare, bound, self.swapped = g.choice((
            ("LESS" if up else "GREATER", end - slack if up else end + slack, False),
            ("GREATER" if up else "LESS", end - slack if up else end + slack, True),
            ("LESS_EQUAL" if up else "GREATER_EQUAL",
             end - slack - 1 if up else end + slack + 1, False),
            ("NOT_EQUAL", end, False)))
        # With several counters the loop ends with the last of them.
        self.several = self.compare != "NOT_EQUAL" and g.chance(0.3)
        first = [start]
        if self.several:
            first += [start + step * g.pick(0, 4) for _ in range(g.pick(0, 3))]
        self.tensor = g.constant(I32, first, const=g.chance(0.5))
        self.bound = None
        self.limit = bound
        if g.chance(0.5):
            self.bound = g.constant(I32, [bound], const=g.chance(0.5))
            if g.chance(0.3):
                part = g.pick(-9, 9)
                self.bound, = g.op("ADD", [g.ints([part]), g.ints([bound - part]), g.i32(0)],
                                   [(I32, None)])

    def condition(self, g, own):
        """Append the condition of the loop to @g; @own: maps an outer tensor to that of @g."""
        bound = own(self.bound) if self.bound else g.ints([self.limit])
        pair = [own(self.tensor), bound]
        if self.swapped:
            pair.reverse()
        t, = g.op(self.compare, pair, [(BOOL8, None)])
        if self.several:
            t, = g.op("REDUCE_ANY", [t, g.ints([0]), g.flag(False)], [(BOOL8, None)])
        return t

    def next(self, g, counter):
        if g.chance(0.5):
            return g.op("ADD", [counter, g.ints([self.step]), g.i32(0)], [(I32, None)])[0]
        return g.op("SUB", [counter, g.ints([-self.step]), g.i32(0)], [(I32, None)])[0]


def _advance(g, t, taken):
    """The next value of @t: a tensor of its type, shape and quantization."""
    if g.chance(0.5):
        return _match(g, t, taken, True)
    known = [k for k in g.results if k.type == t.type and k.dims == t.dims]
    x = t if g.chance(0.6) else g.choice(known)
    y = g.choice(known) if g.chance(0.4) else \
        g.fresh(t.type, t.dims if g.chance(0.7) else [1], quant=_quant(t))
    if t.type == BOOL8:
        if g.chance(0.3):
            return g.op("LOGICAL_NOT", [x], [(BOOL8, None)])[0]
        return g.op(g.choice(("LOGICAL_AND", "LOGICAL_OR", "EQUAL", "NOT_EQUAL")), [x, y],
                    [(BOOL8, None)])[0]
    op = g.choice(("ADD", "SUB", "MAXIMUM", "MINIMUM") if t.rank <= 4 else
                  ("MAXIMUM", "MINIMUM"))
    return g.op(op, [x, y] + ([g.fused(t.type)] if op in ("ADD", "SUB") else []),
                [(t.type, t)])[0]


def _of_known_size(t):
    return t.known == list(t.dims)


@make("WHILE")
def while_(g, op):
    if g.depth >= MAX_DEPTH:
        raise Unfit("too deep")
    x = g.data(PASSED)
    counter = _Counter(g)
    carried = [x] + [_some(g, _of_known_size) for _ in range(g.pick(0, 1))] + [counter.tensor]
    g.rng.shuffle(carried)
    constant = [_some(g, _of_known_size) for _ in range(g.pick(0, 1))]
    constant += [counter.bound] if counter.bound else []
    operands = carried + constant
    if not all(map(_of_known_size, operands)):
        raise Unfit("sizes are not known")

    # What is rounded once is rounded in each round, from the second on what it came from, too.
    def stays_exact(t):
        return t.exact and (t.type in (I32, BOOL8) or t in constant or g.chance(0.2))

    pairs = [(t, stays_exact(t)) for t in operands]
    body, condition = Inner(g, pairs), Inner(g, pairs)
    body.grow(g.pick(0, 3))
    for t, own in zip(carried, list(body.inputs)):
        body.outputs.append(counter.next(body, own) if t is counter.tensor
                            else _advance(body, own, body.outputs))
    condition.grow(g.pick(0, 1))
    go_on = counter.condition(condition,
                              lambda t: condition.inputs[operands.index(t)])
    condition.outputs = [go_on]
    operands = _join(g, [condition, body], operands)
    count = g.pick(1, len(carried))
    results, rounds = _run(condition, body, [t.state for t in operands], count)
    made = g.append(op, [g.subgraph(condition), g.subgraph(body)] + operands, results)
    for t in operands + made + condition.inputs + body.inputs + body.outputs + [go_on]:
        if not _of_known_size(t):
            raise Unfit("sizes are not known")
        t.fixed = True
    g.inner_work += rounds * body.work() + (rounds + 1) * condition.work()


def _run(condition, body, states, count):
    """States of the first operands when the loop ends; how often its body ran."""
    states = list(states)
    for rounds in range(MAX_ROUNDS + 1):
        if any(s.value.shape != t.dims for s, t in zip(states, body.inputs)):
            raise Unfit("sizes change")
        if not _is_true(condition.replay(states)[0]):
            return states[:count], rounds
        after = body.replay(states)
        states[:len(after)] = after
    raise Unfit("too many rounds")


def replay_while(ins, states, made):
    return _run(ins[0].graph, ins[1].graph, states[2:], len(made))[0]


CONTROL["WHILE"] = replay_while
