# SPDX-License-Identifier: MIT
"""Write FlatBuffers: tables, vectors and strings, without a schema compiler.

A table is a dictionary from slot to value. A value is a pair of a kind and a number (kinds: see
SCALARS), a Table, a Vector, a list of tables, or a text. Parents come in front of what they
refer to, so each offset is positive, as the format wants it.
"""

import struct

SCALARS = {"e": "b", "B": "B", "b": "B", "i": "i", "I": "I", "f": "f", "q": "q"}


class Table(dict):
    """Slot to value; None is left out."""


class Vector:
    def __init__(self, code, values, align=4):
        self.code = code
        self.values = values
        self.align = align

    def body(self):
        if isinstance(self.values, bytes):
            return self.values
        return struct.pack("<%d%s" % (len(self.values), self.code), *self.values)


class Writer:
    def __init__(self):
        self.out = bytearray()

    def pad(self, align, ahead=0):
        self.out += b"\0" * (-(len(self.out) + ahead) % align)

    def patch(self, at, target):
        struct.pack_into("<I", self.out, at, target - at)

    def table(self, table):
        fields = sorted((slot, v) for slot, v in table.items() if v is not None)
        slots = fields[-1][0] + 1 if fields else 0
        # The widest first, so that each is aligned.
        offsets, size = {}, 4
        for width in (8, 4, 1):
            for slot, value in fields:
                own = struct.calcsize(SCALARS[value[0]]) if isinstance(value, tuple) else 4
                if own == width:
                    size += -size % width
                    offsets[slot] = size
                    size += width
        vtable = 4 + 2 * slots
        self.pad(8, vtable)
        self.out += struct.pack("<HH", vtable, size)
        self.out += struct.pack("<%dH" % slots, *[offsets.get(s, 0) for s in range(slots)])
        start = len(self.out)
        self.out += struct.pack("<i", vtable) + b"\0" * (size - 4)
        for slot, value in fields:
            at = start + offsets[slot]
            if isinstance(value, tuple):
                struct.pack_into("<" + SCALARS[value[0]], self.out, at, value[1])
            else:
                self.patch(at, self.child(value))
        return start

    def child(self, value):
        if isinstance(value, Table):
            return self.table(value)
        if isinstance(value, str):
            self.pad(4)
            start = len(self.out)
            self.out += struct.pack("<I", len(value.encode())) + value.encode() + b"\0"
            return start
        if isinstance(value, Vector):
            body = value.body()
            self.pad(max(4, value.align), 4)
            start = len(self.out)
            self.out += struct.pack("<I", len(body) // struct.calcsize(value.code)) + body
            return start
        self.pad(4)
        start = len(self.out)
        self.out += struct.pack("<I", len(value)) + b"\0" * (4 * len(value))
        for i, item in enumerate(value):
            self.patch(start + 4 + 4 * i, self.child(item))
        return start


def write(root, identifier):
    w = Writer()
    w.out += b"\0" * 4 + identifier
    w.patch(0, w.table(root))
    return bytes(w.out)
