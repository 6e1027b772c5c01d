# SPDX-License-Identifier: MIT
"""Read TensorFlow Lite model files into plain Python objects.

Understands what reference.py needs: the first subgraph, its tensors with data
and quantisation, its operators with their options by schema slot.  Every
access is checked against the file's size; a malformed file raises ModelError.
"""
import struct
from dataclasses import dataclass, field

import numpy as np

DTYPES = {0: "<f4", 2: "<i4", 3: "u1", 4: "<i8", 9: "i1"}

OPERATOR_NAMES = {
    1: "AVERAGE_POOL_2D", 3: "CONV_2D", 4: "DEPTHWISE_CONV_2D",
    9: "FULLY_CONNECTED", 17: "MAX_POOL_2D", 22: "RESHAPE", 25: "SOFTMAX",
}


class ModelError(ValueError):
    """The file is not a model this reader can take."""


@dataclass
class Tensor:
    name: str
    shape: tuple
    dtype: np.dtype
    data: np.ndarray        # None for a tensor that is computed
    scale: np.ndarray       # float32, empty when not quantised
    zero_point: np.ndarray  # int64, as long as scale
    axis: int


@dataclass
class Operator:
    name: str
    version: int
    inputs: list
    outputs: list
    options: "TableView"


@dataclass
class Model:
    description: str
    tensors: list = field(default_factory=list)
    operators: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)


def _unpack(buf, code, at):
    if at < 0 or at + struct.calcsize(code) > len(buf):
        raise ModelError("offset %d lies outside the file" % at)
    return struct.unpack_from("<" + code, buf, at)[0]


class TableView:
    """One FlatBuffers table; fields are named by schema slot."""

    def __init__(self, buf, at):
        self.buf = buf
        self.at = at
        self.vtable = at - _unpack(buf, "i", at)
        self.slots = (_unpack(buf, "H", self.vtable) - 4) // 2

    def _field(self, slot):
        if slot >= self.slots:
            return None
        offset = _unpack(self.buf, "H", self.vtable + 4 + 2 * slot)
        return self.at + offset if offset else None

    def scalar(self, slot, code, default=0):
        at = self._field(slot)
        return default if at is None else _unpack(self.buf, code, at)

    def _target(self, slot):
        at = self._field(slot)
        return None if at is None else at + _unpack(self.buf, "I", at)

    def table(self, slot):
        at = self._target(slot)
        return None if at is None else TableView(self.buf, at)

    def tables(self, slot):
        at = self._target(slot)
        if at is None:
            return []
        places = [at + 4 + 4 * i for i in range(_unpack(self.buf, "I", at))]
        return [TableView(self.buf, p + _unpack(self.buf, "I", p))
                for p in places]

    def array(self, slot, dtype):
        """A vector of scalars, or None when the field is absent."""
        at = self._target(slot)
        if at is None:
            return None
        count = _unpack(self.buf, "I", at)
        dtype = np.dtype(dtype)
        if at + 4 + count * dtype.itemsize > len(self.buf):
            raise ModelError("a vector at %d runs past the file's end" % at)
        return np.frombuffer(self.buf, dtype, count, at + 4)

    def string(self, slot):
        data = self.array(slot, "u1")
        return "" if data is None else data.tobytes().decode()


def _array(table, slot, dtype):
    data = table.array(slot, dtype) if table else None
    return np.zeros(0, dtype) if data is None else data


def _read_tensor(table, buffers):
    name = table.string(3)
    code = table.scalar(1, "b")
    if code not in DTYPES:
        raise ModelError("tensor %s has type %d" % (name, code))
    dtype = np.dtype(DTYPES[code])
    shape = tuple(int(d) for d in _array(table, 0, "<i4"))
    index = table.scalar(2, "I")
    if index >= len(buffers):
        raise ModelError("tensor %s: there is no buffer %d" % (name, index))
    raw = buffers[index].array(0, "u1")
    data = None
    if raw is not None and raw.size:
        if raw.size != int(np.prod(shape)) * dtype.itemsize:
            raise ModelError("tensor %s: %d bytes of data for shape %s" % (
                name, raw.size, shape))
        data = np.frombuffer(raw.tobytes(), dtype).reshape(shape)
    quant = table.table(4)
    return Tensor(name, shape, dtype, data, _array(quant, 2, "<f4"),
                  _array(quant, 3, "<i8"),
                  quant.scalar(6, "i") if quant else 0)


def _read_operator(table, codes):
    index = table.scalar(0, "I")
    if index >= len(codes):
        raise ModelError("there is no operator code %d" % index)
    code = max(codes[index].scalar(0, "b"), codes[index].scalar(3, "i"))
    if code not in OPERATOR_NAMES:
        raise ModelError("operator %d is not supported" % code)
    return Operator(OPERATOR_NAMES[code], codes[index].scalar(2, "i", 1),
                    [int(i) for i in _array(table, 1, "<i4")],
                    [int(i) for i in _array(table, 2, "<i4")], table.table(4))


def read(path):
    """Return the Model in the file `path`."""
    with open(path, "rb") as file:
        buf = file.read()
    if buf[4:8] != b"TFL3":
        raise ModelError("%s: not a TensorFlow Lite model" % path)
    root = TableView(buf, _unpack(buf, "I", 0))
    if root.scalar(0, "I") != 3:
        raise ModelError("%s: schema version %d, expected 3" % (
            path, root.scalar(0, "I")))
    graphs = root.tables(2)
    if len(graphs) != 1:
        raise ModelError("%s: %d subgraphs, expected 1" % (path, len(graphs)))
    codes = root.tables(1)
    buffers = root.tables(4)
    return Model(root.string(3),
                 [_read_tensor(t, buffers) for t in graphs[0].tables(0)],
                 [_read_operator(t, codes) for t in graphs[0].tables(3)],
                 [int(i) for i in _array(graphs[0], 1, "<i4")],
                 [int(i) for i in _array(graphs[0], 2, "<i4")])
