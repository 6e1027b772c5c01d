# SPDX-License-Identifier: MIT
"""Archives of cases for tflite_cases: a .tflite file, inputs, expected outputs.

Little-endian, packed:

    file   := "TFLC" u32 count case*
    case   := str name  str operator  u8 source (0 vectors, 1 numpy)
              bytes model  u32 inputs  bytes*  u32 outputs  output*
    output := u8 kind (0 bytes as they are, 1 int8, 2 uint8, 3 int16, 4 int32, 5 float16,
              6 float32, 7 not compared)  f64 absolute  f64 relative
              u8 rank  u32 dims[rank]  bytes
    str    := u16 length, bytes     bytes := u32 length, bytes

An element agrees if it differs by at most absolute + relative * |expected|.
"""

import struct

import numpy as np

EXACT, IGNORED = 0, 7
KINDS = {np.dtype(t): k for k, t in enumerate(("i1", "u1", "i2", "i4", "f2", "f4"), 1)}


class Output:
    def __init__(self, value, absolute=0.0, relative=0.0, ignored=False, kind=None):
        self.value = value
        self.absolute = absolute
        self.relative = relative
        self.kind = IGNORED if ignored else kind if kind is not None else \
            KINDS.get(value.dtype, EXACT)


class Case:
    def __init__(self, name, operator, source, model, inputs, outputs):
        self.name = name
        self.operator = operator
        self.source = source
        self.model = model
        self.inputs = inputs
        self.outputs = outputs


def _bytes(data):
    return struct.pack("<I", len(data)) + data


def _text(text):
    return struct.pack("<H", len(text)) + text.encode()


def _case(case):
    out = [_text(case.name), _text(case.operator), struct.pack("<B", case.source),
           _bytes(case.model), struct.pack("<I", len(case.inputs))]
    out += [_bytes(np.ascontiguousarray(i).tobytes()) for i in case.inputs]
    out.append(struct.pack("<I", len(case.outputs)))
    for o in case.outputs:
        shape = o.value.shape or (1,)
        out.append(struct.pack("<BddB%dI" % len(shape), o.kind, o.absolute, o.relative,
                               len(shape), *shape))
        out.append(_bytes(np.ascontiguousarray(o.value).tobytes()))
    return b"".join(out)


def write(path, cases):
    with open(path, "wb") as f:
        f.write(b"TFLC" + struct.pack("<I", len(cases)))
        for case in cases:
            f.write(_case(case))
