# SPDX-License-Identifier: MIT
"""Write TensorFlow Lite model files (schema version 3, identifier TFL3).

Two layers:

  FlatBuffer   lays out tables, vectors and strings in the FlatBuffers wire
               format.  A parent is placed before its children, so that every
               offset points forward as the format demands.
  ModelWriter  collects tensors and operators of one subgraph and turns them
               into the tables of the TensorFlow Lite schema.

Only the operators in OPERATORS are known; another one takes one line there.
"""
import struct

import numpy as np

FILE_IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
BUFFER_ALIGNMENT = 16

# TensorType of the schema, by numpy type.
TENSOR_TYPES = {
    np.dtype(np.float32): 0,
    np.dtype(np.int32): 2,
    np.dtype(np.uint8): 3,
    np.dtype(np.int8): 9,
}

PADDING = {"SAME": 0, "VALID": 1}
ACTIVATION = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}

# Scalar kinds of the wire format: struct code and size in bytes.
SCALARS = {
    "i8": ("b", 1), "u8": ("B", 1), "bool": ("?", 1), "i32": ("i", 4),
    "u32": ("I", 4), "f32": ("f", 4), "i64": ("q", 8),
}

# Kinds of option values that are given by name.
ENUMS = {"padding": PADDING, "activation": ACTIVATION}

# name: (BuiltinOperator, operator version for float, for int8,
#        BuiltinOptions member, option fields in schema order as
#        (name, kind, value the schema assumes when the field is absent)).
# int8 CONV_2D and DEPTHWISE_CONV_2D need version 3 for per-channel scales.
OPERATORS = {
    "AVERAGE_POOL_2D": (1, 1, 2, 5, (
        ("padding", "padding", "SAME"), ("stride_w", "i32", 0),
        ("stride_h", "i32", 0), ("filter_width", "i32", 0),
        ("filter_height", "i32", 0), ("activation", "activation", "NONE"))),
    "CONV_2D": (3, 1, 3, 1, (
        ("padding", "padding", "SAME"), ("stride_w", "i32", 0),
        ("stride_h", "i32", 0), ("activation", "activation", "NONE"),
        ("dilation_w_factor", "i32", 1), ("dilation_h_factor", "i32", 1))),
    "DEPTHWISE_CONV_2D": (4, 1, 3, 2, (
        ("padding", "padding", "SAME"), ("stride_w", "i32", 0),
        ("stride_h", "i32", 0), ("depth_multiplier", "i32", 0),
        ("activation", "activation", "NONE"),
        ("dilation_w_factor", "i32", 1), ("dilation_h_factor", "i32", 1))),
    "FULLY_CONNECTED": (9, 1, 4, 8, (
        ("activation", "activation", "NONE"), ("weights_format", "i8", 0),
        ("keep_num_dims", "bool", False))),
    "MAX_POOL_2D": (17, 1, 2, 5, (
        ("padding", "padding", "SAME"), ("stride_w", "i32", 0),
        ("stride_h", "i32", 0), ("filter_width", "i32", 0),
        ("filter_height", "i32", 0), ("activation", "activation", "NONE"))),
    "RESHAPE": (22, 1, 1, 17, (("new_shape", "i32[]", ()),)),
    "SOFTMAX": (25, 1, 2, 9, (("beta", "f32", 0.0),)),
}


class Table:
    """Fields of one FlatBuffers table, each at its slot number."""

    def __init__(self):
        self.fields = []

    def scalar(self, slot, kind, value, default=0):
        """Add a scalar; one that equals the schema's default stays out."""
        if value != default:
            self.fields.append((slot, kind, value))
        return self

    def child(self, slot, node):
        """Add a Table, Vector or str that this table points to."""
        self.fields.append((slot, "offset", node))
        return self


class Vector:
    """A vector of scalars (kind from SCALARS) or of offsets (kind None)."""

    def __init__(self, items, kind=None, alignment=None):
        self.items = items
        self.kind = kind
        self.alignment = alignment


