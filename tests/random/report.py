# SPDX-License-Identifier: MIT
"""Run cases in batches on the device and report the outcome as TAP."""

import argparse
import collections
import os

import nntc
import precision
from runner import SKIPPED, Judge, Runner

BATCH = 250
# The operations that random graphs must have: all of the HAL, except the one without a meaning.
WANTED = sorted(set(nntc.OPERATIONS) - {"OEM_OPERATION"})
# In so many graphs in a row each operation is alone once: six of ten graphs have one.
CYCLE = -(-len(WANTED) // 6) * 10
SIZES = "1", "2 to 5", "6 and more"


def operations_table(judge):
    lines = ["%-30s %8s %8s  %s" % ("operation", "alone", "all", "largest difference alone")]
    for op in WANTED:
        differences = ", ".join("%s %.2g" % (t.replace("TENSOR_", ""), d)
                                for t, d in sorted(judge.largest.get(op, {}).items()))
        lines.append("%-30s %8d %8d  %s" % (op, judge.single[op], judge.total[op],
                                            differences))
    return lines


class Report:
    """What the run has seen, as TAP."""

    def __init__(self):
        self.judged = self.good = 0
        self.sizes = collections.Counter()
        self.bad = []
        self.occurrences, self.inside = collections.Counter(), collections.Counter()

    def count(self, case, expectation):
        self.judged += 1
        self.sizes[SIZES[0] if expectation.work == 1 else
                   SIZES[1] if expectation.work <= 5 else SIZES[2]] += 1
        self.occurrences.update(p.type for p in case.all_operations())
        self.inside.update(p.type for g in case.subgraphs for p in g.operations)

    def write(self, judge, table):
        """The exit status."""
        print("%sok 1 - %d random graphs (%s) agree with the reference, %d do not" % (
            "not " if self.bad else "", self.good,
            ", ".join("%d of %s operations" % (self.sizes[s], s) for s in SIZES),
            len(self.bad)))
        missing = [op for op in WANTED if not self.occurrences[op]]
        text = "%d of %d operations occur in them, %d inside of IF and WHILE" % (
            len(WANTED) - len(missing), len(WANTED), len(self.inside))
        if missing and self.judged < CYCLE:
            # Too few graphs to have each operation once.
            print("ok 2 # SKIP %s; it takes %d graphs to have all" % (text, CYCLE))
            missing = []
        else:
            print("%sok 2 - %s%s%s" % ("not " if missing else "", text,
                                       "; not " if missing else "", " ".join(missing)))
        print("# occurrences: %s" % ", ".join("%s %d" % (op, self.occurrences[op])
                                              for op in WANTED))
        for kind, worst in sorted(judge.worst.items()):
            print("# %s: largest difference %.3g of the limit" % (kind, worst))
        if table:
            print("\n".join("# " + line for line in operations_table(judge)))
        print("1..2")
        return 1 if self.bad or missing else 0


def _run(series, runner, judge, report):
    """Run all. If there is no device, return what the runner said."""
    for start in range(0, len(series.numbers), BATCH):
        numbers = series.numbers[start:start + BATCH]
        built = [series[n] for n in numbers]
        outcomes, status, words = runner.execute([case for case, _ in built])
        if status == SKIPPED:
            return words.strip()
        for n, (case, expectation), outcome in zip(numbers, built, outcomes):
            report.count(case, expectation)
            text, _ = judge.judge(case, expectation, outcome)
            if text:
                report.bad.append((n, text))
            else:
                report.good += 1
        if len(outcomes) < len(built) or status:
            report.bad.append((numbers[min(len(outcomes), len(built) - 1)],
                               "the runner ended with status %d\n%s" % (status, words)))
    return None


def arguments(description):
    """A parser with the arguments that the scripts share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runner", default="build/tests/run_graphs", metavar="PROGRAM",
                        help="what executes them (default: build/tests/run_graphs)")
    parser.add_argument("--device", metavar="DEVICE",
                        help="where: sim, drm, or a node (default: NNHAL_TEST_DEVICE or sim)")
    parser.add_argument("--keep", metavar="DIR",
                        help="where graphs that disagree are written (default: beside the "
                        "runner)")
    parser.add_argument("--suite", action="store_true",
                        help="allow what the Android test suite allows, not less")
    parser.add_argument("--operations", action="store_true",
                        help="a line per operation: results in graphs of one operation, all "
                        "results, the largest difference in a graph of one")
    return parser


def judge_all(series, args):
    """Run a series and print what came out; the exit status.

    A series has numbers; of each its case and expectation, and by smallest() what to
    keep if the graph disagrees.
    """
    keep = args.keep or os.path.dirname(os.path.abspath(args.runner))
    classes = precision.SUITE if args.suite else precision.NARROW
    judge, report = Judge(classes), Report()
    with Runner(args.runner, args.device) as runner:
        skipped = _run(series, runner, judge, report)
        if skipped is not None:
            print("1..0 # SKIP %s" % skipped)
            return SKIPPED
        for n, text in report.bad[:20]:
            case = series.smallest(n, runner, classes)
            path = os.path.join(keep, case.name + ".nntc")
            nntc.write(path, [case])
            print("# graph %s: %s\n# kept in %s" % (case.name, text.replace("\n", "\n# "), path))
    return report.write(judge, args.operations)
