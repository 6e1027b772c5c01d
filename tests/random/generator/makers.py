# SPDX-License-Identifier: MIT
"""Operations on random operands, first part: all but windows, layers and boxes."""

import numpy as np

from .graph import (A16, BOOL8, F16, F32, FLOAT, FQ, FQI, I32, QUANT, S16, S8SYMM, U8,
                    CHANNEL, MAX_ELEMENTS, Unfit)

TABLE = {}


def make(*names):
    """Register a function that appends one of these operations to a graph."""
    def register(function):
        for name in names:
            TABLE[name] = function
        return function
    return register


def attempt(g, name):
    """Append an operation of this name; False if it does not fit."""
    mark = g.mark()
    g.must_connect = g.is_connected()
    try:
        TABLE[name](g, name)
        if not g.must_connect:
            return True
    except Unfit:
        pass
    g.undo(mark)
    return False


# ---- element by element ----

def partner(g, x, types=None, low=-4.0, high=4.0):
    """A second operand that broadcasts with @x, of its type."""
    known = [t for t in g.results if t.type == x.type and g._fits(
        t, (x.type,), (1, max(4, x.rank)), low, high, False) and _broadcasts(t.dims, x.dims)]
    if known and g.chance(0.4):
        return g.choice(known)
    rank = x.rank if g.chance(0.6) else g.pick(1, x.rank)
    dims = [1 if g.chance(0.2) else n for n in x.dims[x.rank - rank:]]
    return g.fresh(x.type, dims, low, high)


def _broadcasts(a, b):
    pairs = list(zip(reversed(a), reversed(b)))
    return all(m == n or m == 1 or n == 1 for m, n in pairs) and \
        np.prod(np.maximum.reduce([np.array(([1] * 8 + list(d))[-8:]) for d in (a, b)])) \
        <= MAX_ELEMENTS


def swapped(g, a, b):
    return (b, a) if g.chance(0.3) else (a, b)


@make("ADD", "SUB", "MUL")
def arithmetic(g, op):
    x = g.data(FQI)
    a, b = swapped(g, x, partner(g, x))
    least = float(np.float32(a.scale) * np.float32(b.scale)) if op == "MUL" else 0.0
    g.op(op, [a, b, g.fused(x.type)], [(x.type, least)])


@make("DIV")
def div(g, op):
    x = g.data(FLOAT + (I32,))
    if x.type == I32:
        y = partner(g, x)
    else:
        y = partner(g, x, low=0.25, high=4.0)
    g.op(op, [x, y, g.fused(x.type)], [(x.type, None)])


@make("MAXIMUM", "MINIMUM")
def extreme(g, op):
    x = g.data(FQI, (1, 8))
    a, b = swapped(g, x, partner(g, x))
    g.op(op, [a, b], [(x.type, x if g.chance(0.3) else None)])


@make("POW")
def power(g, op):
    x = g.data(FLOAT, (1, 8), low=0.25, high=4.0)
    g.op(op, [x, partner(g, x, low=-3.0, high=3.0)], [(x.type, None)])


@make("PRELU")
def prelu(g, op):
    x = g.data(FQ, (1, 8))
    y = partner(g, x)
    least = float(np.float32(x.scale) * np.float32(y.scale))
    g.op(op, [x, y], [(x.type, max(least, 0.0))])


