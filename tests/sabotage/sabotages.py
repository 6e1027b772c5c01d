# SPDX-License-Identifier: MIT
"""The sabotages: what is broken, which part of the rings has to notice, and by which words.

Anchors are names that survive a move: the file is looked for by what is in it.
"""

import re
from typing import NamedTuple

from contract_lines import LINES, tests_of


class Sabotage(NamedTuple):
    name: str
    part: str
    what: str
    edits: tuple
    expected: str  # regular expression, somewhere in the output


def replace(files, pattern, by, count=1):
    """In the first of the files (a glob) with the pattern; none is an error."""
    def edit(copy):
        for path in sorted(copy.glob(files)):
            if not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            changed, times = re.subn(pattern, by, text, count=count, flags=re.M)
            if times and changed != text:
                path.write_text(changed, encoding="utf-8", errors="surrogateescape")
                return
        raise ValueError(f"no '{pattern}' in {files}")
    return edit


def replace_everywhere(files, pattern, by):
    """In all of the files (a glob); none with the pattern is an error."""
    def edit(copy):
        changed = 0
        for path in sorted(p for p in copy.glob(files) if p.is_file()):
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            text, times = re.subn(pattern, by, text, flags=re.M)
            if times:
                path.write_text(text, encoding="utf-8", errors="surrogateescape")
                changed += times
        if not changed:
            raise ValueError(f"no '{pattern}' in {files}")
    return edit


def write(file, text):
    """A script, or a new file."""
    def edit(copy):
        path = copy / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            raise ValueError(f"{file} says that already")
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return edit


def append(file, text):
    def edit(copy):
        path = copy / file
        if not path.is_file():
            raise ValueError(f"no {file}")
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    return edit


def duplicate(files, folder):
    """A second file with the name of the first that the glob finds."""
    def edit(copy):
        found = sorted(p for p in copy.glob(files) if p.is_file())
        if not found or (copy / folder / found[0].name).exists():
            raise ValueError(f"no {files}, or one in {folder} already")
        (copy / folder / found[0].name).write_bytes(found[0].read_bytes())
    return edit


def script(text):
    return "#!/bin/sh\n" + text


SAMPLE = "tests/sabotage/sample"
GOOD = script("echo 1..2\necho ok 1 a\necho ok 2 b\n")
COUNTER = "the counter, scripts/tap-summary, ended with status"


def variable(name, *files):
    """MAKEFLAGS that give a list of the build.mk files other words, wherever it is extended."""
    return f"{name}=" + "\\ ".join(files)


def host(program):
    """One host test, as the host ring runs and counts it."""
    return {
        "command": "scripts/check host",
        "edits": (replace("scripts/check", r"^ring_host\(\) \{\n(?:.|\n)*?^\}$",
                          "ring_host() {\n\tmake -s --no-print-directory run-host-tests\n}"),),
        "environment": {"MAKEFLAGS": "-j2 " + variable("HOST_TESTS", f"$$(BUILD)/tests/{program}")},
        "green": r"^[1-9][0-9]* passed, 0 failed",
    }


def pace(program):
    """One of the tests that judge time and memory of the host, which run without sanitizers."""
    return {
        "command": "make -s -j2 run-pace-tests",
        "environment": {"MAKEFLAGS": variable("PACE_TESTS", f"$$(BUILD)/tests/{program}")},
        "green": rf"^ok 1 {program}",
    }


def guest(ring, *programs):
    """A few programs in the virtual machine, as the ring runs and counts them."""
    files = [f"$$(BUILD)/{program}" for program in programs]
    name = {"vm": "SELFTESTS", "debug": "DEBUG_TESTS"}[ring]
    return {
        "command": f"scripts/check {ring}",
        # Only what runs is built.
        "edits": (replace("scripts/check", r"^goals=\(lib [^\n]*$", "goals=(" + " ".join(
                      "$NNPU_BUILD/" + program for program in programs) + ")"),
                  replace("scripts/check", r'in_guest "SELFTESTS VM_TESTS"', "in_guest SELFTESTS")),
        "environment": {"MAKEFLAGS": variable(name, *files)},
        "green": r"^[1-9][0-9]* passed, 0 failed",
        "vm": True,
    }


