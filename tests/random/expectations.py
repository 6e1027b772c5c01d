# SPDX-License-Identifier: MIT
"""Limits for the results of random graphs, beside the values in their cases.

They are written to a file next to the cases, so that graphs that were made and evaluated
elsewhere can be run and judged where the device is (run_graphs -l).
"""

import collections
import struct

import numpy as np

import nntc
import precision

# Of an output: the operation that writes it and its number, the shape, whether all bytes
# count.
Output = collections.namedtuple("Output", "op number dims exact")

# Of a case: operations that are executed, subgraphs' included; whether limits of float16
# may count; its outputs.
Expectation = collections.namedtuple("Expectation", "work half outputs")


def of_graph(graph):
    """The Expectation of a graph whose case was made."""
    makers = {t: (i, op) for i, (op, _, made) in enumerate(graph.operations) for t in made}
    half = any("16" in t.type and t.type in nntc.FLOATS
               for g in graph.graphs() for t in g.tensors)
    outputs = [Output(makers[t][1], makers[t][0],
                      () if t.type in nntc.SCALARS else t.dims, t.exact)
               for t in graph.outputs]
    return Expectation(graph.work(), half, outputs)


def value(case, expectation, k):
    """The expected value of output @k."""
    o = case.operands[case.outputs[k]]
    return np.frombuffer(o.data, nntc.DTYPES[o.type]).reshape(expectation.outputs[k].dims)


def write(path, cases, expectations):
    """Write cases, and to a file beside them a record for each output.

    It has: u32 whether all bytes count; f32 largest error of float types, times
    1 + |expected|; u32 largest error of quantized types in steps; u32 rank;
    u32 dimensions[8].
    """
    nntc.write(path, cases)
    with open(path + ".limits", "wb") as f:
        for case, expectation in zip(cases, expectations):
            for i, o in zip(case.outputs, expectation.outputs):
                type = case.operands[i].type
                limit = precision.limit_of(
                    type, o.exact, precision.class_of(o.op, expectation.work),
                    expectation.half, precision.NARROW)
                real = type in nntc.FLOATS
                dims = list(o.dims) + [0] * (8 - len(o.dims))
                f.write(struct.pack("<IfII8I", o.exact, limit if real else 0,
                                    0 if real else limit, len(o.dims), *dims))
