# SPDX-License-Identifier: MIT
"""What the cases of one operator are made with."""

import numpy as np

import archive
import tflite_file

FLOATS = (1e-5, 5 * 2.0 ** -23)
SHAPES = [(), (1,), (7,), (3, 1), (2, 5), (1, 3, 4), (2, 3, 1, 4), (2, 1, 3, 2, 2),
          (1, 2, 1, 3, 2, 2)]
MOVED = ("f4", "i4", "i8", "i1", "u1", "i2", "?")


class Given:
    """An input: an array, constant or fed, quantized or not.

    A list of scales is one for each index of a dimension.
    """

    def __init__(self, value, constant=False, scale=0.0, zero_point=0, variable=False,
                 dimension=0):
        self.value = np.asarray(value)
        self.constant = constant
        self.scale = scale
        self.zero_point = zero_point
        self.variable = variable
        self.dimension = dimension

    def scales(self):
        return tuple(float(s) for s in np.atleast_1d(self.scale) if s)

    def real(self):
        scale = np.float64(np.float32(self.scale))
        if scale.ndim:
            shape = [1] * self.value.ndim
            shape[self.dimension] = -1
            scale = scale.reshape(shape)
        return (self.value.astype(np.float64) - self.zero_point) * scale


def state(shape, dtype="f4"):
    """A variable, which begins with zeros."""
    return Given(np.zeros(shape, dtype), variable=True)


def const(value, dtype="i4"):
    return Given(np.asarray(value, dtype), True)


def quantize(value, dtype, scale, zero_point):
    info = np.iinfo(dtype)
    q = np.round(value / np.float64(np.float32(scale))) + zero_point
    return np.clip(q, info.min, info.max).astype(dtype)


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.cases = []

    def data(self, shape, dtype="f4"):
        dtype = np.dtype(dtype)
        if dtype.kind == "f":
            return (self.rng.standard_normal(shape) * 3).astype(dtype)
        if dtype.kind == "c":
            return (self.data(shape) + 1j * self.data(shape)).astype(dtype)
        if dtype.kind == "b":
            return self.rng.integers(0, 2, shape).astype(dtype)
        info = np.iinfo(dtype)
        return self.rng.integers(max(info.min, -1000), min(info.max, 1000), shape,
                                 endpoint=True).astype(dtype)

    def quantized(self, shape, dtype, scale, zero_point):
        return Given(self.rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape,
                                       endpoint=True).astype(dtype), False, scale, zero_point)

    def add(self, operator, inputs, outputs, options=(), limits=None, scale=0.0, zero_point=0,
            unknown=False, subgraphs=(), intermediates=()):
        """A case. Integers agree exactly unless there are limits.

        Intermediates are pairs of a scale and a zero point.
        """
        tensors, fed, given, indexes = [], [], [], []
        for item in inputs:
            if item is None:
                indexes.append(-1)
                continue
            item = item if isinstance(item, Given) else Given(item)
            indexes.append(len(tensors))
            if not item.constant and not item.variable:
                fed.append(len(tensors))
                given.append(item.value)
            tensors.append(tflite_file.Tensor(
                item.value.dtype, item.value.shape, item.value if item.constant else None,
                item.scales(), item.zero_point, item.dimension))
            tensors[-1].variable = item.variable
        first, expected = len(tensors), []
        for value in outputs:
            value = np.asarray(value)
            tensors.append(tflite_file.Tensor(value.dtype, value.shape, None,
                                              (scale,) if scale else (), zero_point, 0, unknown))
            wanted = limits or (FLOATS if value.dtype.kind == "f" else (0, 0))
            if value.dtype.kind == "c":
                value = np.ascontiguousarray(value)
                expected.append(archive.Output(value, *wanted, kind=archive.KINDS[np.dtype("f4")]))
            else:
                expected.append(archive.Output(value, *wanted))
        results = list(range(first, len(tensors)))
        line = tflite_file.Operator(operator, indexes, results, options)
        for step, zero in intermediates:
            line.intermediates.append(len(tensors))
            tensors.append(tflite_file.Tensor("i1", (), None, (step,), zero))
        model = tflite_file.model([tflite_file.Subgraph(tensors, [line], fed, results),
                                   *subgraphs])
        name = "%s %d" % (operator.lower(), len(self.cases))
        self.cases.append(archive.Case(name, tflite_file.builtin_name(operator), 1, model, given,
                                       expected))
