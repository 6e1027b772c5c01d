# SPDX-License-Identifier: MIT
"""Write .tflite files (schema version 3)."""

import os
import re

import numpy as np

from flatbuffer import Table, Vector, write

_SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../userspace/libnntflite/file/schema.h")
with open(_SCHEMA, encoding="utf-8") as _header:
    NUMBERS = {name: int(n) for name, n in re.findall(r"TFLITE_(\w+) = (\d+),", _header.read())}
    OPTIONS = {name[:-8]: n for name, n in NUMBERS.items() if name.endswith("_OPTIONS")}
    OPTIONS_2 = {name[:-10]: n for name, n in NUMBERS.items() if name.endswith("_OPTIONS_2")}

# TensorType of an array; bool stands for BOOL.
TYPES = {np.dtype(name): number for name, number in (
    ("f4", 0), ("f2", 1), ("i4", 2), ("u1", 3), ("i8", 4), ("?", 6), ("i2", 7), ("c8", 8),
    ("i1", 9), ("f8", 10), ("u8", 12), ("u4", 15), ("u2", 16))}

# Which table of options an operator has, if not the one of its name.
_SHARED_OPTIONS = {
    "AVERAGE_POOL_2D": "POOL_2D", "MAX_POOL_2D": "POOL_2D", "L2_POOL_2D": "POOL_2D",
    "L2_NORMALIZATION": "L2_NORM", "MAXIMUM": "MAXIMUM_MINIMUM", "MINIMUM": "MAXIMUM_MINIMUM",
    "CONV_3D_TRANSPOSE": "CONV_3D",
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY",
                     "REDUCE_ALL"), "REDUCER"),
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SEQUENCE_RNN",
}

# Versions of operators without a version 1; libnntflite does not read them, runtimes do.
_VERSIONS = {"BROADCAST_TO": 2}


def builtin_name(operator):
    """The builtin operator that one of that name is: CUSTOM if the schema does not have it."""
    return operator if operator in NUMBERS else "CUSTOM"


class Tensor:
    """A tensor; value is an array, or None for one that is computed or fed."""

    def __init__(self, dtype, shape, value=None, scales=(), zero_point=0, dimension=0,
                 unknown=False):
        self.dtype = np.dtype(dtype)
        self.shape = tuple(shape)
        self.value = value
        self.scales = tuple(float(s) for s in scales)
        self.zero_point = zero_point
        self.dimension = dimension
        self.unknown = unknown  # the shape is not in the file
        self.variable = False
        self.type = TYPES[self.dtype]
        self.stored = None      # bytes of the buffer, if they are not those of the value
        self.sparsity = None    # a table
        self.name = None        # "t" and its number without one
        self.open = None        # sizes, -1 for those that may differ from the shape

    def set_type(self, dtype):
        self.dtype = np.dtype(dtype)
        self.type = TYPES[self.dtype]


class Operator:
    """Inputs and outputs are indexes of tensors; options are pairs of a kind and a value.

    A name that the schema does not have is that of a custom operator, whose options are bytes.
    """

    def __init__(self, name, inputs, outputs, options=()):
        self.name = name
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.custom = options if name not in NUMBERS else None
        self.options = [] if name not in NUMBERS else list(options)
        self.intermediates = []     # tensors of which only the quantization counts


def _tensor_table(index, tensor, buffer):
    quantization = None
    if tensor.scales:
        quantization = Table({2: Vector("f", tensor.scales),
                              3: Vector("q", [tensor.zero_point] * len(tensor.scales), 8),
                              6: ("i", tensor.dimension)})
    shape = None if tensor.unknown else Vector("i", tensor.shape)
    return Table({0: shape, 1: ("e", tensor.type), 2: ("I", buffer), 3: tensor.name or "t%d" % index,
                  4: quantization, 5: ("b", 1) if tensor.variable else None, 6: tensor.sparsity,
                  7: Vector("i", tensor.open) if tensor.open else None,
                  8: None if tensor.unknown else ("b", 1)})


def _options_table(operator):
    table = Table()
    for slot, (kind, value) in enumerate(operator.options):
        if kind:
            lists = {"v": ("i", 4), "vf": ("f", 4), "vq": ("q", 8)}
            table[slot] = (kind, value)
            if kind in lists:
                code, align = lists[kind]
                table[slot] = Vector(code, value, align)
    return table


class Subgraph:
    def __init__(self, tensors, operators, inputs, outputs):
        self.tensors = tensors
        self.operators = operators
        self.inputs = inputs
        self.outputs = outputs


def _subgraph_table(graph, names, buffers):
    tensors, operators = [], []
    for index, tensor in enumerate(graph.tensors):
        buffer = 0
        if tensor.value is not None:
            data = tensor.stored
            if data is None:
                data = np.ascontiguousarray(tensor.value, tensor.dtype).tobytes()
            buffer = len(buffers)
            buffers.append(Table({0: Vector("B", data, 16)}))
        tensors.append(_tensor_table(index, tensor, buffer))
    for o in graph.operators:
        kind = OPTIONS.get(_SHARED_OPTIONS.get(o.name, o.name))
        second = OPTIONS_2.get(o.name)
        if o.options and not kind and not second:
            raise KeyError("%s has options, and no table for them" % o.name)
        operators.append(Table({
            0: ("I", names.index(o.name)), 1: Vector("i", o.inputs), 2: Vector("i", o.outputs),
            3: ("B", kind) if kind else None, 4: _options_table(o) if kind else None,
            5: Vector("B", o.custom) if o.custom else None,
            8: Vector("i", o.intermediates) if o.intermediates else None,
            11: ("B", second) if second else None, 12: _options_table(o) if second else None}))
    return Table({0: tensors, 1: Vector("i", graph.inputs), 2: Vector("i", graph.outputs),
                  3: operators})


class Signature:
    """Names of inputs and outputs are pairs of a name and the number of a tensor."""

    def __init__(self, key, subgraph, inputs, outputs):
        self.key = key
        self.subgraph = subgraph
        self.inputs = inputs
        self.outputs = outputs


def _signature_table(signature):
    named = [[Table({0: name, 1: ("I", tensor)}) for name, tensor in pairs]
             for pairs in (signature.inputs, signature.outputs)]
    return Table({0: named[0], 1: named[1], 2: signature.key, 4: ("I", signature.subgraph)})


def root(graphs, signatures=()):
    """The table of a file; the first subgraph is the main one."""
    names = sorted({o.name for g in graphs for o in g.operators})
    buffers = [Table()]
    codes = []
    for name in names:
        number = NUMBERS[builtin_name(name)]
        codes.append(Table({0: ("e", min(number, 127)), 1: None if name in NUMBERS else name,
                            2: ("i", _VERSIONS.get(name, 1)), 3: ("i", number)}))
    tables = [_subgraph_table(g, names, buffers) for g in graphs]
    return Table({0: ("I", 3), 1: codes, 2: tables, 4: buffers,
                  7: [_signature_table(s) for s in signatures] if signatures else None})


def model(graphs, signatures=()):
    """The bytes of a file."""
    return write(root(graphs, signatures), b"TFL3")
