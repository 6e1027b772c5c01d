# SPDX-License-Identifier: MIT
"""Graphs under construction: operands, their values, and whether an operation is kept.

The reference runs while a graph grows, so that each operation can be chosen to fit
the values it gets. Beside the values run two disturbed evaluations: each result that a
device may round in another way is moved by about that rounding, in one of them up and in
the other down. Where they drift apart, the graph multiplies rounding errors and says
nothing about a device; the operation that did it is taken back.

A subgraph is a Graph as well (makers_control.py). It grows on the values it gets first;
bodies of loops are replayed on those they get later.
"""

import struct

import numpy as np

import nntc
import reference
from reference import Value

U8, S8 = "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"
F32, F16 = "TENSOR_FLOAT32", "TENSOR_FLOAT16"
I32, BOOL8 = "TENSOR_INT32", "TENSOR_BOOL8"
S16, A16 = "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_ASYMM"
S8SYMM, CHANNEL = "TENSOR_QUANT8_SYMM", "TENSOR_QUANT8_SYMM_PER_CHANNEL"
FLOAT = (F32, F16)
QUANT = (U8, S8)
FQ = FLOAT + QUANT
FQI = FQ + (I32,)

MAX_ELEMENTS = 1500
MAX_REAL = {F32: 1e4, F16: 500.0, "FLOAT32": 1e4, "FLOAT16": 500.0}

# Operations whose results are the same bytes in every correct implementation, unless
# something is requantized.
EXACT = set("""
    ABS ARGMAX ARGMIN BATCH_TO_SPACE_ND CAST CHANNEL_SHUFFLE CONCATENATION DEPTH_TO_SPACE
    EMBEDDING_LOOKUP EQUAL EXPAND_DIMS FILL FLOOR GATHER GREATER GREATER_EQUAL
    HASHTABLE_LOOKUP LESS LESS_EQUAL LOGICAL_AND LOGICAL_NOT LOGICAL_OR LSH_PROJECTION
    MAXIMUM MAX_POOL_2D MINIMUM NEG NOT_EQUAL PAD PAD_V2 RANDOM_MULTINOMIAL RANK REDUCE_ALL
    REDUCE_ANY REDUCE_MAX REDUCE_MIN RELU RELU1 RELU6 RESHAPE RESIZE_NEAREST_NEIGHBOR
    ROI_POOLING SELECT SLICE SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT SQUEEZE STRIDED_SLICE
    TILE TOPK_V2 TRANSPOSE""".split())
# Of integers these are, too.
EXACT_INTEGER = {"ADD", "SUB", "MUL", "DIV"}


# How IF and WHILE are replayed, by name.
CONTROL = {}


class Unfit(Exception):
    """The operands that were picked do not fit together; pick again."""


class State:
    """What an operand holds: its value, the two disturbed ones, whether bytes count."""

    def __init__(self, value, disturbed=None, exact=True):
        self.value = value
        self.disturbed = disturbed or (value, value)
        self.exact = exact

    def lane(self, k):
        """The value of one of the three evaluations."""
        return self.disturbed[k - 1] if k else self.value


class Tensor:
    """An operand of the graph and what it holds when the graph grows."""

    def __init__(self, lifetime, state):
        self.index = None
        self.lifetime = lifetime
        self.state = state
        self.readers = 0
        self.graph = None		# of a SUBGRAPH
        self.fixed = False		# the HAL wants the model to say the shape
        # Dimensions that are the same in all executions; 0 for the others.
        self.known = [] if self.type in nntc.SCALARS else list(self.dims)

    value = property(lambda self: self.state.value)
    disturbed = property(lambda self: self.state.disturbed)
    exact = property(lambda self: self.state.exact)
    type = property(lambda self: self.value.type)
    dims = property(lambda self: self.value.data.shape)
    rank = property(lambda self: self.value.data.ndim)
    scale = property(lambda self: self.value.scale)
    zero_point = property(lambda self: self.value.zero_point)

    def given(self):
        """The state as operations take it: None of what is omitted."""
        return None if self.lifetime == nntc.NO_VALUE else self.state

    def meet(self, dims):
        """Note that the tensor may have this shape as well."""
        if len(dims) != len(self.known):
            self.known = []
        self.known = [a if a == b else 0 for a, b in zip(self.known, dims)]


