# SPDX-License-Identifier: MIT
"""Operations on random operands, fourth part: boxes of object detection.

Their results change with the order of scores and with overlaps beyond a threshold, so
their operands are exact and scores differ.
"""

import numpy as np

from .graph import A16, F32, FLOAT, FQ, I32, QUANT, S16, Unfit
from .makers import make


def distinct(g, type, dims, low=0.0, high=1.0):
    """Scores that all differ, also in half precision and in eight bits."""
    n = int(np.prod(dims))
    if n > 200:
        raise Unfit("too many scores")
    order = g.rng.permutation(n)
    if type in QUANT:
        start = g.pick(0, 255 - n)
        least = 0 if type != "TENSOR_QUANT8_ASYMM_SIGNED" else -128
        t = g.fresh(type, dims, quant=(1 / 256, least), const=False)
        t.value.data = (order + start + least).reshape(dims).astype(t.value.data.dtype)
        return t
    t = g.fresh(type, dims, const=False)
    t.value.data = (low + (order + 0.5) * (high - low) / n).reshape(dims) \
        .astype(t.value.data.dtype)
    return t


def boxes(g, type, dims, size=32.0, grid=8.0):
    """Boxes x1, y1, x2, y2 in an image, multiples of 1/8."""
    n = int(np.prod(dims)) // 4
    low = g.rng.uniform(0, size * 0.6, (n, 2))
    high = low + g.rng.uniform(size * 0.1, size * 0.4, (n, 2))
    data = np.round(np.concatenate([low, high], axis=1) * grid) / grid
    data = data.reshape(dims)
    if type in QUANT:
        return g.constant(A16, np.round(data * 8), 0.125, 0, const=g.chance(0.3))
    return g.constant(type, data, const=g.chance(0.3))


def _box_type(type):
    return (A16, (0.125, 0)) if type in QUANT else (type, None)


@make("AXIS_ALIGNED_BBOX_TRANSFORM")
def bbox_transform(g, op):
    n, classes, batches = g.pick(1, 6), g.pick(1, 3), g.pick(1, 3)
    x = g.data(FQ, (2, 2), low=-1.0, high=1.0, dims=[n, 4 * classes])
    if x.dims[1] % 4:
        raise Unfit("not four changes")
    n = x.dims[0]
    rois = boxes(g, x.type, [n, 4])
    batch = np.sort(g.rng.integers(0, batches, n))
    size = np.full((batches, 2), 32.0)
    image = g.constant(A16, size * 8, 0.125, 0) if x.type in QUANT else \
        g.constant(x.type, size)
    g.op(op, [rois, x, g.ints(batch), image], [_box_type(x.type)])


@make("BOX_WITH_NMS_LIMIT")
def box_with_nms_limit(g, op):
    n, classes = g.pick(1, 8), g.pick(2, 4)
    if g.must_connect:
        x = g.data(FQ, (2, 2), exact=True)
        if np.unique(x.value.data).size != x.value.data.size:
            raise Unfit("equal scores")
        n, classes = x.dims
    else:
        x = distinct(g, g.choice(FQ), [n, classes])
    if classes < 2 or n * classes > 60:
        raise Unfit("classes")
    rois = boxes(g, x.type, [n, 4 * classes])
    batch = np.sort(g.rng.integers(0, 2, n))
    like = F32 if x.type in QUANT else x.type
    ins = [x, rois, g.ints(batch), g.real(g.rng.uniform(0, 0.5), like),
           g.i32(g.choice([-1, 2, 5, 20])), g.i32(g.pick(0, 2)),
           g.real(g.rng.uniform(0.1, 0.6), like), g.real(g.rng.uniform(0.3, 1), like),
           g.real(g.rng.uniform(0, 0.3), like)]
    g.op(op, ins, [(x.type, x), _box_type(x.type), (I32, None), (I32, None)])


@make("GENERATE_PROPOSALS")
def generate_proposals(g, op):
    n, height, width, anchors = g.pick(1, 2), g.pick(1, 4), g.pick(1, 4), g.pick(1, 3)
    if g.must_connect:
        raise Unfit("has operands of its own")
    nchw = g.chance(0.4)
    type = g.choice(FQ)
    dims = [n, anchors, height, width] if nchw else [n, height, width, anchors]
    x = distinct(g, type, dims)
    dims[1 if nchw else 3] *= 4
    changes = g.fresh(type, dims, -0.5, 0.5)
    half = g.rng.uniform(4, 10, (anchors, 2))
    base = np.round(np.concatenate([-half, half], axis=1) * 8) / 8
    anchor = g.constant(S16, base * 8, 0.125, 0) if type in QUANT else g.constant(type, base)
    size = np.full((n, 2), 32.0)
    image = g.constant(A16, size * 8, 0.125, 0) if type in QUANT else g.constant(type, size)
    like = F32 if type in QUANT else type
    ins = [x, changes, anchor, image, g.real(8.0, like), g.real(8.0, like),
           g.i32(g.choice([-1, 5, 20])), g.i32(g.choice([-1, 3, 10])),
           g.real(g.rng.uniform(0.2, 0.7), like), g.real(g.rng.uniform(1, 5), like),
           g.flag(nchw)]
    g.op(op, ins, [(type, x), _box_type(type), (I32, None)])


@make("DETECTION_POSTPROCESSING")
def detection_postprocessing(g, op):
    if g.must_connect:
        raise Unfit("has operands of its own")
    n, count, classes = g.pick(1, 2), g.pick(1, 8), g.pick(2, 4)
    type = g.choice(FLOAT)
    x = distinct(g, type, [n, count, classes])
    changes = g.fresh(type, [n, count, g.choice([4, 4, 5])], -1, 1)
    centers = np.round(g.rng.uniform(8, 24, (count, 2)) * 8) / 8
    sizes = np.round(g.rng.uniform(4, 12, (count, 2)) * 8) / 8
    anchors = g.constant(type, np.concatenate([centers, sizes], axis=1))
    ins = [x, changes, anchors] + [g.real(v, type) for v in (10.0, 10.0, 5.0, 5.0)]
    ins += [g.flag(g.chance(0.5)), g.i32(g.pick(1, 8)), g.i32(g.pick(1, 3)),
            g.i32(g.pick(1, 5)), g.real(g.rng.uniform(0, 0.5), type),
            g.real(g.rng.uniform(0.2, 0.7), type), g.flag(g.chance(0.5))]
    g.op(op, ins, [(type, None), (type, None), (I32, None), (I32, None)])


@make("HEATMAP_MAX_KEYPOINT")
def heatmap_max_keypoint(g, op):
    n, size, points, nchw = g.pick(1, 2), g.pick(2, 5), g.pick(1, 2), g.chance(0.4)
    if g.must_connect:
        raise Unfit("has operands of its own")
    type = g.choice([F32, F32, *QUANT])
    dims = [n, points, size, size] if nchw else [n, size, size, points]
    x = distinct(g, type, dims)
    g.op(op, [x, boxes(g, type, [n, 4]), g.flag(nchw)],
         [(type, None), _box_type(type)])
