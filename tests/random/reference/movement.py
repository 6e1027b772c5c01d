# SPDX-License-Identifier: MIT
"""Operations that move data: elements keep their representation."""

import numpy as np

from .core import Raw, Refused, axis_of, operation


@operation("TRANSPOSE")
def transpose(c):
    order = c.list(1) if len(c) > 1 and c[1] is not None else None
    return [Raw(np.transpose(c[0].data, order))]


@operation("SQUEEZE")
def squeeze(c):
    x = c[0].data
    if len(c) > 1 and c[1] is not None:
        axes = {axis_of(a, x.ndim) for a in c.list(1)}
    else:
        axes = {i for i, n in enumerate(x.shape) if n == 1}
    shape = [n for i, n in enumerate(x.shape) if i not in axes]
    return [Raw(x.reshape(shape or [1]))]


@operation("EXPAND_DIMS")
def expand_dims(c):
    return [Raw(np.expand_dims(c[0].data, c.item(1)))]


@operation("SLICE")
def slice_(c):
    x = c[0].data
    index = tuple(slice(b, n if s == -1 else b + s)
                  for b, s, n in zip(c.list(1), c.list(2), x.shape))
    return [Raw(x[index])]


@operation("STRIDED_SLICE")
def strided_slice(c):
    x = c[0].data
    begin, end, step = c.list(1), c.list(2), c.list(3)
    begin_mask, end_mask, shrink = c.item(4), c.item(5), c.item(6)
    index = []
    for d, n in enumerate(x.shape):
        s = step[d]
        if s > 0:
            low, high = 0, n
        else:
            low, high = -1, n - 1
        first, last = begin[d], end[d]
        first = first + n if first < 0 else first
        last = last + n if last < 0 else last
        first = min(max(first, low), high)
        last = min(max(last, low), high)
        if begin_mask >> d & 1:
            first = 0 if s > 0 else n - 1
        if end_mask >> d & 1:
            last = n if s > 0 else -1
        if shrink >> d & 1:
            index.append(first)
        else:
            index.append(list(range(first, last, s)))
    # One axis after the other, from the last, so that removed ones do not shift others.
    for d in range(x.ndim - 1, -1, -1):
        x = np.take(x, index[d], axis=d)
    return [Raw(x if x.ndim else x.reshape(1))]


@operation("SPLIT")
def split(c):
    return [Raw(part) for part in np.split(c[0].data, c.item(2), axis=c.item(1))]


@operation("TILE")
def tile(c):
    return [Raw(np.tile(c[0].data, c.list(1)))]


@operation("PAD", "PAD_V2")
def pad(c):
    pads = c[1].data.reshape(-1, 2)
    if c.op == "PAD_V2":
        value = c[2].data.reshape(-1)[0]
    else:
        value = c[0].zero_point
    return [Raw(np.pad(c[0].data, pads, constant_values=value))]


@operation("GATHER")
def gather(c):
    return [Raw(np.take(c[0].data, c[2].integer, axis=c.item(1)))]


@operation("CHANNEL_SHUFFLE")
def channel_shuffle(c):
    x = c[0].data
    axis, groups = axis_of(c.item(2), x.ndim), c.item(1)
    shape = x.shape
    x = x.reshape(shape[:axis] + (groups, shape[axis] // groups) + shape[axis + 1:])
    return [Raw(np.swapaxes(x, axis, axis + 1).reshape(shape))]


@operation("CONCATENATION")
def concatenation(c):
    parts = c.ins[:-1]
    axis = c.item(len(c) - 1)
    if all((p.scale, p.zero_point) == (parts[0].scale, parts[0].zero_point) for p in parts) \
            and not parts[0].quantized:
        return [Raw(np.concatenate([p.data for p in parts], axis))]
    return [np.concatenate([p.real for p in parts], axis)]


def _to_nhwc(x, nchw):
    return np.transpose(x, (0, 2, 3, 1)) if nchw else x


def _from_nhwc(x, nchw):
    return np.transpose(x, (0, 3, 1, 2)) if nchw else x


@operation("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def space_depth(c):
    nchw, block = bool(c.item(2, 0)), c.item(1)
    x = _to_nhwc(c[0].data, nchw)
    n, h, w, d = x.shape
    if c.op == "DEPTH_TO_SPACE":
        x = x.reshape(n, h, w, block, block, d // (block * block))
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(n, h * block, w * block, -1)
    else:
        x = x.reshape(n, h // block, block, w // block, block, d)
        x = x.transpose(0, 1, 3, 2, 4, 5).reshape(n, h // block, w // block, -1)
    return [Raw(_from_nhwc(x, nchw))]


@operation("BATCH_TO_SPACE_ND")
def batch_to_space(c):
    nchw = bool(c.item(2, 0))
    x = _to_nhwc(c[0].data, nchw)
    by, bx = c.list(1)
    n, h, w, d = x.shape
    if n % (by * bx):
        raise Refused("batches")
    x = x.reshape(by, bx, n // (by * bx), h, w, d)
    x = x.transpose(2, 3, 0, 4, 1, 5).reshape(n // (by * bx), h * by, w * bx, d)
    return [Raw(_from_nhwc(x, nchw))]


@operation("SPACE_TO_BATCH_ND")
def space_to_batch(c):
    nchw = bool(c.item(3, 0))
    x = _to_nhwc(c[0].data, nchw)
    by, bx = c.list(1)
    pads = c[2].data.reshape(2, 2)
    x = np.pad(x, [(0, 0), pads[0], pads[1], (0, 0)], constant_values=c[0].zero_point)
    n, h, w, d = x.shape
    x = x.reshape(n, h // by, by, w // bx, bx, d)
    x = x.transpose(2, 4, 0, 1, 3, 5).reshape(n * by * bx, h // by, w // bx, d)
    return [Raw(_from_nhwc(x, nchw))]