class FlatBuffer:
    """Serialise a tree of Table, Vector and str."""

    def __init__(self, identifier):
        self.out = bytearray(8)
        self.out[4:8] = identifier
        self.vtables = {}

    def serialize(self, root):
        self._patch(0, self._write(root))
        return bytes(self.out)

    def _patch(self, at, target):
        struct.pack_into("<I", self.out, at, target - at)

    def _align(self, alignment, ahead=0):
        """Pad until the position `ahead` bytes on is a multiple."""
        self.out += bytes(-(len(self.out) + ahead) % alignment)

    def _write(self, node):
        if isinstance(node, Table):
            return self._write_table(node)
        if isinstance(node, str):
            return self._write_string(node)
        return self._write_vector(node)

    def _write_string(self, text):
        data = text.encode()
        self._align(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(data)) + data + b"\0"
        return at

    def _write_vector(self, vector):
        if vector.kind is not None:
            code, size = SCALARS[vector.kind]
            if isinstance(vector.items, bytes):
                data = vector.items
            else:
                data = struct.pack("<%d%s" % (len(vector.items), code),
                                   *vector.items)
            self._align(max(4, vector.alignment or size), ahead=4)
            at = len(self.out)
            self.out += struct.pack("<I", len(data) // size) + data
            return at
        self._align(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(vector.items))
        first = len(self.out)
        self.out += bytes(4 * len(vector.items))
        for index, item in enumerate(vector.items):
            self._patch(first + 4 * index, self._write(item))
        return at

    def _write_table(self, table):
        def size_of(field):
            return 4 if field[1] == "offset" else SCALARS[field[1]][1]

        # Larger fields first: then only the start of the table needs padding.
        fields = sorted(table.fields, key=lambda f: (-size_of(f), f[0]))
        slots = [0] * (1 + max((f[0] for f in fields), default=-1))
        alignment = max([4] + [size_of(f) for f in fields])
        # Every table starts with the 4-byte distance back to its vtable; an
        # 8-byte field behind it begins at 8.
        position = alignment
        for field in fields:
            slots[field[0]] = position
            position += size_of(field)

        vtable = struct.pack("<%dH" % (2 + len(slots)), 4 + 2 * len(slots),
                             position, *slots)
        if vtable not in self.vtables:
            self._align(2)
            self.vtables[vtable] = len(self.out)
            self.out += vtable
        self._align(alignment)
        at = len(self.out)
        self.out += bytes(position)
        struct.pack_into("<i", self.out, at, at - self.vtables[vtable])
        for slot, kind, value in fields:
            if kind != "offset":
                struct.pack_into("<" + SCALARS[kind][0], self.out,
                                 at + slots[slot], value)
        for slot, kind, value in sorted(table.fields, key=lambda f: f[0]):
            if kind == "offset":
                self._patch(at + slots[slot], self._write(value))
        return at


class ModelWriter:
    """Build a model with one subgraph."""

    def __init__(self, description):
        self.description = description
        self.buffers = [b""]  # buffer 0 stands for "no data"
        self.tensors = []
        self.dtypes = []
        self.codes = []
        self.operators = []

    def tensor(self, name, shape, dtype, data=None, scale=None, zero_point=0,
               axis=0):
        """Add a tensor and return its index.

        `data` (an array of the same shape) makes it a constant.  `scale` is
        one number, or one per channel along dimension `axis`, with the same
        `zero_point` for every channel.
        """
        dtype = np.dtype(dtype)
        buffer = 0
        if data is not None:
            data = np.asarray(data)
            if data.shape != tuple(shape) or data.dtype != dtype:
                raise ValueError("tensor %s: data is %s %s, expected %s %s" % (
                    name, data.dtype, data.shape, dtype, tuple(shape)))
            self.buffers.append(
                data.astype(dtype.newbyteorder("<")).tobytes())
            buffer = len(self.buffers) - 1

        table = (Table()
                 .child(0, Vector([int(d) for d in shape], "i32"))
                 .scalar(1, "i8", TENSOR_TYPES[dtype])
                 .scalar(2, "u32", buffer)
                 .child(3, name))
        if scale is not None:
            scales = [float(s) for s in np.atleast_1d(scale)]
            if len(scales) > 1 and len(scales) != shape[axis]:
                raise ValueError("tensor %s: %d scales, dimension %d is %d" % (
                    name, len(scales), axis, shape[axis]))
            table.child(4, Table()
                        .child(2, Vector(scales, "f32"))
                        .child(3, Vector([int(zero_point)] * len(scales),
                                         "i64"))
                        .scalar(6, "i32", axis if len(scales) > 1 else 0))
        self.tensors.append(table)
        self.dtypes.append(dtype)
        return len(self.tensors) - 1

    def operator(self, name, inputs, outputs, **options):
        """Append an operator; options are named as in OPERATORS."""
        code, float_version, int8_version, options_type, known = \
            OPERATORS[name]
        unknown = set(options) - {field for field, _, _ in known}
        if unknown:
            raise ValueError("%s has no option %s" % (
                name, ", ".join(sorted(unknown))))

        is_int8 = self.dtypes[inputs[0]] == np.int8
        entry = (code, int8_version if is_int8 else float_version)
        if entry not in self.codes:
            self.codes.append(entry)

        fields = Table()
        for slot, (field, kind, default) in enumerate(known):
            value = options.get(field, default)
            if kind == "i32[]":
                fields.child(slot, Vector([int(v) for v in value], "i32"))
            elif kind in ENUMS:
                fields.scalar(slot, "i8", ENUMS[kind][value],
                              ENUMS[kind][default])
            else:
                fields.scalar(slot, kind, value, default)
        self.operators.append(
            Table()
            .scalar(0, "u32", self.codes.index(entry))
            .child(1, Vector(list(inputs), "i32"))
            .child(2, Vector(list(outputs), "i32"))
            .scalar(3, "u8", options_type)
            .child(4, fields))

    def finish(self, inputs, outputs):
        """Return the bytes of the model file."""
        # deprecated_builtin_code is what readers older than schema 3a know;
        # both fields hold the same number for operators below 127.
        codes = [Table()
                 .scalar(0, "i8", code)
                 .scalar(2, "i32", version, 1)
                 .scalar(3, "i32", code)
                 for code, version in self.codes]
        subgraph = (Table()
                    .child(0, Vector(self.tensors))
                    .child(1, Vector(list(inputs), "i32"))
                    .child(2, Vector(list(outputs), "i32"))
                    .child(3, Vector(self.operators))
                    .child(4, "main"))
        buffers = []
        for data in self.buffers:
            table = Table()
            if data:
                table.child(0, Vector(data, "u8", BUFFER_ALIGNMENT))
            buffers.append(table)
        model = (Table()
                 .scalar(0, "u32", SCHEMA_VERSION)
                 .child(1, Vector(codes))
                 .child(2, Vector([subgraph]))
                 .child(3, self.description)
                 .child(4, Vector(buffers)))
        return FlatBuffer(FILE_IDENTIFIER).serialize(model)
