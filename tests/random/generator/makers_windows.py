# SPDX-License-Identifier: MIT
"""Operations on random operands, second part: windows over images."""

import numpy as np

from .graph import A16, F32, FLOAT, FQ, I32, QUANT, Unfit
from .makers import make, per_channel


class Windows:
    """A random window that fits an image of a layout."""

    def __init__(self, g, x, nchw, dilated, taps=None):
        height, width = x.dims[2:] if nchw else x.dims[1:3]
        self.sizes = height, width
        self.taps = taps or (g.pick(1, min(4, height)), g.pick(1, min(4, width)))
        self.stride = g.pick(1, 3), g.pick(1, 3)
        self.dilation = (g.pick(1, 2), g.pick(1, 2)) if dilated else (1, 1)
        self.explicit = g.chance(0.5)
        spans = [(t - 1) * d + 1 for t, d in zip(self.taps, self.dilation)]
        if self.explicit:
            self.pads = [g.pick(0, s - 1) for s in (spans[1], spans[1], spans[0], spans[0])]
            room = height + self.pads[2] + self.pads[3], width + self.pads[0] + self.pads[1]
            self.front = self.pads
        else:
            scheme = g.pick(1, 2)
            room = self.sizes if scheme == 2 else (10 ** 6, 10 ** 6)
            self.front = [scheme]
        if room[0] < spans[0] or room[1] < spans[1]:
            raise Unfit("window larger than the image")

    def operands(self, g):
        """Padding and strides."""
        return [g.i32(v) for v in self.front + [self.stride[1], self.stride[0]]]


def tail(g, nchw, w=None):
    """Layout, and dilations if there are any; optional operands are sometimes left out."""
    dilated = w is not None and w.dilation != (1, 1)
    if not nchw and not dilated and g.chance(0.4):
        return []
    ins = [g.flag(nchw)]
    if dilated or (w is not None and g.chance(0.3)):
        ins += [g.i32(w.dilation[1]), g.i32(w.dilation[0])]
    return ins


def weights(g, x, dims, axis, fan):
    """A filter and a bias of as many elements as the filter has along @axis."""
    size = dims[axis or 0]
    limit = 1.5 / np.sqrt(fan)
    if x.type not in QUANT:
        f = g.fresh(x.type, dims, -limit, limit)
        return f, g.fresh(x.type, [size], -1, 1)
    if axis is not None and g.chance(0.4):
        f = per_channel(g, dims, axis, const=g.chance(0.8))
        scales = np.asarray(f.value.channel_scales, np.float32) * np.float32(x.scale)
        bias = np.round(g.rng.uniform(-2, 2, size) / scales)
        return f, g.constant(I32, np.clip(bias, -2 ** 30, 2 ** 30), const=g.chance(0.7))
    f = g.fresh(x.type, dims)
    scale = float(np.float32(x.scale) * np.float32(f.scale))
    bias = np.round(g.rng.uniform(-2, 2, size) / scale)
    return f, g.constant(I32, np.clip(bias, -2 ** 30, 2 ** 30), scale, const=g.chance(0.7))


@make("CONV_2D")
def conv_2d(g, op):
    x, nchw = g.image(FQ), g.chance(0.4)
    w = Windows(g, x, nchw, g.chance(0.3))
    depth, wide = x.dims[1 if nchw else 3], g.width(8)
    f, b = weights(g, x, [wide, *w.taps, depth], 0, depth * w.taps[0] * w.taps[1])
    g.op(op, [x, f, b] + w.operands(g) + [g.fused(x.type)] + tail(g, nchw, w),
         [(x.type, None)])


