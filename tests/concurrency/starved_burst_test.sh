#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Bursts whose threads get too little processor time, NNPU_STARVED times (default 20): the
# tests of nnhal_burst_test in which threads wait for one another, each of them short.

export NNHAL_BURST_ROUNDS=20
exec tests/concurrency/starved "${NNPU_STARVED:-20}" "$BUILD/tests/nnhal_burst_test" \
	submit submit_many wait_many room threads many_bursts cache copies fork wait faults noqueues
