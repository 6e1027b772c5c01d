# SPDX-License-Identifier: MIT
"""Operators of TensorFlow Lite in numpy: random cases with the results.

Nothing is shared with the C code: results come from numpy's functions, or from real arithmetic
that is quantized at the end.
"""
