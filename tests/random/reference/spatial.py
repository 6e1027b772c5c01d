# SPDX-License-Identifier: MIT
"""Windows over images: convolutions, poolings, resizing, regions of interest."""

import math

import numpy as np

from .core import Raw, Refused, activate, operation, round_away


def nhwc(x, nchw):
    return np.transpose(x, (0, 2, 3, 1)) if nchw else x


def back(x, nchw):
    return np.transpose(x, (0, 3, 1, 2)) if nchw else x


def padding(scheme, size, taps, stride, dilation):
    """Padding before and behind one axis."""
    if scheme != 1:
        return 0, 0
    total = max(0, (-(-size // stride) - 1) * stride + (taps - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


class Window:
    """The operands behind the data operands of a convolution or pooling."""

    def __init__(self, c, at, explicit, taps):
        if explicit:
            left, right, top, bottom = (c.item(at + i) for i in range(4))
            self.pads = (top, bottom), (left, right)
            at += 4
        else:
            self.pads = None
            self.scheme = c.item(at)
            at += 1
        self.stride = c.item(at + 1), c.item(at)
        self.at = at + 2
        self.taps = taps
        self.dilation = 1, 1

    def image(self, x, fill=0.0):
        """The padded image and the number of positions along its axes."""
        pads = self.pads or tuple(
            padding(self.scheme, x.shape[1 + i], self.taps[i], self.stride[i], self.dilation[i])
            for i in range(2))
        x = np.pad(x, [(0, 0), pads[0], pads[1], (0, 0)], constant_values=fill)
        out = []
        for i in range(2):
            span = x.shape[1 + i] - (self.taps[i] - 1) * self.dilation[i] - 1
            if span < 0:
                raise Refused("window larger than the image")
            out.append(span // self.stride[i] + 1)
        return x, out

    def views(self, x, out):
        """What each tap sees: pairs of the tap and [n, out_y, out_x, c]."""
        for ky in range(self.taps[0]):
            for kx in range(self.taps[1]):
                y, z = ky * self.dilation[0], kx * self.dilation[1]
                yield (ky, kx), x[:, y:y + (out[0] - 1) * self.stride[0] + 1:self.stride[0],
                                  z:z + (out[1] - 1) * self.stride[1] + 1:self.stride[1]]


def _scalar_at(c, i):
    return i < len(c) and c[i] is not None and c[i].rank == 0 and c[i].type == "BOOL"


def _bias(c):
    if c[2].type != "TENSOR_INT32":
        return c.real(2)
    if c[1].type == "TENSOR_QUANT8_SYMM_PER_CHANNEL":
        scales = np.asarray(c[1].channel_scales, np.float32).astype(np.float64)
    else:
        scales = np.float64(np.float32(c[1].scale))
    return c[2].data * (np.float64(np.float32(c[0].scale)) * scales)


def _tail(c, w, at):
    """Activation, layout and dilations, which may be missing, from position @at."""
    act, nchw = c.item(at), bool(c.item(at + 1, 0))
    w.dilation = c.item(at + 3, 1), c.item(at + 2, 1)
    return act, nchw


@operation("CONV_2D")
def conv_2d(c):
    f = c.real(1)
    explicit = len(c) >= 8 and not _scalar_at(c, 7)
    w = Window(c, 3, explicit, f.shape[1:3])
    act, nchw = _tail(c, w, w.at)
    x, out = w.image(nhwc(c.real(0), nchw))
    y = np.zeros((x.shape[0], out[0], out[1], f.shape[0]))
    for (ky, kx), view in w.views(x, out):
        y += view @ f[:, ky, kx, :].T
    return [back(activate(y + _bias(c), act), nchw)]


@operation("GROUPED_CONV_2D")
def grouped_conv_2d(c):
    f = c.real(1)
    w = Window(c, 3, len(c) == 12, f.shape[1:3])
    groups, act, nchw = c.item(w.at), c.item(w.at + 1), bool(c.item(w.at + 2))
    x, out = w.image(nhwc(c.real(0), nchw))
    y = np.zeros((x.shape[0], out[0], out[1], f.shape[0]))
    deep, wide = x.shape[3] // groups, f.shape[0] // groups
    for (ky, kx), view in w.views(x, out):
        for g in range(groups):
            y[..., g * wide:(g + 1) * wide] += view[..., g * deep:(g + 1) * deep] @ \
                f[g * wide:(g + 1) * wide, ky, kx, :].T
    return [back(activate(y + _bias(c), act), nchw)]


@operation("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(c):
    f = c.real(1)
    explicit = len(c) >= 9 and not _scalar_at(c, 8)
    w = Window(c, 3, explicit, f.shape[1:3])
    multiplier = c.item(w.at)
    act, nchw = _tail(c, w, w.at + 1)
    x, out = w.image(nhwc(c.real(0), nchw))
    y = np.zeros((x.shape[0], out[0], out[1], f.shape[3]))
    for (ky, kx), view in w.views(x, out):
        y += np.repeat(view, multiplier, axis=3) * f[0, ky, kx, :]
    return [back(activate(y + _bias(c), act), nchw)]


@operation("TRANSPOSE_CONV_2D")
def transpose_conv_2d(c):
    f = c.real(1)
    taps = f.shape[1:3]
    explicit = len(c) == 11
    at = 7 if explicit else 5
    stride = c.item(at + 1), c.item(at)
    act, nchw = c.item(at + 2), bool(c.item(at + 3))
    x = nhwc(c.real(0), nchw)
    if explicit:
        left, right, top, bottom = (c.item(3 + i) for i in range(4))
        before = top, left
        out = [(x.shape[1 + i] - 1) * stride[i] + taps[i] - before[i] - (bottom, right)[i]
               for i in range(2)]
    else:
        shape = c.list(3)
        out = shape[2:4] if nchw else shape[1:3]
        same = c.item(4) == 1
        before = [max(0, (x.shape[1 + i] - 1) * stride[i] + taps[i] - out[i]) // 2
                  if same else 0 for i in range(2)]
    full = [max((x.shape[1 + i] - 1) * stride[i] + taps[i], before[i] + out[i])
            for i in range(2)]
    y = np.zeros((x.shape[0], full[0], full[1], f.shape[0]))
    for ky in range(taps[0]):
        for kx in range(taps[1]):
            y[:, ky:ky + (x.shape[1] - 1) * stride[0] + 1:stride[0],
              kx:kx + (x.shape[2] - 1) * stride[1] + 1:stride[1]] += x @ f[:, ky, kx, :].T
    y = y[:, before[0]:before[0] + out[0], before[1]:before[1] + out[1]]
    return [back(activate(y + _bias(c), act), nchw)]


@operation("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
def pool_2d(c):
    explicit = len(c) >= 10
    at = 5 if explicit else 2
    w = Window(c, 1, explicit, (c.item(at + 3), c.item(at + 2)))
    act, nchw = c.item(at + 4), bool(c.item(at + 5, 0))
    real = nhwc(c.real(0), nchw)
    if c.op == "MAX_POOL_2D":
        x, out = w.image(real, -np.inf)
        y = np.full((x.shape[0], out[0], out[1], x.shape[3]), -np.inf)
        for _, view in w.views(x, out):
            y = np.maximum(y, view)
        return [back(activate(y, act), nchw)]
    ones, _ = w.image(np.ones_like(real))
    x, out = w.image(real * real if c.op == "L2_POOL_2D" else real)
    y = np.zeros((x.shape[0], out[0], out[1], x.shape[3]))
    count = np.zeros_like(y)
    for (_, view), (_, one) in zip(w.views(x, out), w.views(ones, out)):
        y += view
        count += one
    y /= count
    return [back(activate(np.sqrt(y) if c.op == "L2_POOL_2D" else y, act), nchw)]


@operation("FULLY_CONNECTED")
def fully_connected(c):
    w = c.real(1)
    return [activate(c.real(0).reshape(-1, w.shape[1]) @ w.T + _bias(c), c.item(3))]


def _grid(size, out, align, half, nearest):
    """Places in an axis of @size elements."""
    i = np.arange(out)
    step = (size - 1) / (out - 1) if align and out > 1 else size / out
    if half:
        p = (i + 0.5) * step
        return p if nearest else p - 0.5
    return i * step


def _resized(c, i, size):
    if c[i].type == "INT32":
        return c.item(i)
    return max(1, math.floor(float(np.float32(size * np.float32(c.item(i))))))


@operation("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(c):
    nearest = c.op == "RESIZE_NEAREST_NEIGHBOR"
    nchw, align, half = (bool(c.item(i, 0)) for i in (3, 4, 5))
    x = nhwc(c[0].data if nearest else c.real(0), nchw)
    out = _resized(c, 2, x.shape[1]), _resized(c, 1, x.shape[2])
    for axis in range(2):
        size = x.shape[1 + axis]
        p = _grid(size, out[axis], align, half, nearest)
        if nearest:
            # Places that are whole numbers must not fall below them by a rounding error.
            whole = np.round(p)
            p = np.where(np.abs(p - whole) < 1e-5, whole, p)
            i = round_away(p) if align else np.floor(p)
            x = np.take(x, np.clip(i, 0, size - 1).astype(int), axis=1 + axis)
            continue
        low = np.floor(p)
        part = (p - low).reshape((1, -1, 1, 1) if axis == 0 else (1, 1, -1, 1))
        a = np.take(x, np.clip(low, 0, size - 1).astype(int), axis=1 + axis)
        b = np.take(x, np.clip(low + 1, 0, size - 1).astype(int), axis=1 + axis)
        x = a * (1 - part) + b * part
    return [Raw(back(x, nchw)) if nearest else back(x, nchw)]


def _sample(image, y, x):
    """Bilinear between the four elements around; beyond the last one, the last."""
    h, w, _ = image.shape
    y0, x0 = min(int(y), h - 1), min(int(x), w - 1)
    y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
    dy = 0.0 if y0 >= h - 1 else y - y0
    dx = 0.0 if x0 >= w - 1 else x - x0
    return (image[y0, x0] * (1 - dy) * (1 - dx) + image[y0, x1] * (1 - dy) * dx +
            image[y1, x0] * dy * (1 - dx) + image[y1, x1] * dy * dx)


@operation("ROI_ALIGN")
def roi_align(c):
    nchw = bool(c.item(9))
    images = nhwc(c.real(0), nchw)
    out_y, out_x = c.item(3), c.item(4)
    y = np.zeros((c[1].shape[0], out_y, out_x, images.shape[3]))
    for r, (roi, batch) in enumerate(zip(c.real(1), c.list(2))):
        x1, x2 = roi[0] / c.item(6), roi[2] / c.item(6)
        y1, y2 = roi[1] / c.item(5), roi[3] / c.item(5)
        height, width = max(y2 - y1, 1), max(x2 - x1, 1)
        # The step of a bin is single precision: whole numbers of points depend on it.
        ny = c.item(7) or math.ceil(round(height / out_y, 5))
        nx = c.item(8) or math.ceil(round(width / out_x, 5))
        for i in range(out_y):
            for j in range(out_x):
                total = 0
                for a in range(ny):
                    for b in range(nx):
                        total = total + _sample(
                            images[batch], y1 + (i * ny + a + 0.5) * height / (out_y * ny),
                            x1 + (j * nx + b + 0.5) * width / (out_x * nx))
                y[r, i, j] = total / (ny * nx)
    return [back(y, nchw)]


@operation("ROI_POOLING")
def roi_pooling(c):
    nchw = bool(c.item(7))
    images = nhwc(c.real(0), nchw)
    out_y, out_x = c.item(3), c.item(4)
    y = np.zeros((c[1].shape[0], out_y, out_x, images.shape[3]))

    def bins(first, last, out, size):
        first, last = int(round_away(first)), int(round_away(last))
        span = max(last - first + 1, 1)
        for i in range(out):
            low, high = first + i * span // out, first - (-(i + 1) * span // out)
            yield min(max(low, 0), size), min(max(high, 0), size)

    for r, (roi, batch) in enumerate(zip(c.real(1), c.list(2))):
        image = images[batch]
        for i, (a, b) in enumerate(bins(roi[1] / c.item(5), roi[3] / c.item(5), out_y,
                                        image.shape[0])):
            for j, (d, e) in enumerate(bins(roi[0] / c.item(6), roi[2] / c.item(6), out_x,
                                            image.shape[1])):
                if b > a and e > d:
                    y[r, i, j] = image[a:b, d:e].max(axis=(0, 1))
    return [back(y, nchw)]
