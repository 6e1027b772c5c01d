# SPDX-License-Identifier: MIT
"""Reads TAP and KTAP, and believes none of it without proof.

A document is a plan ("1..N", first or last) and N result lines, numbered from 1.
Documents nest by indentation: the results of a program are followed by one line,
indented less, for the program. What counts as a failure, beside "not ok":

- results without a plan: the program may have stopped half-way;
- a plan that is not kept, or numbers that are not 1, 2, 3, ...;
- an empty plan without "# SKIP reason";
- "# Subtest: NAME" without a result: the program said nothing;
- results at the end that no result line of the level above closes;
- "Bail out!".
"""

import re

RESULT = re.compile(r"^(\s*)(?:ok|(not ok))\b\s*(\d+)?\s*(?:- )?(.*)$")
PLAN = re.compile(r"^(\s*)1\.\.(\d+)\s*(?:#\s*skip\b:?\s*(.*))?$", re.I)
VERSION = re.compile(r"^(\s*)K?TAP version\b")
SUBTEST = re.compile(r"^(\s*)# Subtest:?\s*(.*)$")
DIRECTIVE = re.compile(r"(?<!\\)#\s*(SKIP|XFAIL)\b:?\s*(.*)$", re.I)
# Lines kept of what a test said.
MAX_SAID = 25


class Level:
    """One document: what was seen at one indentation."""

    def __init__(self, name=""):
        self.name = name
        self.plan = None
        self.results = 0
        self.failed = 0
        self.disorder = ""
        self.skipped = None  # the reason of an empty plan

    def begun(self):
        return self.plan is not None or self.results > 0


class Summary:
    """Feed it lines, then finish() it; the counts are of leaves only."""

    def __init__(self):
        self.passed = 0
        self.failures = []  # (name, lines said before)
        self.skips = []  # (name, reason)
        self.levels = {}
        self.said = []

    def fail(self, name):
        self.failures.append((name, self.said[-MAX_SAID:]))

    def skip(self, name, reason):
        self.skips.append((name, reason.strip() or "no reason given"))

    def complete(self, depth=0):
        """Have all planned results of this document been seen?"""
        level = self.levels.get(depth)
        return level is not None and level.plan is not None and level.plan == level.results

    def close(self, depth, name=""):
        """Ends the document at this indentation; returns (results, failed, faults)."""
        level = self.levels.pop(depth, None)
        if level is None:
            return 0, 0, 0
        who = (level.name or name or "the output") + ": "
        faults = []
        if level.skipped is not None:
            if not level.results:
                self.skip(level.name or name, level.skipped)
                return 1, 0, 0
            faults.append("results after a plan that skips all")
        elif level.plan is None and level.results:
            faults.append(f"no plan after {level.results} results")
        elif level.plan is None:
            faults.append("no test was run")
        elif level.plan == 0:
            faults.append("the plan is empty")
        elif level.plan != level.results:
            faults.append(f"plan not kept: {level.plan} tests planned, {level.results} reported")
        if level.disorder:
            faults.append(level.disorder)
        for fault in faults:
            self.fail(who + fault)
        return level.results, level.failed, len(faults)

    def close_deeper(self, depth, name=""):
        total = [0, 0, 0]
        for deeper in sorted((d for d in self.levels if d > depth), reverse=True):
            total = [a + b for a, b in zip(total, self.close(deeper, name))]
        return total

    def result(self, depth, bad, number, text):
        directive = DIRECTIVE.search(text)
        name = DIRECTIVE.sub("", text).strip()
        results, failed, faults = self.close_deeper(depth, name)
        level = self.levels.setdefault(depth, Level())
        level.results += 1
        name = name or f"test {level.results}"
        if number != level.results and not level.disorder:
            level.disorder = f"number {number} where {level.results} was due"
        if bad:
            level.failed += 1
            if not failed:
                self.fail(name)
        elif directive:
            # An expected failure has not been tested either.
            if not results and not faults:
                kind = directive.group(1).upper()
                self.skip(name, ("" if kind == "SKIP" else kind + " ") + directive.group(2))
        elif not results and not faults:
            self.passed += 1
        if failed and not bad:
            level.failed += 1
        self.said = []

    def plan(self, depth, count, reason, skips):
        level = self.levels.get(depth)
        # A plan may stand at the end; a second one starts a document.
        if level is not None and level.plan is not None:
            self.close_deeper(depth)
            self.close(depth)
            level = None
        if level is None:
            level = self.levels.setdefault(depth, Level())
        level.plan = count
        if count == 0 and skips:
            level.skipped = reason or ""

    def line(self, line):
        line = line.rstrip("\r\n")
        match = RESULT.match(line)
        # Without a number it is prose; the plan will tell. A failure always counts.
        if match and (match.group(2) or match.group(3)):
            number = int(match.group(3)) if match.group(3) else None
            self.result(len(match.group(1)), bool(match.group(2)), number, match.group(4))
            return
        match = PLAN.match(line)
        if match:
            self.plan(len(match.group(1)), int(match.group(2)), match.group(3),
                      "#" in line)
            return
        match = VERSION.match(line)
        if match:
            depth = len(match.group(1))
            level = self.levels.get(depth)
            if level is None or level.begun():
                self.close_deeper(depth)
                self.close(depth)
                self.levels[depth] = Level()
            return
        match = SUBTEST.match(line)
        if match:
            depth = len(match.group(1))
            level = self.levels.get(depth)
            if level is None or level.begun() or level.name:
                self.close_deeper(depth)
                self.close(depth)
                level = self.levels[depth] = Level()
            level.name = match.group(2)
            return
        if line.lstrip().startswith("Bail out!"):
            self.fail(line.strip())
            return
        self.said.append(line)
        del self.said[:-200]

    def finish(self, status=0):
        """The output is over and the program ended with this status."""
        for depth in sorted((d for d in self.levels if d > 0), reverse=True):
            level = self.levels[depth]
            where = f" of {level.name}" if level.name else ""
            self.close(depth)
            self.fail(f"no result line follows the subtests{where}")
        self.close(0)
        if not self.passed and not self.failures and not self.skips:
            self.fail("no test was run")
        if status and not self.failures:
            self.fail(f"ended with status {status} without a failed test")
