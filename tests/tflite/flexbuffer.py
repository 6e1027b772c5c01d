# SPDX-License-Identifier: MIT
"""Write a FlexBuffer with a map, as custom operators have their options.

Values come behind what they refer to, and the root is at the end. All values and offsets of
the map have four bytes.
"""

import struct

_INT, _FLOAT, _MAP, _BOOL = 1, 3, 9, 26
_FOUR_BYTES = 2     # the width, as its logarithm


def write(values):
    """The bytes of a map from texts to int, float or bool."""
    out, at = bytearray(), {}
    keys = sorted(values)
    for key in keys:
        at[key] = len(out)
        out += key.encode() + b"\0"
    out += b"\0" * (-len(out) % 4)
    out += struct.pack("<I", len(keys))
    vector = len(out)
    for key in keys:
        out += struct.pack("<I", len(out) - at[key])
    out += struct.pack("<III", len(out) - vector, 4, len(keys))
    first, types = len(out), bytearray()
    for key in keys:
        value = values[key]
        kind = _BOOL if isinstance(value, bool) else _FLOAT if isinstance(value, float) else _INT
        out += struct.pack("<f" if kind == _FLOAT else "<i", value)
        types.append(kind << 2 | _FOUR_BYTES)
    out += types
    return bytes(out + bytes([len(out) - first, _MAP << 2 | _FOUR_BYTES, 1]))
