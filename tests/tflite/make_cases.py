#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make .tflite files with the results of a reference in numpy.

    make_cases.py ARCHIVE [SEED]
"""

import sys

import archive
from numpy_cases import (dense_cases, detection_cases, file_cases, layout_cases, numbers_cases,
                         parameter_cases, quantized_cases, rank_cases, stablehlo_cases,
                         state_cases, type_cases, window_cases)
from numpy_cases.case_maker import Maker


def main():
    maker = Maker(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for cases in (numbers_cases, layout_cases, state_cases, type_cases, dense_cases,
                  detection_cases, stablehlo_cases, quantized_cases, window_cases, file_cases,
                  rank_cases, parameter_cases):
        for make in cases.MAKERS:
            make(maker)
    archive.write(sys.argv[1], maker.cases)


main()
