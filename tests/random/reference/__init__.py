# SPDX-License-Identifier: MIT
"""A second implementation of the operations, in real arithmetic."""

from .core import TABLE, QUANTIZED, FLOATS, Call, Raw, Refused, Value, run, store
from . import elementwise, movement, reductions, spatial, lookups, recurrent, boxes

__all__ = ["TABLE", "QUANTIZED", "FLOATS", "Call", "Raw", "Refused", "Value", "run", "store",
           "elementwise", "movement", "reductions", "spatial", "lookups", "recurrent", "boxes"]
