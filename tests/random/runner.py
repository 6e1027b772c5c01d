# SPDX-License-Identifier: MIT
"""Execute cases with tests/run_graphs and judge the results."""

import collections
import os
import struct
import subprocess
import tempfile

import numpy as np

import expectations
import nntc
import precision

# Exit status of a program that cannot run here.
SKIPPED = 4


class Outcome:
    """The outcome of a case on the device."""

    def __init__(self, prepared, status, message, outputs):
        self.prepared = prepared
        self.status = status
        self.message = message
        self.outputs = outputs		# pairs of dimensions and bytes


def _read_outcomes(path, cases):
    """Read the runner's file, up to where it breaks off."""
    with open(path, "rb") as f:
        data = f.read()
    at, outcomes = 0, []

    def take(n):
        nonlocal at
        at += 4 * n
        return struct.unpack_from("<%dI" % n, data, at - 4 * n)

    for case in cases:
        try:
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
        except struct.error:
            break			# it ended in the middle of a case
        outcomes.append(Outcome(not failed, status, message, outputs))
    return outcomes


class Runner:
    """The program, on a device, with a directory for its files."""

    def __init__(self, program, device):
        self.program = program
        self.device = device
        self.directory = None

    def __enter__(self):
        self._keeper = tempfile.TemporaryDirectory()
        self.directory = self._keeper.__enter__()
        return self

    def __exit__(self, *error):
        self._keeper.__exit__(*error)

    def execute(self, cases):
        """Outcomes of cases, fewer if the runner died, its status and its last words."""
        model = os.path.join(self.directory, "graphs.nntc")
        output = os.path.join(self.directory, "output")
        nntc.write(model, cases)
        open(output, "wb").close()
        options = ["-d", self.device] if self.device else []
        done = subprocess.run([self.program, *options, model, output], stderr=subprocess.PIPE,
                              check=False)
        return _read_outcomes(output, cases), done.returncode, \
            done.stderr.decode(errors="replace")


class Judge:
    """Compares outcomes and counts."""

    def __init__(self, classes):
        self.classes = classes
        self.single, self.total = collections.Counter(), collections.Counter()
        self.largest = {}
        self.worst = collections.defaultdict(float)

    def judge(self, case, expectation, outcome, count=True):
        """Why a graph disagrees, or None; the number of its first wrong operation."""
        if not outcome.prepared or outcome.status:
            return "%s: status %d: %s" % ("execute" if outcome.prepared else "prepare",
                                          outcome.status, outcome.message), None
        first = None
        for k, (wanted, (dims, data)) in enumerate(zip(expectation.outputs, outcome.outputs)):
            type = case.operands[case.outputs[k]].type
            shape = () if type in nntc.SCALARS else dims
            elements = int(np.prod(shape))
            dtype = nntc.DTYPES[type]
            if elements * dtype.itemsize > len(data):
                return "%s: shape %s" % (wanted.op, shape), wanted.number
            actual = np.frombuffer(data, dtype, elements).reshape(shape)
            kind = precision.class_of(wanted.op, expectation.work)
            d = precision.compare(expectations.value(case, expectation, k), actual, type,
                                  wanted.exact, kind, expectation.half, self.classes)
            name = "exact" if wanted.exact else kind
            if d.text and (first is None or wanted.number < first[1]):
                first = "%s (%s, %s): %s" % (wanted.op, type, name, d.text), wanted.number
            if count:
                self._count(wanted.op, type, name, d, expectation.work == 1)
        return first or (None, None)

    def _count(self, op, type, name, difference, alone):
        self.total[op] += 1
        self.worst[name] = max(self.worst[name], difference.worst)
        if alone:
            self.single[op] += 1
            of_type = self.largest.setdefault(op, {})
            of_type[type] = max(of_type.get(type, 0.0), difference.error)
