# SPDX-License-Identifier: MIT
"""Lines of the HAL's contract whose behaviour is taken away, one at a time.

Documentation/conformance.rst names the tests of each line. One of them has to fail: it is not enough
that any test does.
"""

import re
from pathlib import Path
from typing import NamedTuple

CONFORMANCE = Path(__file__).resolve().parents[2] / "Documentation/conformance.rst"
MODEL = "userspace/libnnhal/model/"
EXECUTION = "userspace/libnnhal/execution/"
MEMORY = "userspace/libnnhal/memory/memory.c"
OPERAND = MODEL + "validate_operand.c"
SUBGRAPH = MODEL + "validate.c"
REQUEST = EXECUTION + "validate_request.c"
ALLOCATE = EXECUTION + "allocate.c"


class Line(NamedTuple):
    line: str
    program: str
    what: str  # is not done any more
    file: str
    pattern: str
    by: str


def tests_of(line, program):
    """A regular expression for the names of a line's tests, as they are printed: those of the page, and
    those that begin with the line."""
    found = [rf"\b{line}\b"]
    rows = [r for r in CONFORMANCE.read_text(encoding="utf-8").splitlines() if r.startswith(line + " ")]
    if not rows:
        raise ValueError(f"{CONFORMANCE.name} has no line {line}")
    for row in rows:
        if program in row:
            name = row[row.index(program) + len(program):].strip()
            found.append(re.sub(r"%(?:llu|lld|[usdgf])", ".*", re.escape(name).replace(r"\%", "%")))
    return "|".join(found)


V, R, M, B = "nnhal_validate_test", "nnhal_request_test", "nnhal_memory_test", "nnhal_buffer_test"

