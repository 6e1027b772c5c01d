# SPDX-License-Identifier: MIT
"""A second implementation of the operations, in real arithmetic."""

from .core import TABLE, QUANTIZED, FLOATS, Call, Raw, Refused, Value, run, store
from .models import CONTROL, evaluate
from . import elementwise, movement, reductions, spatial, lookups, recurrent, boxes

__all__ = ["TABLE", "CONTROL", "QUANTIZED", "FLOATS", "Call", "Raw", "Refused", "Value", "run",
           "store", "evaluate", "elementwise", "movement", "reductions", "spatial",
           "lookups", "recurrent", "boxes"]
