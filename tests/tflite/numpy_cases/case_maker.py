# SPDX-License-Identifier: MIT
"""What the cases of one operator are made with."""

import numpy as np

import archive
import tflite_file

FLOATS = (1e-5, 5 * 2.0 ** -23)
SHAPES = [(), (1,), (7,), (3, 1), (2, 5), (1, 3, 4), (2, 3, 1, 4), (2, 1, 3, 2, 2),
          (1, 2, 1, 3, 2, 2)]
# Positions of tensors that say how an operator works. TensorFlow Lite lets other operators compute them.
PARAMETERS = {
    "ARG_MAX": (1,), "ARG_MIN": (1,), "BATCH_TO_SPACE_ND": (1, 2), "BROADCAST_TO": (1,),
    "CONV_3D_TRANSPOSE": (0,), "CUMSUM": (1,), "EXPAND_DIMS": (1,), "MEAN": (1,), "PAD": (1,),
    "REDUCE_ALL": (1,), "REDUCE_ANY": (1,), "REDUCE_MAX": (1,), "REDUCE_MIN": (1,),
    "REDUCE_PROD": (1,), "RESHAPE": (1,), "RESIZE_BILINEAR": (1,), "RESIZE_NEAREST_NEIGHBOR": (1,),
    "REVERSE_V2": (1,), "RFFT2D": (1,), "SLICE": (1, 2), "SPACE_TO_BATCH_ND": (1, 2),
    "SPLIT": (0,), "SPLIT_V": (1, 2), "STRIDED_SLICE": (1, 2, 3), "SUM": (1,), "TILE": (1,),
    "TOPK_V2": (1,), "TRANSPOSE": (1,), "TRANSPOSE_CONV": (0,), "UNSORTED_SEGMENT_MAX": (2,),
    "UNSORTED_SEGMENT_MIN": (2,), "UNSORTED_SEGMENT_PROD": (2,), "UNSORTED_SEGMENT_SUM": (2,),
}
# So many cases of an operator and a type are there once more with these fed.
_TWINS = 2
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
        self.ranks = set()      # operators, ranks and types of input 0
        self.twins = {}         # by operator and type: cases with parameters that are fed

    @staticmethod
    def type_of(dtype):
        return tflite_file.TYPES[np.dtype(dtype)]

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

    def _add_twin(self, operator, inputs, outputs, options, limits, scale, zero_point):
        """The same case with its parameters fed, and a result of which the file says nothing."""
        places = PARAMETERS.get(operator, ())
        if not places or not any(isinstance(inputs[p], Given) and inputs[p].constant and
                                 inputs[p].value.size for p in places):
            return
        key = (operator, np.asarray(outputs[0]).dtype)
        if self.twins.setdefault(key, 0) == _TWINS:
            return
        self.twins[key] += 1
        fed = [Given(item.value, False, item.scale, item.zero_point) if p in places else item
               for p, item in enumerate(inputs)]
        self.add(operator, fed, outputs, options, limits, scale, zero_point, True)

    def add(self, operator, inputs, outputs, options=(), limits=None, scale=0.0, zero_point=0,
            unknown=False, subgraphs=(), intermediates=()):
        """A case. Integers agree exactly unless there are limits.

        Intermediates are pairs of a scale and a zero point.
        """
        self._add_twin(operator, inputs, outputs, options, limits, scale, zero_point)
        tensors, fed, given, indexes = [], [], [], []
        first = inputs[0].value if isinstance(inputs[0], Given) else np.asarray(inputs[0])
        self.ranks.add((operator, first.ndim, first.dtype))
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
