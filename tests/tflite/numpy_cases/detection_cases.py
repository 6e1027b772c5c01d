# SPDX-License-Identifier: MIT
"""TFLite_Detection_PostProcess, with a background among the scores and without."""

import numpy as np

import flexbuffer

from .case_maker import Given
from .layout_cases import overlap

_SCALES = {"y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}


def _decode(deltas, anchors):
    d, a = deltas.astype("f8"), anchors.astype("f8")
    centre = d[:, :2] / 10 * a[:, 2:] + a[:, :2]
    half = np.exp(d[:, 2:4] / 5) * a[:, 2:] / 2
    return np.concatenate([centre - half, centre + half], 1)


def _suppress(boxes, scores, least, most):
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if scores[i] >= least and len(kept) < most and \
                all(overlap(boxes[i], boxes[j]) <= 0.5 for j in kept):
            kept.append(int(i))
    return kept


def _reference(boxes, scores, regular, least, most, per_class):
    """Pairs of a box and its class, the best first."""
    if not regular:
        best = scores.max(1)
        return [(i, int(scores[i].argmax())) for i in _suppress(boxes, best, least, most)]
    pairs = [(i, k) for k in range(scores.shape[1])
             for i in _suppress(boxes, scores[:, k], least, per_class)]
    return sorted(pairs, key=lambda p: -scores[p])[:most]


def detections(m):
    for count, classes, most in ((1, 1, 1), (6, 2, 3), (20, 5, 8), (3, 4, 10)):
        for background in (0, 1):
            for regular in (False, True):
                anchors = np.concatenate([m.rng.random((count, 2)),
                                          m.rng.random((count, 2)) + 0.3], 1).astype("f4")
                deltas = m.data((1, count, 4))
                # The background is never a result, however sure it is.
                scores = m.rng.permutation(count * classes).reshape(1, count, classes) / 256
                scores = np.concatenate([np.ones((1, count, background)), scores], 2).astype("f4")
                boxes = _decode(deltas[0], anchors)
                found = _reference(boxes, scores[0, :, background:], regular, 0.01, most, 2)
                out = [np.zeros((1, most, 4), "f4"), np.zeros((1, most), "f4"),
                       np.zeros((1, most), "f4")]
                for at, (i, k) in enumerate(found):
                    out[0][0, at] = boxes[i]
                    out[1][0, at] = k
                    out[2][0, at] = scores[0, i, k + background]
                options = dict(_SCALES, use_regular_nms=regular, max_detections=most,
                               max_classes_per_detection=1, detections_per_class=2,
                               nms_score_threshold=0.01, nms_iou_threshold=0.5,
                               num_classes=classes)
                m.add("TFLite_Detection_PostProcess", [deltas, scores, Given(anchors, True)],
                      out + [np.array([len(found)], "f4")], flexbuffer.write(options))


MAKERS = (detections,)
