# SPDX-License-Identifier: MIT
"""Random graphs of operations, all valid and with results that mean something."""

import numpy as np

from .graph import Graph, Unfit
from .makers import TABLE
from . import makers_windows, makers_layers, makers_boxes

__all__ = ["TABLE", "build", "Graph", "Unfit", "makers_windows", "makers_layers",
           "makers_boxes"]

NAMES = sorted(TABLE)


def _attempt(g, name):
    """Append an operation of this name; False if it does not fit."""
    tensors, results = len(g.tensors), len(g.results)
    operations, readers = len(g.operations), [t.readers for t in g.tensors]
    g.must_connect = bool(g.operations)
    try:
        TABLE[name](g, name)
        if not g.must_connect:
            return True
    except Unfit:
        pass
    del g.tensors[tensors:], g.results[results:], g.operations[operations:]
    for t, n in zip(g.tensors, readers):
        t.readers = n
    return False


def build(seed, number, steps=None):
    """Graph @number of a series: the case and its Graph.

    Three in five have one operation, each in turn; the others up to 5 or 40.
    """
    rng = np.random.Generator(np.random.PCG64([seed, number]))
    if steps is None:
        kind = number % 10
        steps = 1 if kind < 6 else int(rng.integers(2, 6)) if kind < 9 else \
            int(rng.integers(6, 41))
    g = Graph(rng, steps)
    first = NAMES[(number // 10 * 6 + number % 10) % len(NAMES)]
    tries = 0
    while len(g.operations) < steps and tries < 200 + 20 * steps:
        tries += 1
        single = steps == 1 or (not g.operations and tries < 20)
        _attempt(g, first if single else g.choice(NAMES))
    if not g.operations:
        raise RuntimeError("graph %d:%d: %s never fits" % (seed, number, first))
    shapes = 0.5 if g.chance(0.2) else 0.0
    return g.case("random_%d_%d" % (seed, number), shapes), g
