# SPDX-License-Identifier: MIT
"""Operations of object detection: boxes, overlaps, key points."""

import numpy as np

from .core import Raw, Refused, operation
from .spatial import nhwc


def area(b):
    return (b[2] - b[0]) * (b[3] - b[1])


def overlap(a, b):
    """Intersection over union."""
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    common = max(w, 0) * max(h, 0)
    union = area(a) + area(b) - common
    return common / union if union > 0 else 0.0


def transform(box, change, image):
    """A box moved and scaled by a change, limited to the image."""
    w, h = box[2] - box[0], box[3] - box[1]
    x, y = box[0] + w / 2 + change[0] * w, box[1] + h / 2 + change[1] * h
    w, h = w * np.exp(change[2]), h * np.exp(change[3])
    return np.array([np.clip(x - w / 2, 0, image[1]), np.clip(y - h / 2, 0, image[0]),
                     np.clip(x + w / 2, 0, image[1]), np.clip(y + h / 2, 0, image[0])])


@operation("AXIS_ALIGNED_BBOX_TRANSFORM")
def bbox_transform(c):
    boxes, changes, images = c.real(0), c.real(1), c.real(3)
    y = np.zeros_like(changes)
    for i, (box, batch) in enumerate(zip(boxes, c.list(2))):
        if box[0] > box[2] or box[1] > box[3]:
            raise Refused("box")
        for k in range(changes.shape[1] // 4):
            y[i, 4 * k:4 * k + 4] = transform(box, changes[i, 4 * k:4 * k + 4], images[batch])
    return [y]


@operation("BOX_WITH_NMS_LIMIT")
def box_with_nms_limit(c):
    scores, boxes, batches = c.real(0).copy(), c.real(1), c.list(2)
    least, limit, kernel, threshold, sigma, lowest = (c.item(i) for i in range(3, 9))
    classes = scores.shape[1]

    def box(i, k):
        return boxes[i, 4 * k:4 * k + 4]

    def factor(o):
        if kernel == 2:
            return np.exp(-o * o / sigma)
        if o < threshold:
            return 1.0
        return 0.0 if kernel == 0 else 1 - o

    picked = []
    first = 0
    while first < len(batches):
        end = first
        while end < len(batches) and batches[end] == batches[first]:
            end += 1
        of_batch = []
        for k in range(1, classes):
            rest = [i for i in range(first, end) if scores[i, k] > least]
            while rest:
                best = max(rest, key=lambda i: scores[i, k])
                rest.remove(best)
                of_batch.append((best, k))
                for i in rest:
                    scores[i, k] *= factor(overlap(box(best, k), box(i, k)))
                rest = [i for i in rest if scores[i, k] >= lowest]
        if 0 <= limit < len(of_batch):
            kept = sorted(of_batch, key=lambda p: -scores[p])[:limit]
            of_batch = [p for p in of_batch if p in kept]
        picked += of_batch
        first = end
    return [np.array([scores[p] for p in picked]).reshape(-1),
            np.array([box(*p) for p in picked]).reshape(-1, 4),
            Raw(np.array([k for _, k in picked], np.int32)),
            Raw(np.array([batches[i] for i, _ in picked], np.int32))]


def suppress(boxes, scores, candidates, threshold, limit):
    """The best candidates of which none overlaps a better one too much."""
    rest = sorted(candidates, key=lambda i: -scores[i])
    kept = []
    while rest and len(kept) < limit:
        best = rest.pop(0)
        kept.append(best)
        rest = [i for i in rest if overlap(boxes[best], boxes[i]) < threshold]
    return kept


@operation("GENERATE_PROPOSALS")
def generate_proposals(c):
    nchw = bool(c.item(10))
    scores, deltas = nhwc(c.real(0), nchw), nhwc(c.real(1), nchw)
    anchors, images = c.real(2), c.real(3)
    stride_y, stride_x = c.item(4), c.item(5)
    before, after, threshold, smallest = (c.item(i) for i in range(6, 10))
    n, height, width, count = scores.shape
    out_scores, out_boxes, out_batches = [], [], []
    for b in range(n):
        flat = scores[b].reshape(-1)
        order = sorted(range(flat.size), key=lambda i: -flat[i])
        if before > 0:
            order = order[:before]
        boxes, kept = {}, []
        for i in order:
            y, x, k = np.unravel_index(i, (height, width, count))
            shift = np.array([x * stride_x, y * stride_y] * 2)
            box = transform(anchors[k] + shift, deltas[b, y, x, 4 * k:4 * k + 4], images[b])
            w, h = box[2] - box[0], box[3] - box[1]
            least = max(smallest, 1.0)
            if w >= least and h >= least and box[0] + w / 2 < images[b][1] and \
                    box[1] + h / 2 < images[b][0]:
                boxes[i] = box
                kept.append(i)
        kept = suppress(boxes, flat, kept, threshold, after if after > 0 else len(kept))
        out_scores += [flat[i] for i in kept]
        out_boxes += [boxes[i] for i in kept]
        out_batches += [b] * len(kept)
    return [np.array(out_scores).reshape(-1), np.array(out_boxes).reshape(-1, 4),
            Raw(np.array(out_batches, np.int32))]


@operation("DETECTION_POSTPROCESSING")
def detection_postprocessing(c):
    scores, encoded, anchors = c.real(0), c.real(1), c.real(2)
    scale = np.array([c.item(i) for i in range(3, 7)])
    regular, limit, per_box, per_class, least, threshold, background = \
        (c.item(i) for i in range(7, 14))
    n, count, classes = scores.shape
    first = 0 if background else 1
    out = [np.zeros((n, limit)), np.zeros((n, limit, 4)), np.zeros((n, limit), np.int32),
           np.zeros(n, np.int32)]
    for b in range(n):
        v = encoded[b, :, :4] / scale
        y, x = v[:, 0] * anchors[:, 2] + anchors[:, 0], v[:, 1] * anchors[:, 3] + anchors[:, 1]
        h, w = np.exp(v[:, 2]) * anchors[:, 2] / 2, np.exp(v[:, 3]) * anchors[:, 3] / 2
        boxes = np.stack([y - h, x - w, y + h, x + w], axis=1)
        picked = []
        if regular:
            for k in range(1, classes):
                s = scores[b, :, k]
                good = [i for i in range(count) if s[i] > least]
                picked += [(i, k) for i in suppress(boxes, s, good, threshold, per_class)]
            picked.sort(key=lambda p: -scores[b, p[0], p[1]])
            picked = picked[:limit]
        else:
            best = scores[b, :, 1:].max(axis=1)
            good = [i for i in range(count) if best[i] > least]
            for i in suppress(boxes, best, good, threshold, limit):
                order = sorted(range(1, classes), key=lambda k: -scores[b, i, k])
                picked += [(i, k) for k in order[:per_box]]
            picked = picked[:limit]
        for at, (i, k) in enumerate(picked):
            out[0][b, at] = scores[b, i, k]
            out[1][b, at] = boxes[i]
            out[2][b, at] = k - first
        out[3][b] = len(picked)
    return [out[0], out[1], Raw(out[2]), Raw(out[3])]


@operation("HEATMAP_MAX_KEYPOINT")
def heatmap_max_keypoint(c):
    maps, boxes = nhwc(c.real(0), bool(c.item(2))), c.real(1)
    n, size, _, points = maps.shape
    best = np.zeros((n, points))
    place = np.zeros((n, points, 2))
    for i in range(n):
        x1, y1, x2, y2 = boxes[i]
        cell = max(x2 - x1, 1) / size, max(y2 - y1, 1) / size
        for k in range(points):
            m = maps[i, :, :, k]
            y, x = np.unravel_index(np.argmax(m), m.shape)
            around = np.pad(m, 1, mode="reflect")[y:y + 3, x:x + 3]
            dx, dy = (around[1, 2] - around[1, 0]) / 2, (around[2, 1] - around[0, 1]) / 2
            xx = around[1, 2] - 2 * around[1, 1] + around[1, 0]
            yy = around[2, 1] - 2 * around[1, 1] + around[0, 1]
            xy = (around[2, 2] - around[2, 0] - around[0, 2] + around[0, 0]) / 4
            determinant = xx * yy - xy * xy
            mx = my = 0.0
            value = around[1, 1]
            if abs(determinant) >= 1e-4 * max(abs(xx * yy), xy * xy) and determinant != 0:
                mx, my = -(yy * dx - xy * dy) / determinant, -(xx * dy - xy * dx) / determinant
                largest = max(abs(mx), abs(my))
                if largest > 1.5:
                    mx, my = mx * 1.5 / largest, my * 1.5 / largest
                value = around[1, 1] + dx * mx + dy * my + \
                    (xx * mx * mx + 2 * xy * mx * my + yy * my * my) / 2
            best[i, k] = value
            place[i, k] = x1 + (x + 0.5 + mx) * cell[0], y1 + (y + 0.5 + my) * cell[1]
    return [best, place]
