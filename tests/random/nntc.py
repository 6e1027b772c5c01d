# SPDX-License-Identifier: MIT
"""NNTC files: models with inputs and expected outputs as plain numbers.

The format is the one that userspace/tools/common/nntc.c reads: little-endian, packed. Names and
numbers of types and operations come from the library's public header.
"""

import os
import re
import struct

import numpy as np

TEMPORARY, INPUT, OUTPUT, CONSTANT_COPY, CONSTANT_REFERENCE, NO_VALUE, SUBGRAPH = range(7)

_HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../userspace/libnnhal/include/nnhal/types.h")


def _numbers(name):
    with open(_HEADER, encoding="utf-8") as header:
        text = header.read()
    body = re.search(r"#define " + name + r"\(X\) \\\n((?:.*\\\n)*.*\n)", text).group(1)
    return {m.group(1): int(m.group(2)) for m in re.finditer(r"X\((\w+), (\d+)\)", body)}


TYPES = _numbers("NNHAL_OPERAND_TYPE_LIST")
OPERATIONS = _numbers("NNHAL_OPERATION_TYPE_LIST")
TYPE_NAMES = {number: name for name, number in TYPES.items()}
OPERATION_NAMES = {number: name for name, number in OPERATIONS.items()}

DTYPES = {
    "FLOAT32": np.dtype("<f4"), "INT32": np.dtype("<i4"), "UINT32": np.dtype("<u4"),
    "TENSOR_FLOAT32": np.dtype("<f4"), "TENSOR_INT32": np.dtype("<i4"),
    "TENSOR_QUANT8_ASYMM": np.dtype("u1"), "BOOL": np.dtype("u1"),
    "TENSOR_QUANT16_SYMM": np.dtype("<i2"), "TENSOR_FLOAT16": np.dtype("<f2"),
    "TENSOR_BOOL8": np.dtype("u1"), "FLOAT16": np.dtype("<f2"),
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": np.dtype("i1"),
    "TENSOR_QUANT16_ASYMM": np.dtype("<u2"), "TENSOR_QUANT8_SYMM": np.dtype("i1"),
    "TENSOR_QUANT8_ASYMM_SIGNED": np.dtype("i1"),
}
SCALARS = {"FLOAT32", "INT32", "UINT32", "BOOL", "FLOAT16", "SUBGRAPH"}

# Quantized types and the range of their elements.
QUANTIZED = {
    "TENSOR_QUANT8_ASYMM": (0, 255), "TENSOR_QUANT8_ASYMM_SIGNED": (-128, 127),
    "TENSOR_QUANT8_SYMM": (-128, 127), "TENSOR_QUANT16_ASYMM": (0, 65535),
    "TENSOR_QUANT16_SYMM": (-32768, 32767), "TENSOR_QUANT8_SYMM_PER_CHANNEL": (-128, 127),
}
FLOATS = {"TENSOR_FLOAT32", "TENSOR_FLOAT16", "FLOAT32", "FLOAT16"}


class Operand:
    """An operand; type is a name, data bytes (b"" where there are none)."""

    def __init__(self, type, lifetime, dims=(), data=b"", scale=0.0, zero_point=0,
                 channel_dim=0, channel_scales=(), ignore=False):
        self.type = type
        self.lifetime = lifetime
        self.dims = tuple(int(d) for d in dims)
        self.data = data
        self.scale = float(scale)
        self.zero_point = int(zero_point)
        self.channel_dim = channel_dim
        self.channel_scales = tuple(channel_scales)
        self.ignore = ignore

    def array(self):
        """The data as an array of the operand's shape."""
        shape = () if self.type in SCALARS else self.dims
        return np.frombuffer(self.data, DTYPES[self.type]).reshape(shape)


class Operation:
    def __init__(self, type, inputs, outputs):
        self.type = type
        self.inputs = list(inputs)
        self.outputs = list(outputs)


class Subgraph:
    def __init__(self, operands, operations, inputs, outputs):
        self.operands = operands
        self.operations = operations
        self.inputs = list(inputs)
        self.outputs = list(outputs)