@make("GROUPED_CONV_2D")
def grouped_conv_2d(g, op):
    x, nchw = g.image(FQ), g.chance(0.4)
    w = Windows(g, x, nchw, False)
    depth = x.dims[1 if nchw else 3]
    groups = g.choice([d for d in range(1, depth + 1) if depth % d == 0])
    wide = groups * g.pick(1, 3)
    f, b = weights(g, x, [wide, *w.taps, depth // groups], 0,
                   depth // groups * w.taps[0] * w.taps[1])
    g.op(op, [x, f, b] + w.operands(g) + [g.i32(groups), g.fused(x.type), g.flag(nchw)],
         [(x.type, None)])


@make("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(g, op):
    x, nchw = g.image(FQ), g.chance(0.4)
    w = Windows(g, x, nchw, g.chance(0.3))
    times = g.pick(1, 3)
    f, b = weights(g, x, [1, *w.taps, x.dims[1 if nchw else 3] * times], 3,
                   w.taps[0] * w.taps[1])
    g.op(op, [x, f, b] + w.operands(g) + [g.i32(times), g.fused(x.type)] + tail(g, nchw, w),
         [(x.type, None)])


@make("TRANSPOSE_CONV_2D")
def transpose_conv_2d(g, op):
    x, nchw = g.image(FQ), g.chance(0.4)
    height, width = x.dims[2:] if nchw else x.dims[1:3]
    depth, wide = x.dims[1 if nchw else 3], g.pick(1, 6)
    taps, stride = (g.pick(1, 4), g.pick(1, 4)), (g.pick(1, 3), g.pick(1, 3))
    f, b = weights(g, x, [wide, *taps, depth], 0, depth * taps[0] * taps[1])
    full = [(n - 1) * s + k for n, s, k in zip((height, width), stride, taps)]
    if g.chance(0.5):
        pads = [g.pick(0, taps[1] - 1), g.pick(0, taps[1] - 1), g.pick(0, taps[0] - 1),
                g.pick(0, taps[0] - 1)]
        if full[0] - pads[2] - pads[3] < 1 or full[1] - pads[0] - pads[1] < 1:
            raise Unfit("no output")
        front = [g.i32(p) for p in pads]
    else:
        scheme = g.pick(1, 2)
        out = [n * s for n, s in zip((height, width), stride)] if scheme == 1 else full
        dims = [x.dims[0], wide, *out] if nchw else [x.dims[0], *out, wide]
        front = [g.ints(dims), g.i32(scheme)]
    g.op(op, [x, f, b] + front + [g.i32(stride[1]), g.i32(stride[0]), g.fused(x.type),
                                  g.flag(nchw)], [(x.type, None)])


@make("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
def pool_2d(g, op):
    x, nchw = g.image(FLOAT if op == "L2_POOL_2D" else FQ), g.chance(0.4)
    w = Windows(g, x, nchw, False)
    g.op(op, [x] + w.operands(g) + [g.i32(w.taps[1]), g.i32(w.taps[0]), g.fused(x.type)] +
         tail(g, nchw), [(x.type, x)])


@make("FULLY_CONNECTED")
def fully_connected(g, op):
    x = g.data(FQ, (2, 4))
    size, units = x.dims[-1], g.width(8)
    if g.chance(0.2):
        size = int(np.prod(x.dims[1:]))
    f, b = weights(g, x, [units, size], None, size) if x.type not in QUANT else \
        dense(g, x, units, size)
    g.op(op, [x, f, b, g.fused(x.type)], [(x.type, None)])


def dense(g, x, units, size):
    f = g.fresh(x.type, [units, size])
    scale = float(np.float32(x.scale) * np.float32(f.scale))
    bias = np.round(g.rng.uniform(-2, 2, units) / scale)
    return f, g.constant(I32, np.clip(bias, -2 ** 30, 2 ** 30), scale, const=g.chance(0.7))


@make("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(g, op):
    x, nchw = g.image(FQ), g.chance(0.4)
    height, width = x.dims[2:] if nchw else x.dims[1:3]
    if g.chance(0.6):
        ins = [x, g.i32(g.pick(1, 12)), g.i32(g.pick(1, 12))]
    else:
        # Factors whose product is no integer: rounding could miss one.
        factors = [(g.pick(1, 12) + 0.5) / n for n in (width, height)]
        ins = [x] + [g.real(f, x.type) for f in factors]
    align = g.chance(0.3)
    half = not align and g.chance(0.4)
    if op == "RESIZE_NEAREST_NEIGHBOR" or nchw or align or half or g.chance(0.5):
        ins.append(g.flag(nchw))
        if align or half or g.chance(0.3):
            ins.append(g.flag(align))
            if half or g.chance(0.5):
                ins.append(g.flag(half))
    g.op(op, ins, [(x.type, x)])


@make("ROI_ALIGN", "ROI_POOLING")
def regions(g, op):
    x, nchw = g.image(FQ), g.chance(0.4)
    height, width = x.dims[2:] if nchw else x.dims[1:3]
    count = g.pick(1, 4)
    ratios = g.choice([0.5, 1.0, 2.0, 4.0]), g.choice([0.5, 1.0, 2.0, 4.0])
    boxes = []
    for _ in range(count):
        # Multiples of 1/8 away from halves and whole numbers, where rounding decides.
        ends = []
        for size in (width, height):
            low = g.pick(0, 8 * size - 4) | 1
            high = min(g.pick(low + 2, 8 * size), 8 * size - 1) | 1
            ends.append((low / 8, max(high, low) / 8))
        boxes.append([ends[0][0] * ratios[1], ends[1][0] * ratios[0],
                      ends[0][1] * ratios[1], ends[1][1] * ratios[0]])
    boxes = np.array(boxes)
    if x.type in QUANT:
        rois = g.constant(A16, np.round(boxes * 8), 0.125, 0, const=g.chance(0.5))
        if (np.round(boxes * 8) != boxes * 8).any() or boxes.max() * 8 > 65535:
            raise Unfit("not representable")
    else:
        rois = g.constant(x.type, boxes, const=g.chance(0.5))
    batch = g.ints(np.sort(g.rng.integers(0, x.dims[0], count)))
    like = F32 if x.type in QUANT else x.type
    ins = [x, rois, batch, g.i32(g.pick(1, 4)), g.i32(g.pick(1, 4)), g.real(ratios[0], like),
           g.real(ratios[1], like)]
    if op == "ROI_ALIGN":
        ins += [g.i32(g.pick(0, 3)), g.i32(g.pick(0, 3))]
    ins.append(g.flag(nchw))
    g.op(op, ins, [(x.type, None if op == "ROI_ALIGN" else x)])
