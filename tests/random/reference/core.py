# SPDX-License-Identifier: MIT
"""Values, conversions and the table of reference operations.

The reference computes in real arithmetic: it dequantizes values to float64, applies the formula
of the operation and quantizes the result to the type of the output. It shares nothing with the
device model, whose quantized arithmetic is that of integers.
"""

import numpy as np

from nntc import DTYPES, FLOATS, QUANTIZED


class Refused(Exception):
    """The operation does not take these operands."""


class Raw:
    """A result in the output's own representation, not a real number."""

    def __init__(self, data):
        self.data = np.asarray(data)


class Value:
    """A tensor or scalar: elements as they are stored, and what they stand for."""

    def __init__(self, type, data, scale=0.0, zero_point=0, channel_dim=0, channel_scales=()):
        self.type = type
        self.data = data
        self.scale = scale
        self.zero_point = zero_point
        self.channel_dim = channel_dim
        self.channel_scales = channel_scales
        self._real = None

    @property
    def shape(self):
        return self.data.shape

    @property
    def rank(self):
        return self.data.ndim

    @property
    def quantized(self):
        return self.type in QUANTIZED

    @property
    def real(self):
        """The real numbers the elements stand for, as float64."""
        if self._real is None:
            if self.type == "TENSOR_QUANT8_SYMM_PER_CHANNEL":
                shape = [1] * self.rank
                shape[self.channel_dim] = -1
                scales = np.asarray(self.channel_scales, np.float32).astype(np.float64)
                self._real = self.data.astype(np.float64) * scales.reshape(shape)
            elif self.quantized:
                self._real = (self.data.astype(np.float64) - self.zero_point) * \
                    np.float64(np.float32(self.scale))
            elif self.type == "TENSOR_INT32" and self.scale:
                self._real = self.data.astype(np.float64) * np.float64(np.float32(self.scale))
            else:
                self._real = self.data.astype(np.float64)
        return self._real

    @property
    def integer(self):
        return self.data.astype(np.int64)

    def item(self):
        """The value of a scalar."""
        return self.data.reshape(-1)[0].item()


def round_away(x):
    """To the nearest integer, halves away from zero."""
    return np.trunc(x + np.copysign(0.5, x))


def store(result, type, scale=0.0, zero_point=0):
    """A result in the representation of a type."""
    dtype = DTYPES[type]
    if isinstance(result, Raw):
        return np.asarray(result.data, dtype, order="C")
    if type in QUANTIZED:
        low, high = QUANTIZED[type]
        q = round_away(np.asarray(result) / np.float64(np.float32(scale))) + zero_point
        return np.clip(q, low, high).astype(dtype)
    with np.errstate(over="ignore"):
        return np.asarray(result, dtype, order="C")


class Call:
    """What an operation sees: its inputs (None: omitted) and the types of its outputs."""

    def __init__(self, op, ins, out_types):
        self.op = op
        self.ins = ins
        self.out_types = out_types

    def __len__(self):
        return len(self.ins)

    def __getitem__(self, i):
        return self.ins[i]

    def real(self, i):
        return self.ins[i].real

    def item(self, i, default=None):
        """A scalar input, or the default if it is not there."""
        if i >= len(self.ins) or self.ins[i] is None:
            return default
        return self.ins[i].item()

    def list(self, i):
        return [int(v) for v in self.ins[i].data.reshape(-1)]


TABLE = {}


def operation(*names):
    """Register a function as the reference of operations."""
    def register(function):
        for name in names:
            TABLE[name] = function
        return function
    return register


def run(op, ins, out_types):
    """Results of an operation, one per output: real arrays or Raw."""
    with np.errstate(all="ignore"):
        return TABLE[op](Call(op, ins, out_types))


def activate(x, code):
    """Fused activation."""
    if code == 1:
        return np.maximum(x, 0)
    if code == 2:
        return np.clip(x, -1, 1)
    if code == 3:
        return np.clip(x, 0, 6)
    return x


def axis_of(axis, rank):
    if not -rank <= axis < rank:
        raise Refused("axis %d of rank %d" % (axis, rank))
    return axis % rank