class Case(Subgraph):
    """A model with data: its main subgraph, and those that it refers to."""

    def __init__(self, name, main, relaxed=False, expect_failure=False, tolerance=0.0,
                 subgraphs=(), version=4):
        super().__init__(main.operands, main.operations, main.inputs, main.outputs)
        self.name = name
        self.relaxed = relaxed
        self.expect_failure = expect_failure
        self.tolerance = tolerance
        self.subgraphs = list(subgraphs)
        self.version = version  # 0: not known, 1 to 4: HAL 1.0 to 1.3

    def all_operations(self):
        """Those of all subgraphs."""
        return [p for g in [self] + self.subgraphs for p in g.operations]


class _Reader:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) != 1 else values[0]

    def bytes(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def array(self, code, n):
        return list(struct.unpack("<%d%s" % (n, code), self.bytes(4 * n)))


def _read_subgraph(r):
    num_operands, num_operations, num_inputs, num_outputs = r.take("4I")
    operands = []
    for _ in range(num_operands):
        type_, lifetime, ignore, rank, _ = r.take("IBBBB")
        scale, zero_point, channel_dim, num_scales = r.take("fiII")
        dims = r.array("I", rank)
        scales = r.array("f", num_scales)
        data = r.bytes(r.take("I"))
        operands.append(Operand(TYPE_NAMES.get(type_, str(type_)), lifetime, dims, data,
                                scale, zero_point, channel_dim, scales, bool(ignore)))
    operations = []
    for _ in range(num_operations):
        type_, num_in, num_out = r.take("IHH")
        indexes = r.array("I", num_in + num_out)
        operations.append(Operation(OPERATION_NAMES.get(type_, str(type_)),
                                    indexes[:num_in], indexes[num_in:]))
    return Subgraph(operands, operations, r.array("I", num_inputs), r.array("I", num_outputs))


def read(path):
    """The cases of a file."""
    with open(path, "rb") as f:
        r = _Reader(f.read())
    if r.bytes(4) != b"NNTC" or r.take("I") != 1:
        raise ValueError(path + ": not an NNTC file of version 1")
    cases = []
    for _ in range(r.take("I")):
        name = r.bytes(r.take("H")).decode()
        version, relaxed, failure, _, tolerance, num_subgraphs = r.take("4BfI")
        main, *others = [_read_subgraph(r) for _ in range(num_subgraphs)]
        cases.append(Case(name, main, bool(relaxed), bool(failure), tolerance, others,
                          version))
    return cases


def _subgraph_bytes(g):
    out = [struct.pack("<4I", len(g.operands), len(g.operations), len(g.inputs),
                       len(g.outputs))]
    for o in g.operands:
        out.append(struct.pack("<IBBBBfiII", TYPES[o.type], o.lifetime, o.ignore, len(o.dims),
                               0, o.scale, o.zero_point, o.channel_dim, len(o.channel_scales)))
        out.append(struct.pack("<%dI" % len(o.dims), *o.dims))
        out.append(struct.pack("<%df" % len(o.channel_scales), *o.channel_scales))
        out.append(struct.pack("<I", len(o.data)))
        out.append(o.data)
    for p in g.operations:
        indexes = p.inputs + p.outputs
        out.append(struct.pack("<IHH%dI" % len(indexes), OPERATIONS[p.type], len(p.inputs),
                               len(p.outputs), *indexes))
    indexes = g.inputs + g.outputs
    out.append(struct.pack("<%dI" % len(indexes), *indexes))
    return b"".join(out)


def _case_bytes(case):
    name = case.name.encode()
    return b"".join([
        struct.pack("<H", len(name)), name,
        struct.pack("<4BfI", case.version, case.relaxed, case.expect_failure, 0, case.tolerance,
                    1 + len(case.subgraphs))] +
        [_subgraph_bytes(g) for g in [case] + case.subgraphs])


def write(path, cases):
    """Write cases to a file."""
    with open(path, "wb") as f:
        f.write(b"NNTC" + struct.pack("<II", 1, len(cases)))
        for case in cases:
            f.write(_case_bytes(case))
