# SPDX-License-Identifier: MIT
"""Tables, hashes and random numbers."""

import struct

import numpy as np

from .core import Raw, operation

_MASK = 2 ** 64 - 1


@operation("EMBEDDING_LOOKUP")
def embedding_lookup(c):
    return [Raw(c[1].data[c.list(0)])]


@operation("HASHTABLE_LOOKUP")
def hashtable_lookup(c):
    rows = {key: row for key, row in zip(c.list(1), c[2].data)}
    empty = np.zeros(c[2].shape[1:], c[2].data.dtype)
    keys = c.list(0)
    return [Raw(np.stack([rows.get(k, empty) for k in keys])),
            Raw(np.array([k in rows for k in keys], np.uint8))]


# farmhash's 64-bit fingerprint of up to 64 bytes.
_K0, _K1, _K2 = 0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f


def _rotate(v, n):
    return (v >> n | v << (64 - n)) & _MASK


def _mix(v):
    return v ^ v >> 47


def _hash16(u, v, multiplier):
    a = _mix((u ^ v) * multiplier & _MASK)
    b = _mix((v ^ a) * multiplier & _MASK)
    return b * multiplier & _MASK


def _word(s, at):
    return struct.unpack_from("<Q", s, at if at >= 0 else len(s) + at)[0]


def _half(s, at):
    return struct.unpack_from("<I", s, at if at >= 0 else len(s) + at)[0]


def fingerprint(s):
    n = len(s)
    multiplier = (_K2 + 2 * n) & _MASK
    if n > 64:
        raise ValueError("fingerprint of %d bytes" % n)
    if n > 32:
        a, b = _word(s, 0) * _K2 & _MASK, _word(s, 8)
        c, d = _word(s, -8) * multiplier & _MASK, _word(s, -16) * _K2 & _MASK
        y = (_rotate(a + b & _MASK, 43) + _rotate(c, 30) + d) & _MASK
        z = _hash16(y, (a + _rotate(b + _K2 & _MASK, 18) + c) & _MASK, multiplier)
        e, f = _word(s, 16) * multiplier & _MASK, _word(s, 24)
        g = (y + _word(s, -32)) * multiplier & _MASK
        h = (z + _word(s, -24)) * multiplier & _MASK
        return _hash16((_rotate(e + f & _MASK, 43) + _rotate(g, 30) + h) & _MASK,
                       (e + _rotate(f + a & _MASK, 18) + g) & _MASK, multiplier)
    if n > 16:
        a, b = _word(s, 0) * _K1 & _MASK, _word(s, 8)
        c, d = _word(s, -8) * multiplier & _MASK, _word(s, -16) * _K2 & _MASK
        return _hash16((_rotate(a + b & _MASK, 43) + _rotate(c, 30) + d) & _MASK,
                       (a + _rotate(b + _K2 & _MASK, 18) + c) & _MASK, multiplier)
    if n >= 8:
        a, b = (_word(s, 0) + _K2) & _MASK, _word(s, -8)
        c = (_rotate(b, 37) * multiplier + a) & _MASK
        d = (_rotate(a, 25) + b) * multiplier & _MASK
        return _hash16(c, d, multiplier)
    if n >= 4:
        return _hash16((n + (_half(s, 0) << 3)) & _MASK, _half(s, -4), multiplier)
    if n > 0:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[-1] << 2)
        return _mix((y * _K2 ^ z * _K0) & _MASK) * _K2 & _MASK
    return _K2


@operation("LSH_PROJECTION")
def lsh_projection(c):
    seeds = c[0].data.astype(np.float32)
    rows = [np.ascontiguousarray(row).tobytes() for row in c[1].data]
    weights = c.real(2) if c[2] is not None else np.ones(len(rows))
    bits = []
    for function in seeds:
        number = []
        for seed in function:
            total = 0.0
            for row, weight in zip(rows, weights):
                f = fingerprint(np.float32(seed).tobytes() + row)
                total += weight * (f - 2 ** 64 if f >> 63 else f)
            number.append(total > 0)
        bits.append(number)
    if c.item(3) == 2:
        return [Raw(np.array(bits).reshape(-1))]
    result = []
    for i, number in enumerate(bits):
        signature = 0
        for bit in number:
            signature = signature << 1 | bit
        offset = i << len(number) if c.item(3) == 3 else 0
        result.append(signature + offset)
    return [Raw(np.array(result))]


def philox(counter, key):
    """Philox 4x32 with ten rounds."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xd2511f53 * c[0], 0xcd9e8d57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xffffffff, a >> 32 ^ c[3] ^ k[1], a & 0xffffffff]
        k = [(k[0] + 0x9e3779b9) & 0xffffffff, (k[1] + 0xbb67ae85) & 0xffffffff]
    return c


@operation("RANDOM_MULTINOMIAL")
def random_multinomial(c):
    logits = c.real(0)
    samples = c.item(1)
    key = [v & 0xffffffff for v in c.list(2)]
    out = np.zeros((logits.shape[0], samples), np.int32)
    for b, row in enumerate(logits):
        sums = np.cumsum(np.exp(row - row.max()))
        for n in range(samples):
            r = philox((n, b, 0, 0), key)
            u = ((r[0] << 32 | r[1]) >> 11) / 2 ** 53
            out[b, n] = np.searchsorted(sums, u * sums[-1], side="right")
    return [Raw(out)]
