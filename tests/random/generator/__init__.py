# SPDX-License-Identifier: MIT
"""Random graphs of operations. All are valid, and no result only shows rounding errors."""

import numpy as np

from .graph import Graph, Unfit
from .makers import TABLE, attempt
from .makers_control import pick_name
from . import makers_windows, makers_layers, makers_boxes

__all__ = ["TABLE", "build", "Graph", "Unfit", "makers_windows", "makers_layers",
           "makers_boxes"]

NAMES = sorted(TABLE)


def build(seed, number, steps=None):
    """Graph @number of a series: the case and its Graph.

    Three in five have one operation, each in turn; the others up to 5 or 40. Subgraphs of
    IF and WHILE, and operations that compute a condition, come on top.
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
        attempt(g, first if single else pick_name(g))
    if not g.operations:
        raise RuntimeError("graph %d:%d: %s never fits" % (seed, number, first))
    shapes = 0.5 if g.chance(0.2) else 0.0
    return g.case("random_%d_%d" % (seed, number), shapes), g