class Graph:
    def __init__(self, rng, steps=1):
        self.rng = rng
        self.steps = steps		# operations there will be, for the precision
        self.depth = 0			# graphs it is inside of
        self.tensors = []
        self.operations = []
        self.inner_work = 0		# operations that subgraphs execute
        # In some graphs all operands are given at run time, in others hardly any.
        self.constants = 0.0 if self.chance(0.1) else 0.9 if self.chance(0.1) else None
        self.must_connect = False
        self.results = []		# tensors that operations may read

    def work(self):
        """How many operations are executed."""
        return len(self.operations) + self.inner_work

    def graphs(self):
        """This graph and all that it refers to, each once."""
        found = [self]
        for g in found:
            for t in [t for _, ins, _ in g.operations for t in ins]:
                if t.graph and t.graph not in found:
                    found.append(t.graph)
        return found

    def is_connected(self):
        """Must the next operation read a tensor of the graph?"""
        return bool(self.operations)

    def mark(self):
        """The state that undo() goes back to."""
        return (len(self.tensors), len(self.results), len(self.operations), self.inner_work,
                [t.readers for t in self.tensors])

    def undo(self, mark):
        tensors, results, operations, self.inner_work, readers = mark
        del self.tensors[tensors:], self.results[results:], self.operations[operations:]
        for t, n in zip(self.tensors, readers):
            t.readers = n

    # ---- random numbers ----

    def pick(self, low, high):
        """An integer in [low, high]."""
        return int(self.rng.integers(low, high + 1))

    def chance(self, p):
        return self.rng.random() < p

    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def shape(self, low, high, limit=MAX_ELEMENTS):
        """Dimensions of a rank in [low, high]."""
        rank = self.pick(low, high)
        largest = (24, 12, 8, 6, 4, 3, 3, 2)[max(rank, 1) - 1]
        while True:
            dims = [self.pick(1, largest) for _ in range(rank)]
            if np.prod(dims) <= limit:
                return dims

    def width(self, usual):
        """A number of channels or units; at times more than kernels take at once."""
        return self.pick(1, 40 if self.chance(0.15) else usual)

    def image_shape(self, channels=6):
        depth = self.width(channels)
        size = 8 if depth <= channels else 5
        return [self.pick(1, 2), self.pick(2, size), self.pick(2, size), depth]

    # ---- operands ----

    def add(self, lifetime, state):
        t = Tensor(lifetime, state)
        self.tensors.append(t)
        return t

    def quantization(self, type, real=None):
        """A scale and zero point; those of symmetric types have zero point 0."""
        if type == S16:
            return float(np.float32(2.0 ** -self.pick(9, 13))), 0
        scale = float(np.float32(2.0 ** self.rng.uniform(-8, -4)))
        if type == S8SYMM:
            return scale, 0
        if type == A16:
            return 0.125, 0
        low, _ = reference.QUANTIZED[type]
        return scale, low + self.pick(0, 255)

    def numbers(self, type, dims, low, high):
        """Elements in [low, high]; float ones on a coarse grid, so that some are equal."""
        if type in (I32, "INT32"):
            return self.rng.integers(int(low), int(high) + 1, dims).astype("<i4")
        if type in (BOOL8, "BOOL"):
            return self.rng.integers(0, 2, dims).astype("u1")
        x = self.rng.uniform(low, high, dims)
        grid = 2.0 ** (6 if high - low <= 16 else 3)
        if self.chance(0.6):
            x = np.clip(np.round(x * grid) / grid, low, high)
        return x.astype(nntc.DTYPES[type])

    def lifetime(self, const=None):
        if self.constants is not None:
            const = self.chance(self.constants)
        elif const is None:
            const = self.chance(0.5)
        return nntc.CONSTANT_COPY if const else nntc.INPUT

    def fresh(self, type, dims, low=-4.0, high=4.0, const=None, quant=None):
        """A new input or constant."""
        dims = tuple(int(d) for d in dims)
        if type in reference.QUANTIZED:
            scale, zero = quant or self.quantization(type)
            least, most = reference.QUANTIZED[type]
            if type in QUANT and (low, high) == (-4.0, 4.0):
                data = self.rng.integers(least, most + 1, dims)
            else:
                real = self.rng.uniform(low, high, dims) / scale + zero
                data = np.clip(np.round(real), least, most)
            value = Value(type, data.astype(nntc.DTYPES[type]), scale, zero)
        else:
            if type == I32 and (low, high) == (-4.0, 4.0):
                low, high = self.choice([(-5, 5), (-100, 100), (-2 ** 31, 2 ** 31 - 1)])
            value = Value(type, self.numbers(type, dims, low, high))
        return self.add(self.lifetime(const), State(value))

    def constant(self, type, data, scale=0.0, zero_point=0, const=None, **more):
        """A new constant (or, now and then, input) with this data."""
        if const is None:
            const = self.chance(0.9)
        data = np.asarray(data, nntc.DTYPES[type])
        return self.add(self.lifetime(const),
                        State(Value(type, data, scale, zero_point, **more)))

    def i32(self, v):
        return self.constant("INT32", v)

    def flag(self, v):
        return self.constant("BOOL", 1 if v else 0)

    def real(self, v, like=F32):
        return self.constant("FLOAT16" if like == F16 else "FLOAT32", v)

    def ints(self, v):
        return self.constant(I32, np.asarray(v, np.int32))

    def omitted(self, type, dims=(0,)):
        """An operand without value."""
        scale = 1.0 if type in reference.QUANTIZED else 0.0
        t = self.add(nntc.NO_VALUE, State(Value(type, np.zeros(0, nntc.DTYPES[type]), scale)))
        t.known = list(dims)
        return t

    def subgraph(self, graph):
        """An operand that refers to another graph."""
        t = self.add(nntc.SUBGRAPH, State(Value("SUBGRAPH", np.zeros(()))))
        t.graph = graph
        return t

    def _fits(self, t, types, ranks, low, high, exact):
        if t.type not in types or not ranks[0] <= t.rank <= ranks[1] or (exact and not t.exact):
            return False
        if t.value.data.size == 0 or t.value.data.size > MAX_ELEMENTS:
            return False
        if low is None:
            return True
        return all(v.real.min() >= low and v.real.max() <= high
                   for v in (t.value, *t.disturbed))

    def data(self, types, ranks=(1, 4), low=None, high=None, exact=False, dims=None):
        """A data operand: a result of an operation if one must or may be used, or fresh."""
        known = [t for t in self.results if self._fits(t, types, ranks, low, high, exact)]
        if self.must_connect or (known and self.chance(0.3)):
            if not known:
                raise Unfit("no result fits")
            self.must_connect = False
            unread = [t for t in known if not t.readers]
            return self.choice(unread if unread and self.chance(0.8) else known)
        type = self.choice(types)
        if dims is None:
            dims = self.shape(max(ranks[0], 1), min(ranks[1], 4) if self.chance(0.8)
                              else ranks[1])
        return self.fresh(type, dims, -4.0 if low is None else low,
                          4.0 if high is None else high, const=False)

    def image(self, types, **more):
        return self.data(types, (4, 4), dims=self.image_shape(), **more)

    # ---- operations ----

    def fused(self, type):
        return self.i32(0 if type == I32 or self.chance(0.6) else self.pick(1, 3))

    def _free(self, type, real, least):
        """A quantization that represents these values."""
        low, high = reference.QUANTIZED[type]
        smallest = min(0.0, float(real.min())) if real.size else 0.0
        largest = max(0.0, float(real.max())) if real.size else 1.0
        if self.chance(0.2):
            smallest, largest = smallest * 0.8, largest * 0.8
        scale = max((largest - smallest) / (high - low), 2.0 ** -12, least * 1.0001)
        if self.chance(0.5):
            scale *= self.rng.uniform(1, 2)
        scale = np.float32(scale)
        if scale <= least:
            scale = np.nextafter(scale, np.float32(1e9))
        zero = low - smallest / float(scale)
        return float(scale), int(np.clip(round(zero), low, high))

    def _disturb(self, value, others):
        """The pair of a result as other implementations may have rounded it.

        @others: what the operation made of the two disturbed evaluations. Where they are
        away from the value already, they move on in that direction.
        """
        moved = []
        noise = self.rng.uniform(-1, 1, value.data.shape)
        for other, sign in zip(others, (1, -1)):
            x = other.data
            with np.errstate(all="ignore"):
                away = np.sign(np.nan_to_num(x.astype(np.float64) - value.data))
            direction = np.where(away != 0, away, np.sign(noise) * sign)
            if value.type in reference.QUANTIZED:
                low, high = reference.QUANTIZED[value.type]
                # With few elements each of them has to move, or the effect would not be seen.
                step = np.where((abs(noise) < 0.4) & (x.size >= 16), 0, direction)
                x = x.astype(np.int64)
                x = x + np.where(x == low, abs(step), np.where(x == high, -abs(step), step))
            elif value.type in (F32, F16):
                unit = 2.0 ** -22 if value.type == F32 else 2.0 ** -10
                largest = abs(x).max() if x.size else 0
                with np.errstate(all="ignore"):
                    x = x + direction * abs(noise) * \
                        (unit * abs(x.astype(np.float64)) + unit / 4 * float(largest))
            moved.append(Value(value.type, x.astype(nntc.DTYPES[value.type]), value.scale,
                               value.zero_point))
        return tuple(moved)

    def _check(self, value, disturbed):
        """Raise Unfit if the graph cannot go on with these values."""
        x, y = value.real, disturbed.real
        if value.type in MAX_REAL:
            if not np.isfinite(x).all() or abs(x).max(initial=0) > MAX_REAL[value.type]:
                raise Unfit("values too large")
            limit = {F32: 1e-2 if self.steps <= 5 else 1e-1}.get(value.type, 0.5) / 4
            if (abs(x - y) > limit * (1 + abs(x))).any():
                raise Unfit("ill-conditioned")
        elif value.type in reference.QUANTIZED:
            if (abs(x - y) > 6.01 * value.scale).any():
                raise Unfit("ill-conditioned")
        elif (x != y).any():
            raise Unfit("integers that depend on rounding")

    def op(self, name, ins, outs):
        """Append an operation.

        @outs has a pair per output: its type and its quantization, which is a tensor to
        take it from, a pair, None, or a least scale to choose one that fits.
        """
        return self.append(name, ins, self._compute(name, [t.given() for t in ins], outs))

    def append(self, name, ins, states):
        """Append an operation whose results are known."""
        for t in ins:
            t.readers += 1
        made = [self.add(nntc.TEMPORARY, s) for s in states]
        self.results += [t for t in made if t.rank]
        self.operations.append((name, ins, made))
        return made

    def _compute(self, name, states, outs):
        """States of the results of an operation; None is an omitted operand."""
        given = [s for s in states if s]
        types = [o[0] for o in outs]
        try:
            lanes = [[s and s.lane(k) for s in states] for k in range(3)]
            results = reference.run(name, lanes[0], types)
            clean = all(s.exact for s in given)
            others = [results if clean else reference.run(name, d, types) for d in lanes[1:]]
        except reference.Refused as error:
            raise Unfit(str(error)) from error
        written = []
        for (type, quant), result, *other in zip(outs, results, *others):
            if isinstance(quant, Tensor):
                scale, zero = quant.scale, quant.zero_point
            elif isinstance(quant, tuple):
                scale, zero = quant
            elif type in reference.QUANTIZED:
                scale, zero = self._free(type, np.asarray(result), quant or 0.0)
            else:
                scale, zero = 0.0, 0
            v = Value(type, reference.store(result, type, scale, zero), scale, zero)
            if v.data.size > 4 * MAX_ELEMENTS or v.data.ndim > 8:
                raise Unfit("too large")
            rounds = not self._exact(name, [s.value for s in given], v)
            exact = clean and not rounds
            d = v, v
            if not exact:
                if any(np.shape(getattr(o, "data", o)) != np.shape(v.data) for o in other):
                    raise Unfit("the shape depends on rounding")
                d = tuple(Value(type, reference.store(o, type, scale, zero), scale, zero)
                          for o in other)
                if rounds:
                    d = self._disturb(v, d)
            for moved in d:
                self._check(v, moved)
            written.append(State(v, d, exact))
        return written

    @staticmethod
    def _exact(name, ins, value):
        if name in EXACT_INTEGER and value.type == I32:
            return True
        if name not in EXACT:
            return False
        if value.type not in reference.QUANTIZED:
            return True
        return all((v.scale, v.zero_point) == (value.scale, value.zero_point)
                   for v in ins if v.type == value.type) or name == "CAST"

    def replay(self, inputs):
        """Run a subgraph on other states of its inputs: states of its outputs."""
        now = {}

        def hold(t, state):
            if t.exact and not state.exact:
                raise Unfit("was chosen for a value that is exact")
            t.meet(state.value.shape)
            if t.fixed and t.known != list(t.dims):
                raise Unfit("sizes change")
            now[t] = state

        for t, state in zip(self.inputs, inputs):
            hold(t, state)
        for name, ins, made in self.operations:
            states = [now.get(t, t.given()) for t in ins]
            if name in CONTROL:
                results = CONTROL[name](ins, states, made)
            else:
                results = self._compute(name, states,
                                        [(t.type, (t.scale, t.zero_point)) for t in made])
            for t, state in zip(made, results):
                hold(t, state)
        return [now[t] for t in self.outputs]

    # ---- the case ----

    def cut(self, last):
        """Keep operation number @last and those whose results it needs."""
        needed, kept = set(), []
        for i in range(last, -1, -1):
            _, ins, made = self.operations[i]
            if i == last or any(t in needed for t in made):
                needed.update(ins)
                kept.insert(0, self.operations[i])
        self.operations = kept

    def case(self, name, shapes=0.0, all_outputs=False):
        """The graph as a test case.

        @shapes: share of shapes that are not given; @all_outputs: all results are outputs.
        Also sets self.outputs, the tensors that are.
        """
        used = self._used()
        if all(t.lifetime != nntc.INPUT for t in used):
            # A model has an input.
            self.choice([t for t in used if t.lifetime == nntc.CONSTANT_COPY]).lifetime = \
                nntc.INPUT
        self.inputs = [t for t in used if t.lifetime == nntc.INPUT]
        self.outputs = [t for _, _, made in self.operations for t in made
                        if not t.readers or all_outputs or self.chance(0.1)]
        graphs = self.graphs()
        main, *others = [g._subgraph(shapes, graphs) for g in graphs]
        return nntc.Case(name, main, relaxed=self.chance(0.1), subgraphs=others)

    def _used(self):
        needed = {t for _, ins, made in self.operations for t in (*ins, *made)}
        return [t for t in self.tensors if t in needed]

    def _subgraph(self, shapes, graphs):
        """Operands, operations, inputs and outputs; @graphs: all, in the order they have."""
        used = list(dict.fromkeys(self.inputs + self._used()))
        for index, t in enumerate(used):
            t.index = index
        operations = [nntc.Operation(n, [t.index for t in ins], [t.index for t in made])
                      for n, ins, made in self.operations]
        return nntc.Subgraph([self._operand(t, shapes, graphs) for t in used], operations,
                             [t.index for t in self.inputs], [t.index for t in self.outputs])

    def _operand(self, t, shapes, graphs):
        v, dims = t.value, t.known
        lifetime = nntc.OUTPUT if t in self.outputs else t.lifetime
        if t.graph:
            data = struct.pack("<I", next(i for i, g in enumerate(graphs) if g is t.graph) - 1)
        elif lifetime in (nntc.TEMPORARY, nntc.NO_VALUE) or \
                (self.depth and lifetime in (nntc.INPUT, nntc.OUTPUT)):
            data = b""
        else:
            data = v.data.tobytes()
        if lifetime == nntc.CONSTANT_COPY and len(data) > 128 and self.chance(0.5):
            lifetime = nntc.CONSTANT_REFERENCE
        may_vary = lifetime in (nntc.TEMPORARY, nntc.OUTPUT) or \
            (self.depth and lifetime == nntc.INPUT and not v.channel_scales)
        if may_vary and dims and not t.fixed and self.rng.random() < shapes:
            dims = [] if self.chance(0.3) else [0 if self.chance(0.5) else d for d in dims]
        return nntc.Operand(v.type, lifetime, dims, data, v.scale, v.zero_point,
                            v.channel_dim, v.channel_scales)
