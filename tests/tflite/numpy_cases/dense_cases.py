# SPDX-License-Identifier: MIT
"""Constants that are sparse, or of four bits."""

import numpy as np

import archive
import tflite_file
from flatbuffer import Table, Vector

from .case_maker import FLOATS

LISTS = {1: ("i", 4), 2: ("H", 2), 3: ("B", 1)}


def _encode(dense, order, blocks, block_map, compressed, list_type):
    """The stored values and the table of a sparse tensor: a path per element, then a level each."""
    rank = dense.ndim
    sizes = [blocks[block_map.index(d)] if d in block_map else 1 for d in range(rank)]
    paths = []
    for index in np.ndindex(*dense.shape):
        outer = [i // s for i, s in zip(index, sizes)]
        inner = [index[d] % sizes[d] for d in block_map]
        paths.append(tuple((outer + inner)[d] for d in order) + (dense[index],))
    paths.sort(key=lambda p: p[:-1])
    lengths = [dense.shape[d] // sizes[d] for d in range(rank)] + list(blocks)
    nodes, levels = [paths], []
    for level, d in enumerate(order):
        segments, indices, below = [0], [], []
        for node in nodes:
            for i in range(lengths[d]):
                part = [p for p in node if p[level] == i]
                if compressed[level] and not any(p[-1] for p in part):
                    continue
                indices.append(i)
                below.append(part)
            segments.append(len(indices))
        nodes = below
        if compressed[level]:
            kind, size = LISTS[list_type]
            levels.append(Table({0: ("e", 1), 2: ("B", list_type),
                                 3: Table({0: Vector(kind, segments, size)}),
                                 4: ("B", list_type),
                                 5: Table({0: Vector(kind, indices, size)})}))
        else:
            levels.append(Table({0: ("e", 0), 1: ("i", lengths[d])}))
    values = np.array([node[0][-1] for node in nodes], dense.dtype)
    table = Table({0: Vector("i", order), 1: Vector("i", block_map), 2: levels})
    return values.tobytes(), table


def _sparse(dense, *form):
    tensor = tflite_file.Tensor(dense.dtype, dense.shape, dense)
    tensor.stored, tensor.sparsity = _encode(dense, *form)
    return tensor


def _case(m, operator, tensors, operators, given, expected, limits=(0, 0)):
    """Tensor 0 is fed, the last one is the result."""
    graph = tflite_file.Subgraph(tensors, operators, [0], [len(tensors) - 1])
    m.cases.append(archive.Case("%s %d" % (operator.lower(), len(m.cases)), operator, 1,
                                tflite_file.model([graph]), [given],
                                [archive.Output(expected, *limits)]))


def _thinned(m, shape, dtype, block):
    """Data of which most blocks are zero."""
    dense = m.data(shape, dtype)
    keep = m.rng.random([n // b for n, b in zip(shape, block)]) < 0.3
    # A file has no constants without elements.
    keep.flat[0] = True
    for axis, b in enumerate(block):
        keep = np.repeat(keep, b, axis)
    return np.where(keep, dense, np.zeros(1, dense.dtype)).astype(dense.dtype)


FORMS = (
    # Shape, block of each dimension, order, blocks, their dimensions, compressed levels.
    ((6, 8), (1, 1), [0, 1], [], [], [False, True]),
    ((6, 8), (1, 1), [1, 0], [], [], [True, True]),
    ((6, 8), (1, 4), [0, 1, 2], [4], [1], [False, True, False]),
    ((8, 8), (2, 4), [0, 1, 2, 3], [2, 4], [0, 1], [True, True, False, False]),
    ((8, 8), (2, 4), [1, 0, 3, 2], [2, 4], [0, 1], [False, True, False, False]),
    ((3, 2, 2, 8), (1, 1, 1, 4), [0, 1, 2, 3, 4], [4], [3], [False, False, False, True, False]),
    ((7,), (1,), [0], [], [], [True]),
    ((2, 3), (1, 1), [0, 1], [], [], [False, False]),
)


def densify(m):
    for shape, block, *form in FORMS:
        for dtype in ("f4", "i4", "i8", "i1", "f2"):
            for list_type in LISTS:
                dense = _thinned(m, shape, dtype, block)
                result = tflite_file.Tensor(dtype, shape)
                out = tflite_file.Tensor(dtype, (2,) + shape)
                # A fed number makes the model one that has an input.
                x = m.data(shape, dtype)
                _case(m, "DENSIFY",
                      [tflite_file.Tensor(dtype, shape), _sparse(dense, *form, list_type), result, out],
                      [tflite_file.Operator("DENSIFY", [1], [2]),
                       tflite_file.Operator("PACK", [0, 2], [3], [("i", 2), ("i", 0)])],
                      x, np.stack([x, dense]))
    # Weights; of DENSIFY, and as they are.
    for shape, block, *form in FORMS[:5]:
        x, dense = m.data((3, shape[1])), _thinned(m, shape, "f4", block)
        fc = [("e", 0), ("e", 0), ("b", 0)]
        y = (x.astype("f8") @ dense.T).astype("f4")
        limits = (5e-5, FLOATS[1])
        _case(m, "DENSIFY",
              [tflite_file.Tensor("f4", x.shape), _sparse(dense, *form, 1),
               tflite_file.Tensor("f4", shape), tflite_file.Tensor("f4", y.shape)],
              [tflite_file.Operator("DENSIFY", [1], [2]),
               tflite_file.Operator("FULLY_CONNECTED", [0, 2, -1], [3], fc)], x, y, limits)
        _case(m, "FULLY_CONNECTED",
              [tflite_file.Tensor("f4", x.shape), _sparse(dense, *form, 2),
               tflite_file.Tensor("f4", y.shape)],
              [tflite_file.Operator("FULLY_CONNECTED", [0, 1, -1], [2], fc)], x, y, limits)


def _four_bits(values, scales, dimension=0):
    tensor = tflite_file.Tensor("i1", values.shape, values, scales, 0, dimension)
    flat = np.append(values.reshape(-1), np.zeros(values.size % 2, "i1")) & 15
    tensor.type = 17
    tensor.stored = (flat[0::2] | flat[1::2] << 4).astype("u1").tobytes()
    return tensor


def four_bits(m):
    for rows, columns in ((1, 1), (3, 5), (4, 8), (5, 7)):
        w = m.rng.integers(-8, 7, (rows, columns), endpoint=True).astype("i1")
        x, scales = m.data((2, columns)), [0.25 + 0.5 * k for k in range(rows)]
        for given in ([0.125], scales):
            real = w * np.array(given, "f8")[:, None]
            _case(m, "FULLY_CONNECTED",
                  [tflite_file.Tensor("f4", x.shape), _four_bits(w, given),
                   tflite_file.Tensor("f4", (2, rows))],
                  [tflite_file.Operator("FULLY_CONNECTED", [0, 1, -1], [2],
                                        [("e", 0), ("e", 0), ("b", 0)])],
                  x, (x @ real.T).astype("f4"), (1e-4, 1e-5))
        # Numbers of eight bits that meet them.
        q = m.rng.integers(-128, 127, (2, columns), endpoint=True).astype("i1")
        sums = q.astype("i4") @ w.astype("i4").T
        _case(m, "FULLY_CONNECTED",
              [tflite_file.Tensor("i1", q.shape, None, (0.5,)), _four_bits(w, [0.5]),
               tflite_file.Tensor("i1", (2, rows), None, (32.0,))],
              [tflite_file.Operator("FULLY_CONNECTED", [0, 1, -1], [2],
                                    [("e", 0), ("e", 0), ("b", 0)])],
              q, np.clip(np.round(sums / 128), -128, 127).astype("i1"), (1, 0))
        index = m.rng.integers(0, rows, (3,)).astype("i4")
        _case(m, "EMBEDDING_LOOKUP",
              [tflite_file.Tensor("i4", index.shape), _four_bits(w, [0.125]),
               tflite_file.Tensor("f4", (3, columns))],
              [tflite_file.Operator("EMBEDDING_LOOKUP", [0, 1], [2])],
              index, (w[index] * 0.125).astype("f4"))
    kernel = m.rng.integers(-8, 7, (3, 2, 2, 3), endpoint=True).astype("i1")
    x, scales = m.data((1, 4, 5, 3)), [0.1, 0.2, 0.3]
    real = kernel * np.array(scales, "f4").astype("f8")[:, None, None, None]
    y = np.zeros((1, 3, 4, 3))
    for i in range(3):
        for j in range(4):
            y[0, i, j] = np.tensordot(real, x[0, i:i + 2, j:j + 2], 3)
    _case(m, "CONV_2D",
          [tflite_file.Tensor("f4", x.shape), _four_bits(kernel, scales),
           tflite_file.Tensor("f4", y.shape)],
          [tflite_file.Operator("CONV_2D", [0, 1, -1], [2],
                                [("e", 1), ("i", 1), ("i", 1), ("e", 0), ("i", 1), ("i", 1)])],
          x, y.astype("f4"), (1e-4, 1e-5))


MAKERS = (densify, four_bits)
