# SPDX-License-Identifier: MIT
"""Files of unusual form that are legal: what converters write, and what the schema allows."""

import numpy as np

import archive
import flexbuffer
import tflite_file
from flatbuffer import Table, Vector, write
from tflite_file import Operator, Subgraph, Tensor

_NONE = [("e", 0)]


def _case(m, operator, data, inputs, outputs):
    m.cases.append(archive.Case("%s %d" % (operator.lower(), len(m.cases)), operator, 1, data,
                                [np.asarray(i) for i in inputs],
                                [archive.Output(np.asarray(o), 1e-5, 1e-6) for o in outputs]))


def _add(shape, constant):
    """x + constant."""
    tensors = [Tensor("f4", shape), Tensor("f4", constant.shape, constant), Tensor("f4", shape)]
    return Subgraph(tensors, [Operator("ADD", [0, 1], [2], _NONE)], [0], [2])


def _signature(key, inputs, outputs, subgraph):
    lists = [[Table({0: name, 1: ("I", tensor)}) for name, tensor in names]
             for names in (inputs, outputs)]
    return Table({0: lists[0], 1: lists[1], 2: key, 4: ("I", subgraph)})


def containers(m):
    """One sum in files that differ around it."""
    x, c = m.data((2, 3)), m.data((2, 3))
    graph = _add((2, 3), c)

    def add(change=None, behind=b""):
        root = tflite_file.root([graph])
        if change:
            change(root)
        _case(m, "ADD", write(root, b"TFL3") + behind, [x], [x + c])

    # An archive with labels, as metadata writers append it.
    add(behind=b"PK\3\4" + bytes(range(200)))
    add(lambda r: r.update({3: "", 6: [Table({0: "min_runtime_version", 1: ("I", 0)}), Table()]}))
    add(lambda r: r.update({3: "a description", 7: []}))
    add(lambda r: r[2][0].update({4: "main"}))
    # Signatures whose order and names are others than those of the tensors.
    add(lambda r: r.update({7: [_signature("serving_default", [("x", 0)], [("sum", 2)], 0),
                                _signature("", [("", 0)], [("", 2)], 0)]}))

    # Each tensor has a buffer of its own, as converters write it; those of results are empty.
    def buffers(root):
        for k, tensor in enumerate(root[2][0][0]):
            if tensor[2] == ("I", 0):
                tensor[2] = ("I", len(root[4]))
                root[4].append(Table() if k else Table({0: Vector("B", b"")}))
    add(buffers)

    # As files were before the 127th operator, and with the new field alone.
    add(lambda r: r[1][0].pop(3))
    add(lambda r: r[1][0].pop(2))
    # Ranges of values, without scales.
    add(lambda r: r[2][0][0][0].update({4: Table({0: Vector("f", [-1.0]), 1: Vector("f", [1.0])})}))
    add(lambda r: r[2][0][0][0].update({4: Table({2: Vector("f", []), 3: Vector("q", [], 8)})}))
    # Without options; their defaults hold.
    add(lambda r: [r[2][0][3][0].pop(s) for s in (3, 4)])

    # Subgraphs that nothing refers to, one of which cannot be mapped.
    others = [_add((k + 1,), m.data((k + 1,))) for k in range(40)]
    others.append(Subgraph([Tensor("f4", (1,)), Tensor("f4", (1,))],
                           [Operator("MULTINOMIAL", [0], [1])], [0], [1]))
    _case(m, "ADD", tflite_file.model([graph] + others), [x], [x + c])


def _behind(root, table, slots, data):
    """The bytes of a file with data behind the FlatBuffer; its place goes to two slots."""
    # The numbers do not change the size.
    table.update({slots[0]: ("q", 2), slots[1]: ("q", len(data))})
    size = len(write(root, b"TFL3"))
    offset = size + -size % 16
    table[slots[0]] = ("q", offset)
    return write(root, b"TFL3") + b"\0" * (offset - size) + data


def external(m):
    """Constants and options behind the FlatBuffer, as files above 2 GiB have them."""
    for shape in ((3,), (2, 5), (4, 1, 3)):
        x, c = m.data(shape), m.data(shape)
        root = tflite_file.root([_add(shape, c)])
        root[4][1] = Table()
        _case(m, "ADD", _behind(root, root[4][1], (1, 2), c.tobytes()), [x], [x + c])
    # One box, which is its anchor.
    anchor = np.array([[0.5, 0.5, 0.5, 0.25]], "f4")
    name = "TFLite_Detection_PostProcess"
    options = flexbuffer.write({
        "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, "max_detections": 1,
        "max_classes_per_detection": 1, "nms_score_threshold": 0.01, "nms_iou_threshold": 0.5,
        "num_classes": 1})
    tensors = [Tensor("f4", (1, 1, 4)), Tensor("f4", (1, 1, 1)), Tensor("f4", (1, 4), anchor),
               Tensor("f4", (1, 1, 4)), Tensor("f4", (1, 1)), Tensor("f4", (1, 1)),
               Tensor("f4", (1,))]
    line = Operator(name, [0, 1, 2], [3, 4, 5, 6], options)
    root = tflite_file.root([Subgraph(tensors, [line], [0, 1], [3, 4, 5, 6])])
    operator = root[2][0][3][0]
    del operator[5]
    _case(m, "CUSTOM", _behind(root, operator, (9, 10), options),
          [np.zeros((1, 1, 4), "f4"), np.full((1, 1, 1), 0.5, "f4")],
          [np.array([[[0.25, 0.375, 0.75, 0.625]]], "f4"), np.zeros((1, 1), "f4"),
           np.full((1, 1), 0.5, "f4"), np.ones(1, "f4")])


def graphs(m):
    """Inputs, outputs and constants in places where few files have them."""
    for shape in ((), (1,), (2, 3)):
        x, c = m.data(shape), m.data(shape)
        # The input and the constant are outputs, too; a result is one twice.
        graph = _add(shape, c)
        graph.outputs = [0, 2, 1]
        _case(m, "ADD", tflite_file.model([graph]), [x], [x, x + c, c])
        # An input that nobody reads, and an operator whose result nobody reads.
        graph = _add(shape, c)
        graph.tensors += [Tensor("f4", (4,)), Tensor("f4", shape)]
        graph.operators.append(Operator("NEG", [2], [4]))
        graph.inputs = [3, 0]
        _case(m, "ADD", tflite_file.model([graph]), [m.data((4,)), x], [x + c])
        # Nothing is computed.
        nothing = Subgraph([Tensor("f4", shape)], [], [0], [0])
        _case(m, "ADD", tflite_file.model([nothing]), [x], [x])
        # Two constants have one buffer.
        graph = _add(shape, c)
        graph.tensors += [Tensor("f4", shape), Tensor("f4", shape)]
        graph.operators.append(Operator("MUL", [2, 3], [4], _NONE))
        graph.outputs = [4]
        root = tflite_file.root([graph])
        root[2][0][0][3][2] = root[2][0][0][1][2]
        _case(m, "MUL", write(root, b"TFL3"), [x], [(x + c) * c])
    # A shape without entries: a scalar.
    x = m.data((1, 1))
    for fields in ([], [("v", [])]):
        tensors = [Tensor("f4", (1, 1)), Tensor("i4", (0,), np.zeros(0, "i4")), Tensor("f4", ())]
        graph = Subgraph(tensors, [Operator("RESHAPE", [0, 1], [2], fields)], [0], [2])
        _case(m, "RESHAPE", tflite_file.model([graph]), [x], [x.reshape(())])


MAKERS = (containers, external, graphs)