# What is run: a command in the copy, edits that make it small, what it says when green.
PARTS = {
    # The machinery around a check that takes no time.
    "harness": {
        "command": "scripts/check docs",
        "edits": (write(SAMPLE, GOOD),),
        "environment": {"MAKEFLAGS": variable("DOC_CHECKS", SAMPLE), "NNPU_HOST_TIMEOUT": "5",
                        "NNPU_HOST_LINGER": "3", "NNPU_HOST_BACKTRACE": "0"},
        "green": r"^docs, counted apart: 2 passed, 0 failed",
    },
    "documents": {
        "command": "make -s run-doc-checks",
        "environment": {"MAKEFLAGS": variable("DOC_CHECKS", "tests/docs/check-documents")},
        "green": r"^ok 1 check-documents",
    },
    "specification": {
        "command": "make -s run-doc-checks",
        "environment": {"MAKEFLAGS": variable("DOC_CHECKS", "tests/docs/check-spec")},
        "green": r"^ok 1 check-spec",
    },
    "names": {
        "command": "scripts/check-style names circles",
        "green": r"^ok 2 ",
    },
    "layout": {
        "command": "scripts/check-style uapi",
        "green": r"^ok 1 ",
    },
    "operations": host("ops_operations_test"),
    "tolerance": host("ops_tolerance_test"),
    "orders": host("emu_command_order_test"),
    "chunks": host("emu_small_chunks_test"),
    "locks": host("emu_locks_test"),
    "kept": host("emu_kept_memory_test"),
    "bound": pace("emu_bound_test"),
    "fragments": pace("emu_fragments_test"),
    "runs": pace("emu_page_runs_test"),
    "preempt": host("emu_preempt_test"),
    "queues": host("emu_queue_test"),
    "deadlines": host("emu_deadline_test"),
    "late-runs": host("nnhal_deadline_test"),
    "fenced": host("nnhal_fenced_test"),
    "composed": host("ops_composed_test"),
    "boxes": host("ops_boxes_test"),
    "empty": host("ops_empty_test"),
    "empty-jobs": host("emu_empty_test"),
    "points": pace("emu_points_test"),
    "comparator": host("nnvec_compare_test"),
    "library": host("nnhal_execute_test"),
    "buffers": host("nnhal_buffer_test"),
    "cache": host("nnhal_cache_test"),
    "save": host("emu_save_test"),
    "buffer-runs": host("nnhal_buffer_execute_test"),
    "growth": host("nnhal_growth_test"),
    "bursts": host("nnhal_burst_test"),
    "bound-requests": host("nnhal_bound_test"),
    "completions": host("nnhal_completion_test"),
    "reach": host("nnhal_reach_test"),
    "client": host("nnhal_burst_fmq_client_test"),
    "server": host("nnhal_burst_fmq_life_test"),
    "signatures": host("signatures_table_test"),
    "conversions": host("nnhal_convert_test"),
    "log": host("nnhal_debug_test"),
    "losses": host("nnhal_resilient_test"),
    "padding": host("ndk_padding_test"),
    "refusals": host("ndk_refusals_test"),
    "reasons": host("ndk_reasons_test.sh"),
    "threads": {
        "command": "make -s SAN=thread BUILD=$PWD/build/tsan "
                   "TSAN_TESTS=$PWD/build/tsan/tests/nnhal_burst_test run-tsan-tests",
        "green": r"^ok 1 nnhal_burst_test",
    },
    "starved": {
        "command": "export BUILD=$PWD/build/san; make -s SAN=1 $BUILD/tests/starved_burst_test.sh && "
                   "scripts/run-tests $BUILD/tests/starved_burst_test.sh",
        "environment": {"NNPU_STARVED": "2", "NNPU_STARVED_LIMIT": "60"},
        "green": r"^ok 1 starved_burst_test",
    },
    "soak": {
        "command": "scripts/soak --no-vm --no-sabotage",
        "edits": (replace("scripts/soak", r"^scripts/deps build clang(?:.|\n)*^finish \"\$status\"$",
                          "build build/tests/signatures_table_test\n"
                          'record "table" scripts/run-tests build/tests/signatures_table_test\n'
                          'finish "$status"'),),
        "green": r"^[1-9][0-9]* passed, 0 failed",
    },
    "coverage": {
        "command": "scripts/coverage --host",
        # Only what runs is built.
        "edits": (replace("scripts/coverage", r" lib tools host-tests$", " host-tests"),),
        "environment": {"MAKEFLAGS": variable("HOST_TESTS", "$$(BUILD)/tests/signatures_table_test",
                                              "$$(BUILD)/tests/nnhal_abi_test.sh")},
        "green": r"^all +[1-9]",
    },
    "kunit": {
        "command": "scripts/check kunit",
        "green": r"^[1-9][0-9]* passed, 0 failed",
        "vm": True,
    },
    "guest": guest("vm", "selftests/nnpu_uapi", "selftests/nnpu_userq"),
    "debug": guest("debug", "selftests/nnpu_uapi"),
    "injection": guest("debug", "selftests/nnpu_fail_nth"),
    "recovery": guest("debug", "selftests/nnpu_recovery"),
    "kill": guest("vm", "selftests/nnpu_kill"),
    "sched": guest("vm", "selftests/nnpu_sched"),
    "pinned": guest("vm", "selftests/nnpu_userptr"),
    "events": guest("vm", "selftests/nnpu_netlink"),
    "pause": guest("vm", "selftests/nnpu_pause"),
    "freeze": guest("debug", "selftests/nnpu_pause"),
    "mixed": guest("vm", "tests/mixed_test"),
    "mixed-sim": host("mixed_sim_test"),
    "unbind": guest("debug", "selftests/nnpu_unbind"),
}

KERNEL = "kernel/**/*.c"
PROBE = r"^(static int nnpu_pci_probe\([^{]*\{\n(?:[^\n]+\n)*\n)"

