#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run random graphs on the device and compare them with the reference. Prints TAP."""

import argparse
import collections
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

import generator
import nntc
import precision
import reference

BATCH = 250


class Outcome:
    """What the device made of a case."""

    def __init__(self, prepared, status, message, outputs):
        self.prepared = prepared
        self.status = status
        self.message = message
        self.outputs = outputs		# pairs of dimensions and bytes


def read_outcomes(path, cases):
    """The runner's file, as far as it goes."""
    with open(path, "rb") as f:
        data = f.read()
    at, outcomes = 0, []

    def take(n):
        nonlocal at
        at += 4 * n
        return struct.unpack_from("<%dI" % n, data, at - 4 * n)

    for case in cases:
        if at >= len(data):
            break
        failed, status, length = take(3)
        message = data[at:at + length].decode(errors="replace")
        at += length
        outputs = []
        if not failed and not status:
            for _ in case.outputs:
                dims = take(take(1)[0])
                size = take(1)[0]
                outputs.append((dims, data[at:at + size]))
                at += size
        outcomes.append(Outcome(not failed, status, message, outputs))
    return outcomes


def execute(runner, cases, directory):
    """Outcomes of cases, fewer if the runner died, and its last words."""
    model, output = os.path.join(directory, "graphs.nntc"), os.path.join(directory, "output")
    nntc.write(model, cases)
    open(output, "wb").close()
    done = subprocess.run([runner, model, output], stderr=subprocess.PIPE, check=False)
    return read_outcomes(output, cases), done.returncode, done.stderr.decode(errors="replace")


class Judge:
    """Compares outcomes and counts."""

    def __init__(self, classes):
        self.classes = classes
        self.single, self.total = collections.Counter(), collections.Counter()
        self.largest = {}
        self.worst = collections.defaultdict(float)

    def judge(self, graph, outcome, count=True):
        """Why a graph disagrees, or None; the number of its first wrong operation."""
        if not outcome.prepared or outcome.status:
            return "%s: status %d: %s" % ("execute" if outcome.prepared else "prepare",
                                          outcome.status, outcome.message), None
        half = any("16" in t.type and t.type in reference.FLOATS for t in graph.tensors)
        makers = {id(t): (i, o[0]) for i, o in enumerate(graph.operations) for t in o[2]}
        first = None
        for t, (dims, data) in zip(graph.outputs, outcome.outputs):
            number, op = makers[id(t)]
            shape = () if t.type in nntc.SCALARS else dims
            elements = int(np.prod(shape))
            dtype = nntc.DTYPES[t.type]
            if elements * dtype.itemsize > len(data):
                return "%s: shape %s" % (op, shape), number
            actual = np.frombuffer(data, dtype, elements).reshape(shape)
            kind = precision.class_of(op, len(graph.operations))
            d = precision.compare(t.value.data, actual, t.type, t.exact, kind, half,
                                  self.classes)
            if d.text and (first is None or number < first[1]):
                first = "%s (%s, %s): %s" % (op, t.type, "exact" if t.exact else kind,
                                             d.text), number
            if count:
                self.total[op] += 1
                self.worst["exact" if t.exact else kind] = max(
                    self.worst["exact" if t.exact else kind], d.worst)
                if len(graph.operations) == 1:
                    self.single[op] += 1
                    of_type = self.largest.setdefault(op, {})
                    of_type[t.type] = max(of_type.get(t.type, 0.0), d.error)
        return first or (None, None)


def minimise(runner, seed, number, directory, classes):
    """The smallest part of a graph that disagrees, with all results as outputs."""
    _, graph = generator.build(seed, number)
    case = graph.case("random_%d_%d" % (seed, number), all_outputs=True)
    outcomes, _, _ = execute(runner, [case], directory)
    if not outcomes:
        return case
    _, first = Judge(classes).judge(graph, outcomes[0], False)
    if first is None:
        return case
    graph.cut(first)
    return graph.case("random_%d_%d" % (seed, number), all_outputs=True)


