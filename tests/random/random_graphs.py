#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run random graphs on the device and compare them with the reference. Prints TAP.

With --write they are only made and evaluated, for run_graphs -l.
"""

import argparse
import sys

import numpy as np

import expectations
import generator
import reference
import report
from runner import Judge


def confirm(case, graph):
    """Check that the values computed while a graph grew are those of its case as a whole."""
    values = reference.evaluate(case)
    for i, t in zip(case.outputs, graph.outputs):
        if not np.array_equal(values[i].data, t.value.data, equal_nan=True):
            raise AssertionError("%s: operand %d is another one when the case is run" % (
                case.name, i))


class Series:
    """Random graphs, made one after the other."""

    def __init__(self, seed, numbers):
        self.seed = seed
        self.numbers = numbers

    def __getitem__(self, number):
        """A case and what is expected of it."""
        case, graph = generator.build(self.seed, number)
        if case.subgraphs:
            confirm(case, graph)
        return case, expectations.of_graph(graph)

    def smallest(self, number, runner, classes):
        """The smallest part of a graph that disagrees, with all results as outputs."""
        name = "random_%d_%d" % (self.seed, number)
        _, graph = generator.build(self.seed, number)
        case = graph.case(name, all_outputs=True)
        outcomes, _, _ = runner.execute([case])
        if not outcomes:
            return case
        _, first = Judge(classes).judge(case, expectations.of_graph(graph), outcomes[0], False)
        if first is None:
            return case
        graph.cut(first)
        return graph.case(name, all_outputs=True)


def number_of_graphs(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("%d graphs test nothing" % number)
    return number


def parse_arguments():
    parser = report.arguments(__doc__)
    parser.add_argument("--graphs", type=number_of_graphs, default=300, metavar="N",
                        help="how many (default: 300)")
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="of the series (default: 1)")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="N",
                        help="number of the first graph (default: 0)")
    parser.add_argument("--write", metavar="FILE",
                        help="write the graphs to a file, how exact results have to be "
                        "to FILE.limits, and run nothing")
    return parser.parse_args()


def main():
    args = parse_arguments()
    series = Series(args.seed, range(args.first, args.first + args.graphs))
    if args.write:
        built = [series[n] for n in series.numbers]
        expectations.write(args.write, *zip(*built))
        return 0
    return report.judge_all(series, args)


if __name__ == "__main__":
    sys.exit(main())
