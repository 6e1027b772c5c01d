# SPDX-License-Identifier: MIT
"""Reductions along axes, positions of extremes, best elements."""

import numpy as np

from .core import Raw, axis_of, operation

_REDUCE = {"MEAN": np.mean, "REDUCE_SUM": np.sum, "REDUCE_PROD": np.prod,
           "REDUCE_MAX": np.max, "REDUCE_MIN": np.min, "REDUCE_ALL": np.all,
           "REDUCE_ANY": np.any}


@operation(*_REDUCE)
def reduce_(c):
    axes = tuple({axis_of(a, c[0].rank) for a in c.list(1)})
    keep = bool(c.item(2))
    if c[0].type == "TENSOR_BOOL8":
        y = _REDUCE[c.op](c[0].data != 0, axis=axes, keepdims=keep)
        return [Raw(np.asarray(y).reshape(np.shape(y) or (1,)))]
    y = _REDUCE[c.op](c.real(0), axis=axes, keepdims=keep)
    return [np.asarray(y).reshape(np.shape(y) or (1,))]


@operation("ARGMAX", "ARGMIN")
def argmax(c):
    f = np.argmax if c.op == "ARGMAX" else np.argmin
    y = f(c[0].data, axis=c.item(1))
    return [Raw(np.asarray(y).reshape(np.shape(y) or (1,)))]


@operation("TOPK_V2")
def topk(c):
    x = c[0].data
    order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")[..., :c.item(1)]
    return [Raw(np.take_along_axis(x, order, -1)), Raw(order)]
