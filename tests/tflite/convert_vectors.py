#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make .tflite files of the operator vectors.

    convert_vectors.py VECTORS ARCHIVE REPORT

Each case becomes a file with its operations as operators of TensorFlow Lite, or is counted
with the reason why not. REPORT says how many there are of each; they have to be all.
"""

import collections
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../random"))

import archive  # noqa: E402
import hal_operators  # noqa: E402
import nntc  # noqa: E402
import tflite_file  # noqa: E402
from hal_operators import NoCounterpart  # noqa: E402

DTYPES = {
    "TENSOR_FLOAT32": "f4", "TENSOR_FLOAT16": "f2", "TENSOR_INT32": "i4", "TENSOR_BOOL8": "?",
    "TENSOR_QUANT8_ASYMM": "u1", "TENSOR_QUANT8_ASYMM_SIGNED": "i1", "TENSOR_QUANT8_SYMM": "i1",
    "TENSOR_QUANT8_SYMM_PER_CHANNEL": "i1", "TENSOR_QUANT16_SYMM": "i2",
    "FLOAT32": "f4", "FLOAT16": "f2", "INT32": "i4", "BOOL": "?",
}


class File:
    """The subgraphs of a case, as far as they are referred to."""

    def __init__(self, case):
        self.case = case
        self.graphs = []
        self.numbers = {}

    def convert(self, subgraph, key, repeated=False):
        """Convert a subgraph once, and return its number; the body of a loop is @repeated."""
        key = (key, repeated)
        if key not in self.numbers:
            self.numbers[key] = len(self.graphs)
            graph = Graph(self, subgraph)
            self.graphs.append(graph)
            graph.convert(repeated)
        return self.numbers[key]

    def bytes(self):
        return tflite_file.model(self.graphs)


class Graph:
    """A subgraph of the file, with what tflite_file.Subgraph has."""

    def __init__(self, file, subgraph):
        self.file = file
        self.case = subgraph
        self.main = subgraph is file.case
        self.tensors = []
        self.operators = []
        self.of_operand = {}
        self.omitted = set()

    def convert(self, repeated):
        if not self.main:
            for index in self.case.inputs:
                self.tensor(index)
        for operation in self.case.operations:
            if operation.type not in hal_operators.OPERATIONS:
                raise NoCounterpart("operation %s, which TensorFlow Lite does not have" %
                                    operation.type)
            hal_operators.OPERATIONS[operation.type](Arguments(self, operation))
        for index in self.case.inputs:
            if index not in self.of_operand and index not in self.omitted:
                raise NoCounterpart("an argument that is fed, and an option in the file")
        self.fed = [i for i in self.case.inputs if i in self.of_operand and
                    not self.tensors[self.of_operand[i]].variable]
        self.inputs = [self.of_operand[i] for i in self.fed]
        self.outputs = [self.of_operand[i] for i in self.case.outputs if i in self.of_operand]
        # The body of a loop hands on what the HAL's only reads.
        if repeated:
            self.outputs += self.inputs[len(self.outputs):]

    def add_tensor(self, tensor):
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def tensor(self, index):
        """The tensor of an operand; -1 if it is omitted."""
        operand = self.case.operands[index]
        if operand.lifetime == nntc.NO_VALUE:
            return -1
        if index not in self.of_operand:
            self.of_operand[index] = self.add_tensor(self.make(index, operand))
        return self.of_operand[index]

    def optional(self, index):
        """The tensor of an operand; -1 also if it is an input that the job leaves out."""
        operand = self.case.operands[index]
        if self.main and operand.lifetime == nntc.INPUT and not operand.data:
            self.omitted.add(index)
            return -1
        return self.tensor(index)

    def made_of(self, index):
        """The input to which an ADD adds zero to make an internal operand; None of another."""
        for operation in self.case.operations:
            if operation.type == "ADD" and operation.outputs == [index]:
                source, zero = (self.case.operands[i] for i in operation.inputs[:2])
                if self.main and source.data and zero.data and \
                        np.all(zero.array() == zero.zero_point):
                    return operation.inputs[0]
        return None

    def drop(self, index, source):
        """Take away the ADD that makes an operand of an input."""
        tensor = self.of_operand[index]
        self.operators = [o for o in self.operators if o.outputs != [tensor]]
        self.of_operand.pop(source)
        self.omitted.add(source)

    def make(self, index, operand):
        if operand.type not in DTYPES:
            raise NoCounterpart("type " + operand.type)
        dtype = np.dtype(DTYPES[operand.type])
        value = None
        if operand.lifetime in (nntc.CONSTANT_COPY, nntc.CONSTANT_REFERENCE):
            if not operand.data:
                raise NoCounterpart("a constant without elements")
            value = operand.array().astype(dtype)
        scales = operand.channel_scales or ((operand.scale,) if operand.scale else ())
        scalar = operand.type in nntc.SCALARS
        unknown = not scalar and (not operand.dims or 0 in operand.dims)
        if unknown and operand.lifetime == nntc.INPUT and self.main:
            raise NoCounterpart("an input without elements" if 0 in operand.dims and
                                not operand.data else "an input of unknown shape")
        if operand.lifetime == nntc.INPUT and not operand.data and self.main:
            raise NoCounterpart("an input that the job omits")
        return tflite_file.Tensor(dtype, operand.dims, value, scales, operand.zero_point,
                                  operand.channel_dim, unknown)


class Arguments:
    """The operands of one operation; functions take their index among the inputs."""

    def __init__(self, graph, operation):
        self.graph = graph
        self.case = graph.case
        self.operation = operation
        self.type = operation.type
        self.count = len(operation.inputs)

    def operand(self, k):
        return self.case.operands[self.operation.inputs[k]]

    def kind(self, k):
        return self.operand(k).type

    def value(self, k):
        """What an input is: constant, fed, or made of what is fed."""
        operand = self.operand(k)
        if not operand.data:
            operand = self.case.operands[self.graph.made_of(self.operation.inputs[k])]
        return operand.array()

    def array(self, k):
        """A value that is an option in the file, also if the job feeds it."""
        operand, index = self.operand(k), self.operation.inputs[k]
        if operand.lifetime == nntc.INPUT and operand.data and self.graph.main and \
                index not in self.graph.of_operand:
            self.graph.omitted.add(index)
        elif operand.lifetime not in (nntc.CONSTANT_COPY, nntc.CONSTANT_REFERENCE):
            raise NoCounterpart("an argument that is computed, and an option in the file")
        return operand.array()

    def part(self, k):
        """A value that becomes part of a constant."""
        operand, index = self.operand(k), self.operation.inputs[k]
        source = self.graph.made_of(index) if operand.lifetime == nntc.TEMPORARY else None
        if source is None:
            return self.array(k)
        self.tensor(k)
        self.graph.drop(index, source)
        return self.case.operands[source].array()

    def omits(self, k):
        return k >= self.count or self.operand(k).lifetime == nntc.NO_VALUE

    def number(self, k):
        value = self.array(k).reshape(-1)[0].item()
        return value

    def numbers(self, k, count):
        return [self.number(i) for i in range(k, k + count)]

    def shape(self, k):
        return self.operand(k).dims

    def output_shape(self, k):
        return self.case.operands[self.operation.outputs[k]].dims

    def tensor(self, k):
        index = self.operation.inputs[k]
        if self.type in hal_operators.WITH_OPTIONAL_INPUTS:
            return self.graph.optional(index)
        return self.graph.tensor(index)

    def tensor_type(self, k):
        return tflite_file.TYPES[self.graph.tensors[self.tensor(k)].dtype]

    def output_type(self, k):
        return self.output_tensor(k).type

    def output_tensor(self, k):
        return self.graph.tensors[self.graph.tensor(self.operation.outputs[k])]

    def constant(self, value, scale=0.0, zero_point=0):
        return self.graph.add_tensor(tflite_file.Tensor(
            value.dtype, value.shape, value, (scale,) if scale else (), zero_point))

    def like(self, k, value):
        """A constant element of the type of an input."""
        t = self.graph.tensors[self.tensor(k)]
        return self.graph.add_tensor(tflite_file.Tensor(t.dtype, (), np.array(value, t.dtype),
                                                        t.scales, t.zero_point))

    def state(self, k):
        """A state becomes a variable, which begins with zeros and which nothing computes."""
        operand, index = self.operand(k), self.operation.inputs[k]
        if self.tensor(k) < 0:
            raise NoCounterpart("a state that is omitted")
        if operand.lifetime == nntc.TEMPORARY:
            source = self.graph.made_of(index)
            if source is None:
                raise NoCounterpart("a state that is computed")
            self.graph.drop(index, source)
            operand = self.case.operands[source]
        elif operand.lifetime != nntc.INPUT:
            raise NoCounterpart("a state that is constant")
        values = operand.array()
        if np.any(values != operand.zero_point):
            raise NoCounterpart("a state that does not begin with zeros, as the variables of"
                                " TensorFlow Lite do")
        self.graph.tensors[self.tensor(k)].variable = True

    def subgraph(self, k, repeated=False):
        """The number in the file of a subgraph that an operand refers to."""
        number = int.from_bytes(self.operand(k).data, "little")
        return self.graph.file.convert(self.graph.file.case.subgraphs[number], number, repeated)

    def grows(self, k):
        """Does a subgraph have results of unknown shape?"""
        number = int.from_bytes(self.operand(k).data, "little")
        body = self.graph.file.case.subgraphs[number]
        return any(not d.dims or 0 in d.dims for d in (body.operands[i] for i in body.outputs))

    def given(self, first):
        """The tensors of the operands from one on."""
        tensors = [self.tensor(k) for k in range(first, self.count)]
        if -1 in tensors:
            raise NoCounterpart("an omitted operand that a subgraph gets")
        return tensors

    def add_loop(self, inputs, options):
        """A WHILE puts out all that it carries."""
        outputs = [self.graph.tensor(o) for o in self.operation.outputs]
        for index in inputs[len(outputs):]:
            like = self.graph.tensors[index]
            outputs.append(self.graph.add_tensor(tflite_file.Tensor(
                like.dtype, like.shape, None, like.scales, like.zero_point, 0, like.unknown)))
        self.graph.operators.append(tflite_file.Operator("WHILE", inputs, outputs, options))

    def check_filter(self, k):
        filter = self.operand(k)
        if filter.type == "TENSOR_QUANT8_ASYMM_SIGNED" and filter.zero_point:
            raise NoCounterpart("an int8 filter whose zero point is not 0, as TensorFlow Lite's"
                                " has to be")

        if filter.lifetime == nntc.INPUT and len(filter.channel_scales) == 1 and \
                self.kind(0) == "TENSOR_QUANT8_ASYMM":
            raise NoCounterpart("a fed int8 filter of one channel, where a file cannot say that the"
                                " scale is that of the channel, beside an uint8 input")

    def rescaled(self, k):
        """The tensor of an input with the scale of the output, for what does not rescale."""
        tensor = self.tensor(k)
        given, wanted = self.graph.tensors[tensor], self.output_tensor(0)
        if (given.scales, given.zero_point) == (wanted.scales, wanted.zero_point):
            return tensor
        result = self.new_tensor(given.shape, wanted)
        self.add_between("QUANTIZE", [tensor], result, [])
        return result

    def new_tensor(self, shape, like):
        """A tensor between operators, but for the shape like another one."""
        return self.graph.add_tensor(tflite_file.Tensor(like.dtype, shape, None, like.scales,
                                                        like.zero_point, like.dimension))

    def add_between(self, name, inputs, output, options):
        """An operator whose result another one takes; all are tensors."""
        self.graph.operators.append(tflite_file.Operator(name, inputs, [output], options))

    def add_intermediates(self, steps):
        """Tensors of the last operator of which only scale and zero point count."""
        self.graph.operators[-1].intermediates = [
            self.graph.add_tensor(tflite_file.Tensor("i1", (), None, (scale,), zero_point))
            for scale, zero_point in steps]

    def add_all(self, name, inputs, outputs, options):
        """An operator whose inputs and outputs are all tensors."""
        self.graph.operators.append(tflite_file.Operator(name, inputs, outputs, options))

    def add(self, name, inputs, options, are_tensors=False, outputs=None):
        if not are_tensors:
            inputs = [self.tensor(k) if k >= 0 else -1 for k in inputs]
        which = range(len(self.operation.outputs)) if outputs is None else outputs
        if not isinstance(options, bytes):
            options = [o if o else (None, None) for o in options]
        self.graph.operators.append(tflite_file.Operator(
            name, inputs, [self.graph.tensor(self.operation.outputs[k]) for k in which], options))


def outputs_of(case, graph, name):
    half = case.relaxed or any(o.type == "TENSOR_FLOAT16" for o in case.operands)
    outputs = []
    for index in case.outputs:
        if index not in graph.of_operand:
            continue
        operand = case.operands[index]
        value = operand.array().astype(graph.tensors[graph.of_operand[index]].dtype)
        if value.dtype.kind == "f":
            limits = (5 * 2.0 ** -10,) * 2 if half else (1e-5, 5 * 2.0 ** -23)
        elif operand.type in ("TENSOR_BOOL8", "BOOL"):
            limits = (0, 0)
        else:
            wide = name.startswith("mobilenet_") and operand.type in nntc.QUANTIZED
            limits = (3 if wide else 1, 0)
        outputs.append(archive.Output(value, *limits, ignored=operand.ignore))
    return outputs


def convert(case, name):
    if case.expect_failure:
        raise NoCounterpart("it has to be refused")
    file = File(case)
    file.convert(case, "main")
    for operand in (case.operands[i] for i in case.outputs):
        if not operand.ignore and (0 in operand.dims or not operand.data):
            raise NoCounterpart("an output without elements or of unknown shape")
    graph = file.graphs[0]
    # In the table a case counts for its first operator that is not the ADD of
    # a zero with which the vectors make internal operands of inputs, nor rescales.
    names = [o.name for o in graph.operators]
    operator = next((n for n in names if n not in ("ADD", "QUANTIZE")), names[-1])
    model = file.bytes()
    inputs = [case.operands[i].array() for i in graph.fed]
    outputs = outputs_of(case, graph, name)
    if not outputs:
        raise NoCounterpart("no output that the file has")
    return archive.Case(name, tflite_file.builtin_name(operator), 0, model, inputs, outputs)


def main():
    vectors, path, report = sys.argv[1:]
    cases, reasons, total = [], collections.Counter(), 0
    for folder, folders, files in os.walk(vectors):
        folders.sort()
        for file in sorted(f for f in files if f.endswith(".nntc")):
            for number, case in enumerate(nntc.read(os.path.join(folder, file))):
                total += 1
                try:
                    cases.append(convert(case, "%s %d" % (file[:-5], number)))
                except NoCounterpart as why:
                    reasons[str(why)] += 1
    archive.write(path, cases)
    with open(report, "w", encoding="utf-8") as f:
        for why, count in reasons.most_common():
            print("%6d no file: %s" % (count, why), file=f)
        print("%6d files of %d cases" % (len(cases), total), file=f)
    if not cases or len(cases) + sum(reasons.values()) != total:
        sys.exit("convert_vectors.py: %d files and %d reasons for %d cases" %
                 (len(cases), sum(reasons.values()), total))


main()