LINES = [
    Line("B26", V, "later values in older versions", OPERAND, r"nnhal_validate_operand_type\(op->type, c->version\)",
         "nnhal_validate_operand_type(op->type, NNHAL_HAL_1_3)"),
    Line("B37", V, "scalars have rank 0", OPERAND, r"if \(op->num_dimensions\)\n(\t\t\treturn FAIL\(c, \"operand %u: scalar)",
         r"if (op->num_dimensions > 99)\n\1"),
    Line("B06", V, "unknown rank at 1.3", OPERAND, r"\(c->version < NNHAL_HAL_1_2 \|\| ", "(c->version <= NNHAL_HAL_1_3 || "),
    Line("B07", V, "scale", OPERAND, r"if \(op->scale != 0\.0f\)", "if (op->scale > 1e30f)"),
    Line("B08", V, "zero point", OPERAND, r"op->zero_point < min \|\| op->zero_point > max", "op->zero_point < min - 999999"),
    Line("B09", V, "extraParams", OPERAND, r"else if \(kind != NNHAL_EXTRA_PARAMS_NONE\)", "else if (kind > 99)"),
    Line("B10", V, "scales of channels", OPERAND, r"cq->num_scales != op", "cq->num_scales > op"),
    Line("B13", V, "no place for others", OPERAND,
         r"loc->offset \|\| loc->length\)(\n\t\t\treturn FAIL\(c, \"operand %u: location)", r"loc->offset)\1"),
    Line("B15", V, "length of constants", OPERAND, r"loc->length != expected", "loc->length > expected"),
    Line("B16", V, "operands above 32 bits", OPERAND, r"if \(nnhal_size_of_data_overflows\(", "if (i > 9999 && nnhal_size_of_data_overflows("),
    Line("B46", V, "inputs are not written", SUBGRAPH, r"if \(!is_written\(&c->sg->operands\[index\]\)\)",
         "if (index > 9999)"),
    Line("B21", V, "execution order", SUBGRAPH, r"&& !written\[index\]\)", "&& written[index] > 1)"),
    Line("B54", V, "numberOfConsumers", SUBGRAPH, r"number_of_consumers != consumers\[i\]", "number_of_consumers > consumers[i]"),
    Line("B20", V, "inputIndexes", SUBGRAPH, r"if \(seen\[index\]\)", "if (seen[index] > 1)"),
    Line("B27", V, "condition of IF", MODEL + "validate_control.c", r"if \(!is_condition\(outer_input\(c, 0\)\)\)",
         "if (0)"),
    Line("B28", V, "condition of WHILE", MODEL + "validate_control.c",
         r"cond->num_outputs != 1 \|\| !is_condition\(inner_output\(cond, 0\)\)", "cond->num_outputs != 1"),
    Line("B29", V, "outer and inner operands", MODEL + "validate_control.c",
         r"a->dimensions\[d\] != b->dimensions\[d\]\)", "a->dimensions[d] > 99999)"),
    Line("B30", V, "WHILE of unknown size", MODEL + "validate_control.c",
         r"if \(nnhal_tensor_has_unspecified_dimensions\(", "if (i > 99 && nnhal_tensor_has_unspecified_dimensions("),
    Line("D01", R, "number of arguments", REQUEST, r"request->num_inputs != rules->num_inputs \|\|",
         "request->num_inputs > rules->num_inputs ||"),
    Line("D02", R, "hasNoValue with a location", REQUEST,
         r"if \(arg\.location\.pool_index \|\| arg\.location\.offset \|\| arg\.location\.length\)",
         "if (arg.location.pool_index > 9999)"),
    Line("D03", R, "offset and length", REQUEST, r"loc->length > memory->size\)", "loc->length > memory->size + 9999)"),
    Line("D06", R, "inputs are specified", REQUEST, r"if \(!dim && rank && c->is_input\)", "if (!dim && rank > 99)"),
    Line("D08", R, "length of inputs", REQUEST, r"arg->length != size", "arg->length > size"),
    Line("D09", R, "overlap by another descriptor", REQUEST, r"return a->dev == b->dev && a->ino == b->ino;", "return a == b;"),
    Line("D13", "nnhal_execute_test", "measure", EXECUTION + "arguments.c",
         r"if \(to->measure != NNHAL_MEASURE_NO && to->measure != NNHAL_MEASURE_YES\)", "if (to->measure > 99)"),
    Line("D28", "nnhal_util_test", "MISSED_DEADLINE needs a deadline", "userspace/libnnhal/base/status.c",
         r"err == ETIME && has_deadline", "err == ETIME && (has_deadline || err)"),
    Line("D29", "nnhal_util_test", "RESOURCE_EXHAUSTED", "userspace/libnnhal/base/status.c",
         r"\{ ENOSPC, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT", "{ ENOSPC, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT"),
    Line("D22", "nnhal_execute_test", "timing only if asked", EXECUTION + "execute.c",
         r"if \(e->options\.measure == NNHAL_MEASURE_YES\)", "if (e->options.measure < 99)"),
    Line("D26", "nnhal_async_test", "deadline passed", EXECUTION + "execute.c",
         r"if \(deadline_passed\(read\.has_deadline,", "if (deadline_passed(read.has_deadline && !read.size,"),
    Line("C06", "nnhal_prepare_test", "deadline that cannot be met", EXECUTION + "prepare.c",
         r"if \(deadline_passed\(p->options\.has_deadline,", "if (deadline_passed(p->options.has_deadline && !p->options.size,"),
    Line("E05", "nnhal_burst_packet_test", "kinds of datums", "userspace/libnnhal/fmq/burst_packet.c",
         r"r->next >= r->count \|\| r->packet\[r->next\]\.kind != kind", "r->next >= r->count || kind > 99"),
    Line("F05", M, "wrong kind of descriptor", MEMORY, r"!S_ISREG\(st->st_mode\) \|\| seals < 0\)", "!S_ISREG(st->st_mode))"),
    Line("F06", M, "size larger than the object", MEMORY, r"m->offset > available \|\| m->size > available - m->offset",
         "m->offset > available"),
    Line("F07", "nnhal_execute_test", "read-only pool", REQUEST, r"!\(memory->access & NNHAL_MEMORY_WRITE\)\)", "!memory->access)"),
    Line("F09", M, "hardware_buffer", MEMORY, r"desc->kind == NNHAL_MEMORY_HARDWARE_BUFFER\)", "desc->kind > 99)"),
    Line("F13", B, "foreign prepared models", ALLOCATE, r"if \(device_root\(a->models\[i\]->device\) != a->device\)",
         "if (!a->device)"),
    Line("F15", B, "frequencies", ALLOCATE, r"!\(from->frequency > 0\.0f\) \|\| ", ""),
    Line("F16", B, "the same role twice", ALLOCATE, r"if \(roles_have\(", "if (!a->roles && roles_have("),
    Line("F17", B, "roles of different types", ALLOCATE, r"if \(kind->type != a->kind->type\)", "if (kind->type > 999999)"),
    Line("G13", "nnhal_convert_test", "capabilities of newer versions", "userspace/libnnhal/convert/convert_capabilities.c",
         r"\{ FLT_MAX, FLT_MAX \}", "{ 1.0f, 1.0f }"),
    Line("I02", "nnhal_util_test", "size of data", "userspace/libnnhal/base/util.c", r"^\tif \(!num_dimensions\)\n\t\tbytes = 0;\n", ""),
    Line("I04", "nnhal_util_test", "unspecified dimensions", "userspace/libnnhal/base/util.c",
         r"if \(!num_dimensions\)\n\t\treturn true;", "if (!num_dimensions)\n\t\treturn false;"),
    Line("I05", "nnhal_util_test", "combineDimensions", "userspace/libnnhal/base/util.c", r"num_a && a\[i\] \? a\[i\] : b\[i\]",
         "b[i]"),
    Line("I06", "nnhal_util_test", "operand performance", "userspace/libnnhal/base/performance.c",
         r"if \(types\[i\] == NNHAL_OPERAND_SUBGRAPH \|\|\n", "if (\n"),
    Line("I07", "nnhal_util_test", "alignment", "userspace/libnnhal/base/util.c", r"length < 4 \? 1 : 3", "length < 4 ? 1 : 7"),
    Line("F18", B, "roles of different shapes", ALLOCATE, r"return -EINVAL;\n\treturn 0;", "return 0;\n\treturn 0;"),
]
