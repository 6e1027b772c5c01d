# SPDX-License-Identifier: MIT
"""Element by element: arithmetic, comparison, logic, activations, casts."""

import numpy as np

from .core import Raw, activate, operation

_BINARY = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply}


@operation("ADD", "SUB", "MUL")
def arithmetic(c):
    f = _BINARY[c.op]
    if c[0].type == "TENSOR_INT32":
        return [Raw(f(c[0].integer, c[1].integer).astype(np.int32))]
    return [activate(f(c.real(0), c.real(1)), c.item(2))]


@operation("DIV")
def div(c):
    if c[0].type == "TENSOR_INT32":
        a, b = c[0].integer, c[1].integer
        return [Raw(np.where(b == 0, 0, a // np.where(b == 0, 1, b)).astype(np.int32))]
    return [activate(c.real(0) / c.real(1), c.item(2))]


@operation("MAXIMUM", "MINIMUM")
def extreme(c):
    f = np.maximum if c.op == "MAXIMUM" else np.minimum
    if c[0].type == "TENSOR_INT32":
        return [Raw(f(c[0].data, c[1].data))]
    return [f(c.real(0), c.real(1))]


@operation("POW")
def power(c):
    return [np.power(c.real(0), c.real(1))]


@operation("PRELU")
def prelu(c):
    x = c.real(0)
    return [np.where(x >= 0, x, x * c.real(1))]


_COMPARE = {
    "EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal, "LESS": np.less, "LESS_EQUAL": np.less_equal,
}


@operation(*_COMPARE)
def compare(c):
    if c[0].type == "TENSOR_BOOL8":
        return [Raw(_COMPARE[c.op](c[0].data != 0, c[1].data != 0))]
    return [Raw(_COMPARE[c.op](c.real(0), c.real(1)))]


@operation("LOGICAL_AND", "LOGICAL_OR")
def logical(c):
    f = np.logical_and if c.op == "LOGICAL_AND" else np.logical_or
    return [Raw(f(c[0].data, c[1].data))]


@operation("LOGICAL_NOT")
def logical_not(c):
    return [Raw(c[0].data == 0)]


@operation("ABS", "NEG")
def sign(c):
    f = np.abs if c.op == "ABS" else np.negative
    if c[0].type == "TENSOR_INT32":
        return [Raw(f(c[0].integer).astype(np.int32))]
    return [f(c.real(0))]


_REAL = {
    "EXP": np.exp, "FLOOR": np.floor, "LOG": np.log, "SIN": np.sin, "SQRT": np.sqrt,
    "RSQRT": lambda x: 1 / np.sqrt(x), "TANH": np.tanh,
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "RELU": lambda x: activate(x, 1), "RELU1": lambda x: activate(x, 2),
    "RELU6": lambda x: activate(x, 3),
    "HARD_SWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
}


@operation(*_REAL)
def real(c):
    return [_REAL[c.op](c.real(0))]


@operation("ELU")
def elu(c):
    x = c.real(0)
    return [np.where(x > 0, x, c.item(1) * np.expm1(np.minimum(x, 0)))]


@operation("SELECT")
def select(c):
    if c[1].type == "TENSOR_INT32":
        return [Raw(np.where(c[0].data != 0, c[1].data, c[2].data))]
    return [np.where(c[0].data != 0, c.real(1), c.real(2))]


@operation("QUANTIZE", "DEQUANTIZE")
def requantize(c):
    return [c.real(0)]


_LIMITS = {"TENSOR_INT32": (-2 ** 31, 2 ** 31 - 1), "TENSOR_QUANT8_ASYMM": (0, 255),
           "TENSOR_QUANT8_ASYMM_SIGNED": (-128, 127)}


@operation("CAST")
def cast(c):
    to = c.out_types[0]
    if to == c[0].type:
        return [Raw(c[0].data)]
    x = c[0].data.astype(np.float64)
    if to in _LIMITS:
        low, high = _LIMITS[to]
        return [Raw(np.clip(np.trunc(np.nan_to_num(x, nan=0.0)), low, high))]
    return [x]


@operation("SOFTMAX", "LOG_SOFTMAX")
def softmax(c):
    x = c.real(0)
    axis = c.item(2, -1)
    e = (x - x.max(axis=axis, keepdims=True)) * c.item(1)
    total = np.exp(e).sum(axis=axis, keepdims=True)
    return [np.exp(e) / total if c.op == "SOFTMAX" else e - np.log(total)]


@operation("L2_NORMALIZATION")
def l2_normalization(c):
    x = c.real(0)
    norm = np.sqrt((x * x).sum(axis=c.item(1, -1), keepdims=True))
    return [np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm))]


@operation("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(c):
    x = np.moveaxis(c.real(0), c.item(5, -1), -1)
    radius, size = c.item(1), x.shape[-1]
    total = np.zeros_like(x)
    for i in range(size):
        part = x[..., max(0, i - radius):i + radius + 1]
        total[..., i] = (part * part).sum(axis=-1)
    y = x * np.power(c.item(2) + c.item(3) * total, -c.item(4))
    return [np.moveaxis(y, -1, c.item(5, -1))]


@operation("INSTANCE_NORMALIZATION")
def instance_normalization(c):
    x = c.real(0)
    axes = (2, 3) if c.item(4) else (1, 2)
    mean = x.mean(axis=axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
    return [(x - mean) * (c.item(1) / np.sqrt(variance + c.item(3))) + c.item(2)]


@operation("RESHAPE")
def reshape(c):
    return [Raw(c[0].data.reshape(c.list(1)))]


@operation("FILL")
def fill(c):
    return [Raw(np.full(c.list(0), c[1].data.reshape(-1)[0]))]


@operation("RANK")
def rank(c):
    return [Raw(np.array(c[0].rank, np.int32))]