SABOTAGES = [
    # What counts.
    Sabotage("counter-crashes", "harness", "the counter ends with an exception",
             (replace("scripts/tap-summary", r"^def main\(\):\n", "def main():\n    raise OSError\n"),),
             COUNTER),
    Sabotage("counter-silent", "harness", "the counter says nothing and ends with status 0",
             (replace("scripts/tap-summary", r"^import re$", "import sys\nsys.exit(0)"),), COUNTER),
    Sabotage("counter-cut", "harness", "the counter is cut off after its numbers",
             (replace("scripts/tap-summary", r'print\("end of summary"\)', "pass"),), COUNTER),
    Sabotage("counter-status", "harness", "the counter finds a failure and ends with status 0",
             (write(SAMPLE, script("echo 1..1\necho not ok 1 a\n")),
              replace("scripts/tap-summary", r"return 1 if summary.failures else 0", "return 0")),
             COUNTER),
    Sabotage("counter-missing", "harness", "there is no counter",
             (replace("scripts/lib.sh", r"scripts/tap-summary\" ", 'scripts/tap-sum" '),),
             COUNTER),
    # What is counted.
    Sabotage("plan-missing", "harness", "a program prints no plan",
             (write(SAMPLE, script("echo ok 1 a\necho ok 2 b\n")),), "no plan after 2 results"),
    Sabotage("stops-half-way", "harness", "a program stops half-way with status 0",
             (write(SAMPLE, script("echo 1..2\necho ok 1 a\nexit 0\n")),), "plan not kept: 2"),
    Sabotage("silent", "harness", "a program says nothing and ends with status 0",
             (write(SAMPLE, script("exit 0\n")),), "no test was run"),
    Sabotage("empty-list", "harness", "the list of tests is empty",
             (replace("tests/build.mk", r"^(\t\$\(call run-tests),\$\(DOC_CHECKS\)\)", r"\1,)"),),
             "list of programs is empty"),
    Sabotage("test-hangs", "harness", "a test hangs",
             (write(SAMPLE, script("echo 1..2\necho ok 1 a\nsleep 999\n")),), "sample: no end after 5 s"),
    Sabotage("teardown-hangs", "harness", "a teardown hangs",
             (write(SAMPLE, script("echo 1..1\necho ok 1 a\nexec sleep 999\n")),),
             "sample: teardown: no end after 5 s"),
    Sabotage("process-left", "harness", "a test leaves a process behind",
             (write(SAMPLE, script("echo 1..1\necho ok 1 a\nsleep 999 >/dev/null 2>&1 &\n")),),
             "processes left behind: sleep"),
    Sabotage("skip", "harness", "a test is skipped for no want of hardware",
             (write(SAMPLE, script("echo 1..2\necho ok 1 a\necho 'ok 2 b # SKIP no time'\n")),),
             "skip that is not allowed: b: no time"),
    Sabotage("program-skipped", "harness", "a whole program is skipped",
             (write(SAMPLE, script("echo '1..0 # SKIP no device'\nexit 4\n")),),
             "skip that is not allowed: .*no device"),
    Sabotage("runner-killed", "harness", "who runs the tests is killed",
             (write(SAMPLE, script("echo 1..1\necho ok 1 a\nkill -9 $PPID\n")),),
             "plan not kept|ended with status"),
    Sabotage("ring-cut", "harness", "a ring ends in the middle with status 0",
             (replace("scripts/check", r"^\tmake -s --no-print-directory run-doc-checks$",
                      "\tmake -s --no-print-directory run-doc-checks\n\texit 0"),), "cut off"),
    # Documents and layout.
    Sabotage("document", "documents", "a document names a file that is not there",
             (append("Documentation/testing.rst", "\nSee ``scripts/no-such-script``.\n"),),
             "^not ok 1 check-documents"),
    Sabotage("reset-value", "specification", "the specification has another reset value of a register",
             (replace("Documentation/hardware/registers.rst", r"^(0x068   PERF_LEVEL       RO      )1", r"\g<1>2"),),
             "PERF_LEVEL is 0x1 after power-on"),
    Sabotage("same-name", "names", "two files share a name",
             (duplicate("kernel/nnpu_pci.c", "userspace"),), "nnpu_pci.c"),
    Sabotage("include-circle", "names", "two folders include each other",
             (append("uapi/drm/nnpu_accel.h", '#include "kernel/nnpu_hw.h"\n'),), "circle: "),
    Sabotage("layout", "layout", "a field of the uapi changes its size",
             (replace("uapi/drm/nnpu_accel.h", r"(struct drm_nnpu_queue_wait \{\n\t)__u32", r"\1__u64"),),
             "^not ok"),
    # Host tests find what is wrong with the code.
    Sabotage("operation-bytes", "operations", "an operation swaps two bytes",
             (replace("emulator/ops/**/concatenation.c", r"^(\t+)to \+= part;$",
                      r"\1if (part > 1) {\n\1\tuint8_t y = to[0];\n\n"
                      r"\1\tto[0] = to[1];\n\1\tto[1] = y;\n\1}\n\1to += part;"),), "^  FAILED"),
    Sabotage("position-bits", "tolerance", "a position in an image loses its last bits",
             (replace("emulator/ops/**/resize.c", r"0\.5f : 0\.0f\)\) \* step;$",
                      "0.5f : 0.0f)) * step * 1.000001f;"),), "^  FAILED"),
    Sabotage("check-order", "orders", "a value is judged before the context",
             (replace("emulator/core/admin_program.c", r"\(check \? number :",
                      "(check ? number || !c->reports.size :"),), "^  FAILED"),
    Sabotage("small-debts", "chunks", "a group is not charged for what its jobs owe",
             (replace("emulator/core/memory_accounting.c", r"return ctx->group \? GROUP_CREDIT : UINT64_MAX;", "return UINT64_MAX;"),),
             "^  FAILED"),
    Sabotage("kept-memory", "kept", "a busy engine keeps what its job does not use",
             (replace("emulator/core/seats.c", r"^\texec_give\(e\);\n", ""),), "^  FAILED"),
    Sabotage("long-lock", "locks", "the lock is held while a whole ring is completed",
             (replace("emulator/core/device_state.h", r"^(#define HOLD_MAX\t+)64u", r"\g<1>65536u"),), "^  FAILED"),
    Sabotage("piles", "bound", "objects pile up behind the cleaner",
             (replace("emulator/core/cleaner.c", r"n && freed < size", "n && freed > size"),),
             "^not ok 1 emu_bound_test"),
    Sabotage("kept-pages", "bound", "the host does not get small pieces back",
             (replace("emulator/core/page_runs.c", r"(madvise\(\(void \*\)whole, end - whole, MADV_DONTNEED\))",
                      r"(bytes <= 65536 || \1)"),),
             "^not ok 1 emu_bound_test"),
    Sabotage("few-slots", "bound", "addresses are for half of the runs",
             (replace("emulator/core/page_runs.c", r"pages >> \(k - 1\)", "(pages >> k) / 16 + 1"),),
             "^not ok 1 emu_bound_test"),
    Sabotage("free-ends", "bound", "the end of the last page is in no charge",
             (replace("emulator/core/memory_region.c",
                      r"mem_size\((region_round_up\(sizeof\(\*run\), align\) \+ step_of\(bytes, align\))\)", r"\1"),),
             "^not ok 1 emu_bound_test"),
    Sabotage("slow-invalidate", "bound", "INVALIDATE_SLOTS frees page tables itself",
             (replace("emulator/core/slots.c", r"^\tgone_pieces_leave\(", "\tgone_pieces_free("),),
             "^not ok 1 emu_bound_test"),
    Sabotage("own-pages", "fragments", "what is free stays with the process",
             (replace("emulator/core/page_runs.c", r"madvise\(\(void \*\)whole, end - whole, MADV_DONTNEED\)",
                      "true"),),
             "^not ok 1 emu_fragments_test"),
    Sabotage("wide-range", "runs", "runs have twice as many addresses as the README says",
             (replace("emulator/core/page_runs.c", r"pages << \(NNPU_PAGE_SHIFT \+ 1\)",
                      "pages << (NNPU_PAGE_SHIFT + 2)"),),
             "^not ok 1 emu_page_runs_test"),
    Sabotage("beyond-last", "runs", "there are slots behind the last one",
             (replace("emulator/core/page_runs.c", r"FULL << slots % 64;$", "0;"),), "^not ok 1 emu_page_runs_test"),
    Sabotage("no-spare", "preempt", "jobs that gave way wait for a worker that cannot be made",
             (replace("emulator/core/seats.c", r"if \(!best->away && dev->spares\)", "if (!best->away)"),),
             "^  FAILED"),
    Sabotage("gate-bits", "composed", "the gates of a recurrent cell lose their last bits",
             (replace("emulator/ops/recurrent.c", r"^(\t+)(k->logistic\(x \+ at, len, y \+ at\);)",
                      r"\1\2\n\1for (uint32_t i = 0; i < len; i++)\n\1\ty[at + i] *= 1.00001f;"),),
             "^  FAILED"),
    Sabotage("box-bits", "boxes", "a box is a little too large",
             (replace("emulator/ops/bbox.c", r"x - w / 2, width", "x - w * 0.50001f, width"),), "^  FAILED"),
    Sabotage("endless-gather", "empty", "GATHER goes through its rows although no output has elements",
             (replace("emulator/ops/widen.c", r"^(\tif \(!has_output\(c\))(\)\n\t\treturn c->desc->check)",
                      r"\1 && c->desc->op != NNPU_OP_GATHER\2"),),
             "^  FAILED.* GATHER"),
    Sabotage("endless-job", "empty-jobs", "the same in a job, which does not end then",
             (replace("emulator/ops/widen.c", r"^(\tif \(!has_output\(c\))(\)\n\t\treturn c->desc->check)",
                      r"\1 && c->desc->op != NNPU_OP_GATHER\2"),),
             "Bail out! no point"),
    Sabotage("bits-without-points", "empty", "hashes of no rows have no points",
             (replace("emulator/ops/lsh_projection.c", r"if \(op_pace\(&pace, (16|8)\)\)", "if (pace.ended)", count=2),),
             "^  FAILED"),
    Sabotage("late-points", "points", "the device model has a point every 100 ms",
             (replace("emulator/ops/pace.h", r"^(#define OP_PACE_UNITS\t+)\(1u << 18\)", r"\1(1u << 27)"),),
             "^not ok 1 emu_points_test"),
    Sabotage("no-points", "points", "arguments are transferred without points",
             (replace("emulator/core/executor.c", r"^(bool exec_many_args\([^{]*\{\n)", r"\1\treturn false;\n"),),
             "^not ok 1 emu_points_test"),
    Sabotage("nan", "comparator", "the comparator takes NaN for equal to anything",
             (replace("userspace/**/*.c", r"if \(isnan\(expected\) \|\| isnan\(actual\)\)\n(\s*)return [^;]*;",
                      r"if (isnan(expected) || isnan(actual))\n\1return true;"),), "^  FAILED"),
    Sabotage("tolerance", "comparator", "the comparator allows a thousand times as much",
             (replace("userspace/**/*.c", r"^(struct tolerance tolerance_of\([^{]*\{\n[^\n]*)1e-5", r"\g<1>1e-2"),),
             "^  FAILED"),
    Sabotage("status", "library", "the library gives a wrong status",
             (replace_everywhere("userspace/libnnhal/**/*.c", r"\bNNHAL_STATUS_INVALID_ARGUMENT\b",
                                 "NNHAL_STATUS_GENERAL_FAILURE"),), "^  FAILED"),
    Sabotage("cache-untagged", "cache", "the sum of a model file is not compared",
             (replace("userspace/libnnhal/cache/*.c", r" \|\|\n\t    !crypto_equal\(sum, [^)]*\)\)\)", ")"),),
             "^  FAILED"),
    Sabotage("cache-data", "cache", "the device does not compare the seal of constants",
             (replace("emulator/core/*.c", r"seal_matches\(&l->seal, seal\.tag\) \? 0 : ", "1 ? 0 : "),),
             "^  FAILED"),
    Sabotage("cache-longer", "cache", "what was appended to the data of a cache does not matter",
             (replace("userspace/libnnhal/cache/*.c", r" \|\| size != le64toh\(header->data_size\)", ""),),
             "^  FAILED"),
    Sabotage("seal-slots", "save", "constants in slots are not sealed",
             (replace("emulator/core/*.c", r"if \(l->seal\.sealer\) \{",
                      "if (l->seal.sealer && t->kind != NNPU_TENSOR_SLOT) {"),), "^  FAILED"),
    Sabotage("cache-modes", "cache", "how the files of a cache are open does not matter",
             (replace("userspace/libnnhal/cache/*.c", r" \|\| \(mode & O_ACCMODE\) != O_RDWR", ""),), "^  FAILED"),
    Sabotage("cache-keyless", "cache", "the key of a cache is not used",
             (replace("userspace/libnnhal/cache/*.c", r"cache->key_size \? cache->key : \"\",\s*cache->key_size",
                      '"", 0'),), "^  FAILED"),
    Sabotage("cache-stale", "cache", "what was in the files before stays behind what is saved",
             (replace("userspace/libnnhal/cache/*.c", r" \|\| ftruncate\(files->model, 0\) \|\|\n", " ||\n"),),
             "^  FAILED"),
    Sabotage("native-anywhere", "save", "weights in the form of the device are taken by any operation",
             (replace("emulator/core/*.c", r"call->in\[i\]->form == FORM_NATIVE && !op_takes_native\(call, i\)",
                      "false"),), "^  FAILED|Sanitizer"),
    Sabotage("bias-folded", "save", "a saved bias stays folded",
             (replace("emulator/ops/*.c", r"bias\[k\] = q_add\(bias\[k\], [^;]*;", ";"),), "^  FAILED"),
    Sabotage("stale-token", "buffers", "the token of a buffer outlives it",
             (replace("userspace/libnnhal/buffer/buffer.c",
                      r"^\tif \(device_is_own\(buffer->device\)\)\n\t\ttoken_remove\([^;]*;\n", ""),), "^  FAILED"),
    Sabotage("same-token", "buffers", "tokens are numbers in order, the same in each process",
             (replace("userspace/libnnhal/device/tokens.c", r"err = draw\(&token\);",
                      "token = FIRST_TOKEN + table->count + (draw(&token) != 0);"),), "^  FAILED"),
    Sabotage("half-copied", "buffers", "a copy to a buffer that is refused leaves its state",
             (replace("userspace/libnnhal/buffer/buffer_copy.c", r"^\tif \(status\)\n\t\tbuffer_reset\(buffer\);\n", ""),),
             "^  FAILED"),
    Sabotage("any-role", "buffer-runs", "a buffer serves any input and output",
             (replace("userspace/libnnhal/execution/validate_request.c", r"if \(!buffer_has_role\(pool->buffer, &role\)\)",
                      "if (!buffer_has_role(pool->buffer, &role) && pool->shape.rank > 99)"),), "^  FAILED"),
    Sabotage("kept-state", "buffer-runs", "an output keeps its state when its run has failed",
             (replace("userspace/libnnhal/execution/buffers.c", r"^\t\t\tbuffer_reset\(b\);\n", "\t\t\t;\n"),), "^  FAILED"),
    Sabotage("untaken", "buffer-runs", "a burst that ends forgets the buffers of results that nobody took",
             (replace("userspace/libnnhal/burst/burst.c", r"^\t\tburst_end_buffers\(b, &b->requests\[i\][^;]*;\n", "\t\t;\n"),),
             "^  FAILED"),
    Sabotage("any-version", "conversions", "a model is converted to a version that cannot express it",
             (replace("userspace/libnnhal/convert/convert_model.c", r"status = validate_model\(&target, &why\);",
                      "status = NNHAL_STATUS_NONE;"),), "^  FAILED"),
    Sabotage("consumers-from-one", "conversions", "numberOfConsumers is counted from 1",
             (replace("userspace/libnnhal/convert/convert_model.c", r"number_of_consumers = 0;",
                      "number_of_consumers = 1;"),), "^  FAILED"),
    Sabotage("rounded-down", "conversions", "durations are rounded down",
             (replace("userspace/libnnhal/convert/time_points.c", r" \+ !!\(ns % 1000\)", ""),), "^  FAILED"),
    Sabotage("always-on", "log", "lines of tags that are off are written",
             (replace("userspace/libnnhal/base/vlog.h", r"if \(VLOG_IS_ON\(log, tag\)\)",
                      "if (VLOG_IS_ON(log, tag) || (log)->write)"),), "^  FAILED"),
    Sabotage("told-twice", "losses", "a watch calls its callback each time that it is asked",
             (replace("userspace/libnnhal/device/death_watch.c", r"!atomic_flag_test_and_set\(&watch->told\)",
                      "!atomic_flag_test_and_set(&watch->told) || watch->callback"),), "^  FAILED"),
    Sabotage("stale-lost-token", "losses", "a request gets a token of the device that was lost",
             (replace("userspace/libnnhal/resilient/resilient_buffer.c", r"if \(b->current_device != device\)",
                      "if (!b->current_device)"),), "^  FAILED"),
    Sabotage("any-device", "losses", "another device than before is accepted",
             (replace("userspace/libnnhal/resilient/resilient_device.c", r"^\tif \(what\) \{",
                      "\tif (what && !r->current) {"),), "^  FAILED"),
    Sabotage("lost-room", "bursts", "who waits for room sleeps until a job ends, not until a result is taken",
             (replace("userspace/libnnhal/burst/burst_begin.c", r"if \(taken > b->num_running\)", "if (!taken)"),),
             "^  FAILED"),
    Sabotage("given-up", "client", "memory that is freed leaves the request that has it",
             (replace("userspace/libnnhal/fmq/burst_controller_slots.c", r"if \(slot && slot->in_request\)",
                      "if (slot && slot->in_request && !slot->memory)"),), "^  FAILED"),
    Sabotage("any-shape", "buffer-runs", "a buffer takes a shape that contradicts it",
             (replace("userspace/libnnhal/execution/buffers.c", r"return layout_takes\(&b->layout, shape\.dims, shape\.rank\) &&\n\s*",
                      "return "),), "^  FAILED"),
    Sabotage("surplus", "growth", "what the library does not know of a result stays as it was",
             (replace("userspace/shared/sized.h", r"^\tresult_clear_surplus\(to, given, size\);\n", ""),),
             "^  FAILED"),
    Sabotage("entry-distance", "growth", "results of a burst are as far apart as in this library",
             (replace("userspace/libnnhal/burst/burst_queue.c", r"result_entry\(results, n\+\+\)", "&results[n++]"),),
             "^  FAILED"),
    Sabotage("flood", "client", "a client reads doorbells as long as there are any",
             (replace("userspace/libnnhal/fmq/burst_controller.c", r"i < MESSAGES_AT_ONCE", "i < 100000000"),),
             "^  FAILED"),
    Sabotage("freed-early", "server", "memory leaves the server while a request uses it",
             (replace("userspace/libnnhal/fmq/burst_server_memory.c", r"if \(s->is_executing\)", "if (0)"),),
             "^  FAILED"),
    Sabotage("return-early", "signatures", "a test program returns early",
             (replace("tests/signatures/signatures_table_test.c", r"^(int main\([^{]*\{\n)", r"\1\treturn 0;\n"),),
             "no test was run"),
    Sabotage("exit-early", "signatures", "a test program calls exit(0) after its first check",
             (replace("tests/tap.h", r"^(static inline void tap_result\((?:.|\n)*?vprintf\(fmt, ap\);\n\tprintf\([^\n]*\n)",
                      r"\1\texit(0);\n"),), "no plan after 1 results"),
    # Threads.
    # Completion queues.
    Sabotage("completion-forgotten", "completions", "a result without descriptor is not told",
             (replace("userspace/libnnhal/device/completion_queue.c",
                      r"^\t\t\(void\)eventfd_write\(q->event_fd, 1\);\n", ""),),
             "a result that is there at once"),
    # Padding of arguments of the NNAPI.
    Sabotage("padding-ignored", "padding", "libneuralnetworks takes the call for padding and ignores it",
             (replace("userspace/libneuralnetworks/execute/execution_life.c",
                      r"^\t\texecution->said\.padded = enable;$", "\t\t(void)enable;"),),
             "not ok .* padding, a byte more"),
    # What calls of the NNAPI that fail leave and say.
    Sabotage("pointer-left", "refusals", "a function that fails leaves the pointer that it returns as it was",
             (replace("userspace/libneuralnetworks/execute/execution_life.c",
                      r"^\t\*execution = NULL;\n", ""),),
             "not ok .*Execution_create: compilation is bad: result 3, and a pointer that is none"),
    Sabotage("reason-untold", "refusals", "a function of the NNAPI fails without a line",
             (replace("userspace/libneuralnetworks/memory/memory_desc.c",
                      r"TELL\((add_role\(desc, compilation, index, true, frequency\))\)", r"\1"),),
             "not ok .*addOutputRole: index: 0 lines"),
    Sabotage("reason-missing", "reasons", "a result has no reason",
             (replace("userspace/libneuralnetworks/execute/execution_start.c",
                      r"ndk_why\((ANEURALNETWORKS_OUT_OF_MEMORY), \"no memory\"\)", r"\1"),),
             "execution_start.c:[0-9]+: OUT_OF_MEMORY"),
    # Bound requests.
    Sabotage("bound-unchanged", "bound-requests", "a burst does not notice that an argument was set",
             (replace("userspace/libnnhal/execution/bound_request.c",
                      r"^\tatomic_store_explicit\(&bound->stamp, STAMP_UNCHECKED, memory_order_relaxed\);\n",
                      ""),),
             "in a burst of one thread: the output moves"),
    Sabotage("bound-unchecked", "bound-requests", "a request that was changed is not checked again",
             (replace("userspace/libnnhal/execution/bound_request.c",
                      r"^\tbound->is_resolved = false;\n", ""),),
             "refused, "),
    Sabotage("bound-reused", "bound-requests", "all arguments have one stamp",
             (replace("userspace/libnnhal/execution/bound_request.c",
                      r"(STAMP_FIRST) \+ atomic_fetch_add_explicit\(&device->num_stamps, 1,",
                      r"\1 + 0 * atomic_fetch_add_explicit(&device->num_stamps, 1,"),),
             "a stamp is never that of another request"),
    Sabotage("bound-shape", "bound-requests", "other dimensions of an argument do not count",
             (replace("userspace/libnnhal/execution/bound_request.c",
                      r"^\tbound->is_resolved = false;\n", "\tbound->is_resolved &= arg.num_dimensions > 0;\n"),),
             "^  FAILED: other dimensions of one input"),
    Sabotage("bound-early", "bound-requests", "who does not wait reads what is still to be written",
             (replace("userspace/libnnhal/execution/bound_request.c", r"^\town\.buffers = bound->buffers;\n",
                      "\town.buffers = bound->buffers;\n\town.allow_early_input = true;\n"),),
             "^  FAILED: .* ways have no content before the end"),
    # Host pointers.
    Sabotage("slot-left", "reach", "the slot of a host pointer is not free after it",
             (replace("userspace/libnnhal/transport/sim_slots.c", r"^\ts->slots\[slot\]\.map = NULL;",
                      "\tif (!old.is_lent)\n\t\ts->slots[slot].map = NULL;"),),
             "^  FAILED: .* host pointers, one after the other"),
    Sabotage("no-lock", "threads", "a doorbell reaches the queue without the lock",
             (replace("emulator/core/queue.c",
                      r"\tpthread_mutex_lock\(&dev->lock\);\n(\tring_locked\([^\n]*\n)\tpthread_mutex_unlock\(&dev->lock\);\n",
                      r"\1"),),
             "ThreadSanitizer: data race"),
    Sabotage("never-ends", "starved", "nobody aborts a job that hangs",
             (replace("tests/libnnhal/nnhal_burst_test.c",
                      r"\bok\(transport_sim_abort\(t, burst->queue\), (\"%s: there is a job to abort)", r"ok(true, \1"),),
             "not at its end after"),
    # Soak.
    Sabotage("soak-build", "soak", "what soak tests does not compile",
             (append("tests/signatures/signatures_table_test.c", "\n#error sabotage\n"),),
             "soak was broken off: build"),
    Sabotage("soak-red", "soak", "a test of soak fails",
             (replace("tests/tap.h", r"^(static inline void tap_result\((?:.|\n)*?vprintf\(fmt, ap\);\n\tprintf\([^\n]*\n)",
                      r"\1\texit(0);\n"),), "^[0-9]+ passed, [1-9][0-9]* failed"),
    # Coverage.
    Sabotage("coverage-red", "coverage", "a test fails on what counts the lines",
             (replace("tests/tap.h", r"^(static inline void tap_result\((?:.|\n)*?vprintf\(fmt, ap\);\n\tprintf\([^\n]*\n)",
                      r"\1\texit(0);\n"),), "^coverage: tests failed"),
    Sabotage("coverage-data", "coverage", "the library has a variable of its own beside those of gcov",
             (append("userspace/libnnhal/base/util.c", "\nint nnhal_sabotage = 1;\n"),),
             "FAILED: no writable global data .data$"),
    # The kernel.
    Sabotage("kunit-red", "kunit", "a KUnit case fails",
             (replace("kernel/tests/*.c", r"^(static void check_test_range\(struct kunit \*test\)\n\{\n)",
                      r'\1\tKUNIT_FAIL(test, "sabotage");\n'),), "FAILED: check_test_range"),
    Sabotage("kunit-warning", "kunit", "a KUnit case that passes makes the kernel warn",
             (replace("kernel/tests/*.c", r"^(static void check_test_range\(struct kunit \*test\)\n\{\n)",
                      r"\1\tWARN_ON(1);\n"),), "FAILED: Bail out! the kernel reports an error: WARNING"),
    Sabotage("probe-warning", "guest", "the probe of the device warns",
             (replace(KERNEL, PROBE, r"\1\tWARN_ON(1);\n"),),
             "boot and probe: the kernel reports no error: it does"),
    Sabotage("wrong-errno", "guest", "an ioctl gives a wrong error",
             (replace(KERNEL, r"^(int nnpu_gem_mmap_ioctl\((?:.|\n)*?)-ENOENT", r"\1-EINVAL"),), "^  FAILED"),
    Sabotage("no-queues", "guest", "the driver gives no user queues",
             (replace(KERNEL, r"^(int nnpu_userq_ioctl_create\([^{]*\{\n(?:[^\n]+\n)*\n)",
                      r"\1\treturn -EOPNOTSUPP;\n"),), "^  FAILED: .*userq"),
    Sabotage("no-probe", "guest", "the driver does not find its device",
             (replace(KERNEL, PROBE, r"\1\treturn -ENODEV;\n"),), "no device was probed"),
    Sabotage("no-dmesg", "guest", "the kernel's messages cannot be read",
             (replace("scripts/run-selftests", r"^(set -uo pipefail)$", r"\1\ndmesg() { :; }"),),
             "its messages are lost"),
    Sabotage("no-mark", "guest", "the marks in the kernel's messages are lost",
             (replace("scripts/run-selftests", r'echo "\$mark_prefix \$1" >/dev/kmsg', ":"),),
             "its messages are lost"),
    Sabotage("no-power-off", "guest", "the machine does not power off",
             (replace("scripts/guest/run", r"^\techo o >/proc/sysrq-trigger$", "\t:"),), "did not power off"),
    Sabotage("late-warning", "guest", "the unload of the driver warns",
             (replace(KERNEL, r"^(static void nnpu_pci_remove\([^{]*\{\n)", r"\1\tWARN_ON(1);\n"),),
             "unload: the kernel reports no error: it does"),
    Sabotage("machine-dies", "guest", "the machine ends in the middle",
             (replace("scripts/run-selftests", r"^judge_boot$", "judge_boot\necho o >/proc/sysrq-trigger; sleep 60"),),
             "did not reach its end|plan not kept"),
    Sabotage("early-outputs", "guest", "a call that fails has written its outputs",
             (replace("kernel/nnpu_slot.c", r"^(\tret = nnpu_check_bind\(args\);)$", r"\targs->slot = 0;\n\1"),),
             "slot_bind_negative"),
    # The device is taken away for a while, or for good.
    Sabotage("contexts-stay", "pause", "a reset of the function does not lose the contexts",
             (replace("kernel/nnpu_pause.c", r'^\tnnpu_ctx_lose_all\(ndev, "pause", spare_kept\);\n', ""),), "^  FAILED: "),
    Sabotage("doorbells-stay", "pause", "processes keep the doorbells of queues that are lost",
             (replace("kernel/nnpu_userq.c",
                      r"^\t\tkref_get\(&uq->ref\);\n\t\tlist_add_tail\(&uq->zap_node, &uqs->zaps\);\n", ""),),
             "doorbells_are_taken_away"),
    Sabotage("doorbells-late", "pause", "doorbell pages are zapped after the reset of the function",
             (replace("kernel/nnpu_userq.c", r"^(void nnpu_userq_zap_lost\((?:[^\n]+\n)+\n)",
                      r"\1\tif (READ_ONCE(ndev->paused))\n\t\treturn;\n"),
              replace("kernel/nnpu_pause.c", r"^(\t\tWRITE_ONCE\(ndev->paused, false\);\n)",
                      r"\1\t\tnnpu_userq_zap_lost(ndev);\n")),
             "doorbells_are_taken_away_before_the_reset"),
    Sabotage("load-lasts", "freeze", "a load is waited for when processes have to stand still",
             (replace("kernel/nnpu_admin.c", r"left < 0 \|\| \(freezing\(current\) && signal_pending\(current\)\)", "left < 0"),),
             "load_begins_again"),
    Sabotage("fault-sleeps", "pause", "the second try of a doorbell fault sleeps with the mmap_lock",
             (replace("kernel/nnpu_userq_file.c", r"^(\tif \(vmf->flags & FAULT_FLAG_TRIED\))\n(\t\treturn VM_FAULT_NOPAGE;)$",
                      r"\1 {\n\t\twait_event_killable_timeout(uq->wait, atomic_read(&uq->events) != seen,\n"
                      r"\t\t\t\t\t    timeout);\n\2\n\t}"),),
             "doorbell_waits_without_the_mmap_lock"),
    Sabotage("bo-lock", "unbind", "buffers are unmapped with the lock of their list",
             (replace("kernel/nnpu_gem.c", r"^(\t\tlist_del_init\(&bo->node\);\n)(\t\tfound = bo;)$",
                      r"\1\t\tnnpu_gem_unmap(&bo->base.base);\n\2"),),
             "nnpu_unbind: the kernel reports no error: it does"),
    Sabotage("late-load", "unbind", "a load begins while unplug waits",
             (replace("kernel/nnpu_command.c", r"READ_ONCE\(ndev->stopping\)\)$", "false)"),),
             "no_load_begins_meanwhile"),
    # The checkers of the debug kernel.
    Sabotage("probe-leak", "debug", "the probe of the device leaks",
             (replace(KERNEL, PROBE, r"\1\tfor (ret = 0; ret < 16; ret++)\n\t\tif (!kzalloc(200, GFP_KERNEL))\n"
                      r"\t\t\treturn -ENOMEM;\n"),), "no memory was left behind: [0-9]+ objects"),
    Sabotage("kasan-once", "debug", "KASAN reports once only",
             (replace("scripts/vm", r" kasan_multi_shot", ""),), "KASAN reports once only"),
    Sabotage("kasan-blind", "debug", "KASAN does not see the module",
             (append("selftests/planted/Kbuild", "KASAN_SANITIZE := n\n"),), "use-after-free was not reported"),
    Sabotage("lockdep-off", "debug", "lockdep does not look",
             (replace("scripts/run-selftests", r"^judge_boot$", "echo 0 >/proc/sys/kernel/prove_locking\njudge_boot"),),
             "lock-order was not reported|lockdep is off"),
    Sabotage("kmemleak-off", "debug", "kmemleak does not look",
             (replace("scripts/run-selftests", r"^judge_boot$", "echo off >$kmemleak\njudge_boot"),),
             "kmemleak has stopped|kmemleak is off"),
    Sabotage("kmemleak-blind", "debug", "what kmemleak says is not read",
             (replace("scripts/run-selftests", r'cat \$kmemleak >"\$work/leaks"', ': >"$work/leaks"'),),
             "the leak was not reported"),
    Sabotage("planted-missing", "debug", "the planted faults are not there",
             (replace("scripts/check", r"^\texport NNPU_PLANTED_KO$", "\tunset NNPU_PLANTED_KO"),),
             "could not be planted"),
    Sabotage("signalling-allocates", "recovery", "memory is allocated on the way to a fence signal",
             (replace("kernel/nnpu_queue_watch.c", r"^(#include <linux/dma-fence.h>)$", r"\1\n#include <linux/slab.h>"),
              replace("kernel/nnpu_queue_watch.c",
                      r"^(static void nnpu_queue_watch_climb\([^{]*\{\n(?:[^\n]+\n)*\n)",
                      r"\1\tkfree(kzalloc(64, GFP_KERNEL));\n")),
             "nnpu_recovery: the kernel reports no error: it does"),
    Sabotage("fence-early", "kill", "the fence of a job that is given up signals before its in-fences",
             (replace("kernel/nnpu_deps.c", r"^\tdeferred = !deps->all_in;$", "\tdeferred = false;"),),
             "nobody_waits_for_in_fences"),
    Sabotage("fence-blocks", "sched", "a job that waits for a fence holds up those behind it",
             (replace("kernel/nnpu_sched.c", r"^(\t\tif \(!job) \|\|", r"\1 || !list_empty(&sched->waiting) ||"),),
             "a_fence_holds_up_nobody"),
    Sabotage("pinned-read-only", "pinned", "the device writes to memory that was pinned for reading",
             (replace("kernel/nnpu_slot.c", r"DRM_NNPU_SLOT_WRITE && !nnpu_gem_is_writable",
                      "DRM_NNPU_SLOT_WRITE && 0 && !nnpu_gem_is_writable"),),
             "FAILED: userptr.rights"),
    Sabotage("pinned-charged-for-ever", "pinned", "the charge of pinned memory is not given back",
             (replace("kernel/nnpu_pin.c", r"^\tatomic_long_sub\(pin->num_pages, &pin->user->locked_vm\);\n", ""),),
             "FAILED: userptr.limit"),
    Sabotage("doorbell-of-others", "mixed", "a process maps the doorbell page of another one",
             (replace(KERNEL, r"vma->vm_mm != uq->mm", "!vma->vm_mm"),),
             "queue page of another process"),
    Sabotage("queue-left", "mixed-sim", "a message queue that ends leaves its descriptor",
             (replace("userspace/libnnhal/fmq/fmq.c", r"^\tclose\(q->fd\);\n", ""),),
             "^  FAILED: descriptors and threads"),
    Sabotage("arm-storm", "queues", "each write of CQ_ARM raises an interrupt",
             (replace("emulator/core/interrupts.c", r"now - asks->last_ns >= IRQS_ASK_NS", "now"),), "^  FAILED"),
    Sabotage("arm-lost", "queues", "an interrupt that was put off never comes",
             (replace("emulator/core/interrupts.c", r"^\t\tirqs_add\(&irqs, i\);\n", ""),), "^  FAILED"),
    Sabotage("events-of-others", "events", "each user is told the events of all clients",
             (replace("kernel/nnpu_event.c", r"NNPU_NLGRP_EVENTS, event->cred\)", "NNPU_NLGRP_EVENTS, false)"),),
             "FAILED: netlink.stopped_queue"),
    Sabotage("late-begins", "deadlines", "a job begins after its deadline",
             (replace("emulator/core/job.c", r"dev_now\(r->dev\) >= at\)", "!at)"),),
             "^  FAILED: a nanosecond after it was fetched it does not begin"),
    Sabotage("deadline-stays", "late-runs", "a place of a burst keeps its deadline",
             (replace("userspace/libnnhal/burst/burst_begin.c", r"^\theader->deadline_ns = 0;\n\theader->flags = 0;\n", ""),),
             "^  FAILED: .* of 8 requests without a deadline"),
    Sabotage("chain-goes-on", "fenced", "a link runs although the one before it has failed",
             (replace("userspace/libnnhal/transport/sim_fences.c", r"info\.status < 0 && !w->error", "info.status > 1"),),
             "^  FAILED: D44 a fence that fails"),
    Sabotage("second-fence", "fenced", "of several fences none hands its error on",
             (replace("userspace/libnnhal/transport/sim_fences.c", r"info\.status < 0 && !w->error",
                      "info.status < 0 && w->num == 1"),),
             "^  FAILED: D44 fence [01] of two fails"),
    Sabotage("duration-from-call", "fenced", "a duration counts from the call",
             (replace("userspace/libnnhal/transport/sim_fences.c", r"info\.time_ns > w->ready_ns\)\n", "info.time_ns == 1)\n"),),
             "^  FAILED: D47 the duration counts from the fence"),
    Sabotage("early-content", "fenced", "a buffer has content before the execution has ended",
             (replace("userspace/libnnhal/buffer/buffer.c", r"= shape && !writer;", "= shape;"),),
             "^  FAILED: uninitialised until the end"),
    Sabotage("no-injection", "injection", "fault injection never hits",
             (replace("selftests/nnpu_fail_nth_test.c", r"^(static void nth_begin\(void\)\n\{\n)", r"\1\treturn;\n"),),
             "^  FAILED: total.each_call_failed"),
]

# A few that need neither compiler nor machine, for every `make check`.
# The tests of a program that prove lines of the HAL's contract.
PARTS.update({f"lines-{line.program}": host(line.program) for line in LINES})
SABOTAGES += [Sabotage(f"line-{x.line}", f"lines-{x.program}", f"taken away: {x.what}",
                       (replace(x.file, x.pattern, x.by),),
                       rf"^  FAILED: .*(?:{tests_of(x.line, x.program)})") for x in LINES]

CHEAP = ["counter-crashes", "plan-missing", "empty-list", "test-hangs", "skip"]