@make("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
def compare(g, op):
    x = g.data(FQI + (BOOL8,), (1, 8), exact=True)
    y = partner(g, x)
    if not y.exact:
        raise Unfit("not exact")
    a, b = swapped(g, x, y)
    g.op(op, [a, b], [(BOOL8, None)])


@make("LOGICAL_AND", "LOGICAL_OR")
def logical(g, op):
    x = g.data((BOOL8,), (1, 8))
    g.op(op, [x, partner(g, x)], [(BOOL8, None)])


@make("LOGICAL_NOT")
def logical_not(g, op):
    g.op(op, [g.data((BOOL8,), (1, 8))], [(BOOL8, None)])


@make("ABS", "NEG")
def sign(g, op):
    x = g.data(FLOAT + (I32,), (1, 8))
    g.op(op, [x], [(x.type, None)])


_DOMAINS = {"EXP": (-4.0, 4.0), "LOG": (0.125, 8.0), "SIN": (-8.0, 8.0), "SQRT": (0.125, 8.0),
            "RSQRT": (0.25, 8.0)}


@make(*_DOMAINS)
def function(g, op):
    low, high = _DOMAINS[op]
    x = g.data(FLOAT, (1, 8), low=low, high=high)
    g.op(op, [x], [(x.type, None)])


@make("FLOOR")
def floor(g, op):
    x = g.data(FLOAT, (1, 4), exact=True)
    g.op(op, [x], [(x.type, None)])


@make("RELU", "RELU1", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "ELU")
def activation(g, op):
    x = g.data(FLOAT if op == "ELU" else FQ, (1, 4))
    ins, quant = [x], x
    if op == "ELU":
        ins.append(g.real(g.rng.uniform(0.1, 2), x.type))
    if op == "HARD_SWISH":
        quant = None
    if op == "LOGISTIC":
        quant = 1 / 256, 0 if x.type == U8 else -128
    if op == "TANH":
        quant = 1 / 128, 128 if x.type == U8 else 0
    if x.type in FLOAT:
        quant = None
    g.op(op, ins, [(x.type, quant)])


@make("SELECT")
def select(g, op):
    if g.must_connect and g.chance(0.5):
        cond = g.data((BOOL8,), (1, 8))
        type = g.choice(FQI)
        a = g.fresh(type, cond.dims)
    else:
        a = g.data(FQI, (1, 8))
        cond = g.fresh(BOOL8, a.dims)
    known = [t for t in g.results if t.type == a.type and t.dims == a.dims]
    b = g.choice(known) if known and g.chance(0.5) else g.fresh(a.type, a.dims)
    g.op(op, [cond, a, b], [(a.type, None)])


@make("QUANTIZE")
def quantize(g, op):
    x = g.data(FLOAT)
    g.op(op, [x], [(g.choice(QUANT), None)])


@make("DEQUANTIZE")
def dequantize(g, op):
    if g.must_connect or g.chance(0.5):
        x = g.data(QUANT)
    elif g.chance(0.5):
        x = g.fresh(S8SYMM, g.shape(1, 4), -1, 1)
    else:
        x = per_channel(g, g.shape(1, 4))
    g.op(op, [x], [(g.choice(FLOAT), None)])


def per_channel(g, dims, axis=None, const=True):
    """A tensor with one scale per channel."""
    axis = g.pick(0, len(dims) - 1) if axis is None else axis
    data = g.rng.integers(-127, 128, dims).astype("i1")
    scales = (2.0 ** g.rng.uniform(-9, -6, dims[axis])).astype("f4")
    return g.constant(CHANNEL, data, channel_dim=axis, channel_scales=tuple(map(float, scales)),
                      const=const)


@make("CAST")
def cast(g, op):
    if not g.must_connect and g.chance(0.1):
        x = g.fresh(g.choice([BOOL8, S8SYMM, S16, A16]), g.shape(1, 8))
        return g.op(op, [x], [(x.type, x)])
    x = g.data(FQI, (1, 8))
    to = g.choice(FQI)
    if not x.exact and to not in FLOAT:
        raise Unfit("not exact")
    quant = x if to == x.type else g.quantization(to) if to in QUANT else None
    g.op(op, [x], [(to, quant)])


# ---- normalizations ----

def axis(g, rank, negative=True):
    return g.pick(-rank if negative else 0, rank - 1)


@make("SOFTMAX")
def softmax(g, op):
    x = g.data(FQ)
    ins = [x, g.real(g.rng.uniform(0.25, 1.5), x.type)]
    if g.chance(0.5):
        ins.append(g.i32(axis(g, x.rank)))
    g.op(op, ins, [(x.type, (1 / 256, 0 if x.type == U8 else -128) if x.type in QUANT
                    else None)])


@make("LOG_SOFTMAX")
def log_softmax(g, op):
    x = g.data(FLOAT, (1, 8))
    g.op(op, [x, g.real(g.rng.uniform(0.25, 1.5), x.type), g.i32(axis(g, x.rank))],
         [(x.type, None)])


@make("L2_NORMALIZATION")
def l2_normalization(g, op):
    x = g.data(FQ)
    ins = [x]
    if g.chance(0.5):
        ins.append(g.i32(axis(g, x.rank)))
    norm = np.sqrt((x.value.real ** 2).sum(axis=ins[1].value.item() if len(ins) > 1 else -1))
    if norm.min() < 0.1:
        raise Unfit("vectors too short")
    g.op(op, ins, [(x.type, (1 / 128, 128 if x.type == U8 else 0) if x.type in QUANT
                    else None)])


@make("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(g, op):
    x = g.data(FLOAT)
    ins = [x, g.i32(g.pick(1, 4)), g.real(g.rng.uniform(0.5, 2), x.type),
           g.real(g.rng.uniform(0.05, 1), x.type), g.real(g.rng.uniform(0.25, 1), x.type)]
    if x.rank < 4 or g.chance(0.5):
        ins.append(g.i32(axis(g, x.rank)))
    g.op(op, ins, [(x.type, None)])


@make("INSTANCE_NORMALIZATION")
def instance_normalization(g, op):
    x = g.image(FLOAT)
    g.op(op, [x, g.real(g.rng.uniform(0.5, 2), x.type), g.real(g.rng.uniform(-1, 1), x.type),
              g.real(g.choice([0.001, 0.01, 0.5]), x.type), g.flag(g.chance(0.5))],
         [(x.type, None)])


# ---- reductions ----

@make("MEAN", "REDUCE_SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL",
      "REDUCE_ANY")
def reduce_(g, op):
    types = FQ if op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN") else \
        (BOOL8,) if op in ("REDUCE_ALL", "REDUCE_ANY") else FLOAT
    x = g.data(types)
    axes = [axis(g, x.rank) for _ in range(g.pick(1, x.rank))]
    if op == "REDUCE_PROD" and x.value.data.size > 60:
        raise Unfit("product of many")
    keep = g.chance(0.5)
    g.op(op, [x, g.ints(axes), g.i32(keep) if op == "MEAN" else g.flag(keep)], [(x.type, x)])


@make("ARGMAX", "ARGMIN")
def argmax(g, op):
    x = g.data(FQI, (1, 8), exact=True)
    g.op(op, [x, g.i32(axis(g, x.rank))], [(I32, None)])


@make("TOPK_V2")
def topk(g, op):
    x = g.data(FQI, (1, 8), exact=True)
    g.op(op, [x, g.i32(g.pick(1, x.dims[-1]))], [(x.type, x), (I32, None)])


# ---- movement ----

def moved(g, types=FQI, ranks=(1, 4), **more):
    return g.data(types, ranks, **more)


@make("RESHAPE")
def reshape(g, op):
    x = moved(g)
    n, dims = x.value.data.size, []
    for _ in range(g.pick(0, 3)):
        factors = [d for d in range(1, n + 1) if n % d == 0]
        dims.append(g.choice(factors[:8]))
        n //= dims[-1]
    dims.append(n)
    if g.chance(0.4):
        dims[g.pick(0, len(dims) - 1)] = -1
    g.op(op, [x, g.ints(dims)], [(x.type, x)])


@make("TRANSPOSE")
def transpose(g, op):
    x = moved(g, FQ)
    if g.chance(0.2):
        order = g.omitted(I32)
    else:
        order = g.ints(g.rng.permutation(x.rank))
    g.op(op, [x, order], [(x.type, x)])


@make("SQUEEZE")
def squeeze(g, op):
    x = moved(g, FQ)
    ones = [i for i, n in enumerate(x.dims) if n == 1]
    if not ones:
        raise Unfit("nothing to squeeze")
    some = [i - x.rank if g.chance(0.3) else i for i in ones if g.chance(0.7)]
    if some and g.chance(0.8):
        dims = g.ints(some)
    else:
        dims = g.omitted(I32)
    g.op(op, [x, dims], [(x.type, x)])


@make("EXPAND_DIMS")
def expand_dims(g, op):
    x = moved(g, FQI, (1, 5))
    g.op(op, [x, g.i32(g.pick(-x.rank - 1, x.rank))], [(x.type, x)])


@make("SLICE")
def slice_(g, op):
    x = moved(g, FQI, (1, 8))
    begin = [g.pick(0, n - 1) for n in x.dims]
    size = [-1 if g.chance(0.2) else g.pick(1, n - b) for n, b in zip(x.dims, begin)]
    g.op(op, [x, g.ints(begin), g.ints(size)], [(x.type, x)])


@make("STRIDED_SLICE")
def strided_slice(g, op):
    x = moved(g, FQ)
    begin, end, step, masks = [], [], [], [0, 0, 0]
    for d, n in enumerate(x.dims):
        first = g.pick(0, n - 1)
        if g.chance(0.15) and x.rank > 1:
            last, stride = first + 1, 1
            masks[2] |= 1 << d
        elif g.chance(0.3):
            last, stride = g.pick(-1, first - 1), -g.pick(1, 2)
            if last == -1:
                last = 0
                masks[1] |= 1 << d
        else:
            last, stride = g.pick(first + 1, n), g.pick(1, 3)
        if not masks[2] >> d & 1 and g.chance(0.2):
            masks[0] |= 1 << d
        begin.append(first - n if g.chance(0.2) else first)
        end.append(last)
        step.append(stride)
    made = g.op(op, [x, g.ints(begin), g.ints(end), g.ints(step)] + [g.i32(m) for m in masks],
                [(x.type, x)])
    if made[0].value.data.size == 0:
        raise Unfit("nothing left")


@make("SPLIT")
def split(g, op):
    x = moved(g)
    a = g.pick(0, x.rank - 1)
    parts = g.choice([d for d in range(1, x.dims[a] + 1) if x.dims[a] % d == 0])
    g.op(op, [x, g.i32(a - x.rank if g.chance(0.3) else a), g.i32(parts)],
         [(x.type, x)] * parts)


@make("TILE")
def tile(g, op):
    x = moved(g, FQI, (1, 8))
    times = [g.pick(1, 3) for _ in x.dims]
    if x.value.data.size * np.prod(times) > MAX_ELEMENTS:
        raise Unfit("too large")
    g.op(op, [x, g.ints(times)], [(x.type, x)])


@make("PAD", "PAD_V2")
def pad(g, op):
    x = moved(g, FQ)
    pads = [[g.pick(0, 2), g.pick(0, 2)] for _ in x.dims]
    ins = [x, g.ints(pads)]
    if op == "PAD_V2":
        if x.type in QUANT:
            ins.append(g.i32(g.pick(0, 255) - (0 if x.type == U8 else 128)))
        else:
            ins.append(g.real(g.rng.uniform(-4, 4), x.type))
    g.op(op, ins, [(x.type, x)])


@make("GATHER")
def gather(g, op):
    x = moved(g, FQI, (1, 6))
    a = g.pick(0, x.rank - 1)
    dims = g.shape(1, 2, 12)
    index = g.rng.integers(0, x.dims[a], dims)
    g.op(op, [x, g.i32(a - x.rank if g.chance(0.3) else a), g.ints(index)], [(x.type, x)])


@make("CHANNEL_SHUFFLE")
def channel_shuffle(g, op):
    x = moved(g, FQ)
    a = g.pick(0, x.rank - 1)
    groups = g.choice([d for d in range(1, x.dims[a] + 1) if x.dims[a] % d == 0])
    g.op(op, [x, g.i32(groups), g.i32(a - x.rank if g.chance(0.3) else a)], [(x.type, x)])


@make("CONCATENATION")
def concatenation(g, op):
    x = moved(g, FQ)
    a = g.pick(0, x.rank - 1)
    parts = [x]
    for _ in range(g.pick(1, 3)):
        known = [t for t in g.results if t.type == x.type and t.rank == x.rank and
                 all(i == a or t.dims[i] == n for i, n in enumerate(x.dims))]
        dims = list(x.dims)
        dims[a] = g.pick(1, 4)
        parts.append(g.choice(known) if known and g.chance(0.5) else g.fresh(x.type, dims))
    g.op(op, parts + [g.i32(a)],
         [(x.type, x if g.chance(0.3) else None)])


@make("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def space_depth(g, op):
    block = g.pick(1, 3)
    n, h, w, d = g.image_shape(3)
    if op == "DEPTH_TO_SPACE":
        dims = [n, h, w, d * block * block]
    else:
        dims = [n, min(h, 3) * block, min(w, 3) * block, d]
    nchw = g.chance(0.4)
    if nchw:
        dims = [dims[0], dims[3], dims[1], dims[2]]
    x = moved(g, FQ, (4, 4), dims=dims)
    y, z, d = x.dims[1:] if not nchw else (x.dims[2], x.dims[3], x.dims[1])
    if (d % (block * block) if op == "DEPTH_TO_SPACE" else y % block + z % block):
        raise Unfit("block")
    ins = [x, g.i32(block)]
    if nchw or g.chance(0.5):
        ins.append(g.flag(nchw))
    g.op(op, ins, [(x.type, x)])


@make("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND")
def space_batch(g, op):
    by, bx = g.pick(1, 2), g.pick(1, 3)
    n, h, w, d = g.image_shape(3)
    dims = [n * by * bx, min(h, 4), min(w, 4), d] if op == "BATCH_TO_SPACE_ND" else \
        [n, h, w, d]
    nchw = g.chance(0.4)
    if nchw:
        dims = [dims[0], dims[3], dims[1], dims[2]]
    x = moved(g, FQ, (4, 4), dims=dims)
    ins = [x, g.ints([by, bx])]
    if op == "BATCH_TO_SPACE_ND":
        if x.dims[0] % (by * bx):
            raise Unfit("block")
    else:
        y, z = x.dims[2:] if nchw else x.dims[1:3]
        pads = []
        for size, block in ((y, by), (z, bx)):
            before = g.pick(0, 2)
            pads.append([before, -(size + before) % block + block * g.pick(0, 1)])
        ins.append(g.ints(pads))
    if nchw or g.chance(0.5):
        ins.append(g.flag(nchw))
    g.op(op, ins, [(x.type, x)])


# ---- tables and shapes ----

@make("FILL")
def fill(g, op):
    type = g.choice([F32, F16, I32])
    value = g.i32(g.pick(-1000, 1000)) if type == I32 else g.real(g.rng.uniform(-4, 4), type)
    g.op(op, [g.ints(g.shape(1, 4)), value], [(type, None)])


@make("RANK")
def rank(g, op):
    x = g.data(FQI + (BOOL8,), (1, 8))
    g.op(op, [x], [("INT32", None)])


@make("EMBEDDING_LOOKUP")
def embedding_lookup(g, op):
    x = g.data(FQI, (2, 4))
    g.op(op, [g.ints(g.rng.integers(0, x.dims[0], g.pick(1, 6))), x], [(x.type, x)])


@make("HASHTABLE_LOOKUP")
def hashtable_lookup(g, op):
    x = g.data((F32, I32, U8), (2, 4))
    keys = np.sort(g.rng.choice(np.arange(-20, max(60, x.dims[0])), x.dims[0],
                                replace=False))
    wanted = [g.choice(list(keys)) if g.chance(0.7) else g.pick(-20, 60)
              for _ in range(g.pick(1, 6))]
    g.op(op, [g.ints(wanted), g.ints(keys), x], [(x.type, x), (U8, (1.0, 0))])


@make("LSH_PROJECTION")
def lsh_projection(g, op):
    functions, bits = g.pick(1, 4), g.pick(1, 6)
    seeds = g.fresh(g.choice(FLOAT), [functions, bits], 0, 1)
    x = g.data((F32, I32, U8), (1, 2), exact=True)
    if x.value.data[0].nbytes > 56:
        raise Unfit("rows too long")
    if g.chance(0.6):
        weights = g.fresh(seeds.type, [x.dims[0]], 0.25, 2)
    else:
        weights = g.omitted(seeds.type)
    g.op(op, [seeds, x, weights, g.i32(g.pick(2, 3))], [(I32, None)])


@make("RANDOM_MULTINOMIAL")
def random_multinomial(g, op):
    x = g.data(FLOAT, (2, 2), exact=True)
    g.op(op, [x, g.i32(g.pick(1, 12)), g.ints([g.pick(-2 ** 31, 2 ** 31 - 1),
                                                g.pick(-2 ** 31, 2 ** 31 - 1)])], [(I32, None)])