def operations_table(judge):
    lines = ["%-30s %8s %8s  %s" % ("operation", "alone", "all", "largest difference alone")]
    for op in sorted(reference.TABLE):
        differences = ", ".join("%s %.2g" % (t.replace("TENSOR_", ""), d)
                                for t, d in sorted(judge.largest.get(op, {}).items()))
        lines.append("%-30s %8d %8d  %s" % (op, judge.single[op], judge.total[op],
                                            differences))
    return lines


def uncovered():
    """Operations of the HAL that no graph has."""
    return sorted(set(nntc.OPERATIONS) - set(generator.NAMES) - {"OEM_OPERATION"})


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=300, metavar="N",
                        help="how many (default: 300)")
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="of the series (default: 1)")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="N",
                        help="number of the first graph (default: 0)")
    parser.add_argument("--runner", default="build/tests/run_graphs", metavar="PROGRAM",
                        help="what executes them (default: build/tests/run_graphs)")
    parser.add_argument("--keep", metavar="DIR",
                        help="where graphs that disagree are written (default: beside the "
                        "runner)")
    parser.add_argument("--write", metavar="FILE",
                        help="write the graphs to a file and run nothing")
    parser.add_argument("--suite", action="store_true",
                        help="allow what the Android test suite allows, not less")
    parser.add_argument("--operations", action="store_true",
                        help="a line per operation: results in graphs of one operation, all "
                        "results, the largest difference in a graph of one")
    return parser.parse_args()


def main():
    args = parse_arguments()
    numbers = range(args.first, args.first + args.graphs)
    if args.write:
        nntc.write(args.write, [generator.build(args.seed, n)[0] for n in numbers])
        return 0
    keep = args.keep or os.path.dirname(os.path.abspath(args.runner))
    classes = precision.SUITE if args.suite else precision.NARROW
    judge, sizes, bad = Judge(classes), collections.Counter(), []
    with tempfile.TemporaryDirectory() as directory:
        for start in range(numbers.start, numbers.stop, BATCH):
            series = range(start, min(start + BATCH, numbers.stop))
            built = [generator.build(args.seed, n) for n in series]
            outcomes, status, words = execute(args.runner, [b[0] for b in built], directory)
            for n, (_, graph), outcome in zip(series, built, outcomes):
                sizes["1" if len(graph.operations) == 1 else "2 to 5"
                      if len(graph.operations) <= 5 else "6 to 40"] += 1
                text, _ = judge.judge(graph, outcome)
                if text:
                    bad.append((n, text))
            if len(outcomes) < len(built) or status:
                bad.append((series[min(len(outcomes), len(built) - 1)],
                            "the runner ended with status %d\n%s" % (status, words)))
        for n, text in bad[:20]:
            path = os.path.join(keep, "random_%d_%d.nntc" % (args.seed, n))
            nntc.write(path, [minimise(args.runner, args.seed, n, directory, classes)])
            print("# graph %d:%d: %s\n# kept in %s" % (args.seed, n,
                                                     text.replace("\n", "\n# "), path))
    missing = sorted(set(generator.NAMES) - set(judge.total))
    print("%sok 1 - %d random graphs (%s) agree with the reference, %d do not" % (
        "not " if bad else "", args.graphs - len(bad),
        ", ".join("%d of %s operations" % (sizes[s], s) for s in ("1", "2 to 5", "6 to 40")),
        len(bad)))
    few = args.graphs < 300
    print("%sok 2 - %d operations have results%s%s" % (
        "not " if missing and not few else "", len(judge.total),
        ", none have " if missing else "", " ".join(missing)))
    print("# without a random graph: %s" % " ".join(uncovered()))
    for kind, worst in sorted(judge.worst.items()):
        print("# %s: largest difference %.3g of the limit" % (kind, worst))
    if args.operations:
        print("\n".join("# " + line for line in operations_table(judge)))
    print("1..2")
    return 1 if bad or (missing and not few) else 0


if __name__ == "__main__":
    sys.exit(main())
