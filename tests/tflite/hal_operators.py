# SPDX-License-Identifier: MIT
"""How the operations of the HAL look as operators of TensorFlow Lite.

A function per operation takes the arguments (Arguments) and adds operators to the graph. What
the operator has no words for raises NoCounterpart with the reason.
"""

import math

import numpy as np

import flexbuffer


class NoCounterpart(Exception):
    """Why a case cannot be a .tflite file."""


def same_padding(size, kernel, stride, dilation=1):
    """Elements that SAME adds before and behind."""
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def padding_of(pads, sizes, kernels, strides, dilations=(1, 1)):
    """TensorFlow Lite's Padding for explicit pads (left, right, top, bottom); (w, h) each."""
    if pads == [0, 0, 0, 0]:
        return 1
    if 0 in sizes:
        raise NoCounterpart("explicit padding, and the size is not known")
    same = [p for s, k, t, d in zip(sizes, kernels, strides, dilations)
            for p in same_padding(s, k, t, d)]
    if list(pads) != same:
        raise NoCounterpart("explicit padding that is neither SAME nor VALID, which TensorFlow"
                            " Lite has")
    return 0


def scheme(value):
    return {1: 0, 2: 1}[value]


def check_layout(args, index):
    if args.count > index and args.number(index):
        raise NoCounterpart("layout NCHW, which TensorFlow Lite does not have")


def conv_2d(args, name="CONV_2D"):
    depthwise = name == "DEPTHWISE_CONV_2D"
    extra = int(depthwise or args.type == "GROUPED_CONV_2D")
    # Of ten operands, or eleven, the type of the last but two tells.
    implicit = args.count < 10 + extra or \
        (args.count == 10 + extra and args.kind(7 + extra) == "BOOL")
    at = 4 if implicit else 7
    stride = args.numbers(at, 2)
    multiplier = args.number(at + 2) if extra else 1
    act = args.number(at + 2 + extra)
    check_layout(args, at + 3 + extra)
    dilation = args.numbers(at + 4 + extra, 2) if args.count > at + 4 + extra else [1, 1]
    shape, kernel = args.shape(0), args.shape(1)
    args.check_filter(1)
    if len(shape) != 4 or len(kernel) != 4:
        raise NoCounterpart("shapes that are not known")
    if implicit:
        pad = scheme(args.number(3))
    else:
        pad = padding_of(args.numbers(3, 4), (shape[2], shape[1]), (kernel[2], kernel[1]),
                         stride, dilation)
    options = [("e", pad), ("i", stride[0]), ("i", stride[1])]
    if depthwise:
        options.append(("i", multiplier))
    options += [("e", act), ("i", dilation[0]), ("i", dilation[1])]
    args.add(name, [0, 1, 2], options)


def pool_2d(args):
    implicit = args.count < 10
    at = 2 if implicit else 5
    stride, window = args.numbers(at, 2), args.numbers(at + 2, 2)
    check_layout(args, at + 5)
    shape = args.shape(0)
    if len(shape) != 4:
        raise NoCounterpart("shapes that are not known")
    pad = scheme(args.number(1)) if implicit else \
        padding_of(args.numbers(1, 4), (shape[2], shape[1]), window, stride)
    args.add(args.type, [0], [("e", pad), ("i", stride[0]), ("i", stride[1]), ("i", window[0]),
                              ("i", window[1]), ("e", args.number(at + 4))])


def transpose_conv(args):
    implicit = args.count == 9
    at = 5 if implicit else 7
    check_layout(args, at + 3)
    stride = args.numbers(at, 2)
    kernel, out = args.shape(1), args.output_shape(0)
    args.check_filter(1)
    given = [args.tensor(1), args.tensor(0), args.tensor(2)]
    options = [("i", stride[0]), ("i", stride[1]), ("e", args.number(at + 2))]
    if implicit:
        args.add("TRANSPOSE_CONV", [args.tensor(3)] + given,
                 [("e", scheme(args.number(4)))] + options, True)
        return
    if len(out) != 4 or 0 in out:
        raise NoCounterpart("explicit padding, and the size is not known")
    pads = args.numbers(3, 4)
    try:
        pad = padding_of(pads, (out[2], out[1]), (kernel[2], kernel[1]), stride)
    except NoCounterpart:
        # What such padding cuts off is cut off behind.
        full = (out[0], out[1] + pads[2] + pads[3], out[2] + pads[0] + pads[1], out[3])
        whole = args.new_tensor(full, args.output_tensor(0))
        args.add_between("TRANSPOSE_CONV", [args.constant(np.array(full, np.int32))] + given,
                         whole, [("e", 1)] + options)
        begin = args.constant(np.array([0, pads[2], pads[0], 0], np.int32))
        args.add("SLICE", [whole, begin, args.constant(np.array(out, np.int32))], [], True)
        return
    args.add("TRANSPOSE_CONV", [args.constant(np.array(out, np.int32))] + given,
             [("e", pad)] + options, True)


def binary(args):
    if args.type == "DIV" and args.kind(1) == "TENSOR_INT32" and not np.all(args.value(1)):
        raise NoCounterpart("a division by zero")
    args.add(args.type, [0, 1], [("e", args.number(2))])


def plain(inputs, name=None, options=()):
    def add(args):
        args.add(name or args.type, inputs, options)
    return add


def one_scale(inputs):
    """An operator that does not rescale those inputs."""
    def add(args):
        args.add(args.type, [args.rescaled(k) if k in inputs else args.tensor(k)
                             for k in range(args.count)], [], True)
    return add


def reduction(args):
    args.add({"REDUCE_SUM": "SUM"}.get(args.type, args.type), [0, 1],
             [("b", int(args.number(2) != 0))])


def resize(args):
    shape = args.shape(0)
    check_layout(args, 3)
    size = []
    for index, dim in ((2, 1), (1, 2)):
        value = args.number(index)
        if args.kind(index) != "INT32":
            if len(shape) != 4 or not shape[dim]:
                raise NoCounterpart("a scale, and the size is not known")
            value = math.floor(float(np.float32(shape[dim]) * np.float32(value)))
        size.append(value)
    flags = [("b", int(args.number(k) != 0) if args.count > k else 0) for k in (4, 5)]
    if args.type == "RESIZE_BILINEAR":
        flags = [None, None] + flags
    args.add(args.type, [args.tensor(0), args.constant(np.array(size, np.int32))], flags, True)


def last_axis(args, index):
    rank = len(args.shape(0))
    if args.count > index and args.number(index) not in (-1, rank - 1):
        raise NoCounterpart("an axis that is not the last one, the only one of TensorFlow Lite's"
                            " operator")


def softmax(args):
    last_axis(args, 2)
    args.add("SOFTMAX", [0], [("f", args.number(1))])


def log_softmax(args):
    last_axis(args, 2)
    if args.number(1) != 1:
        raise NoCounterpart("a beta that is not 1")
    args.add("LOG_SOFTMAX", [0], [])


def l2_normalization(args):
    last_axis(args, 1)
    args.add("L2_NORMALIZATION", [0], [("e", 0)])


def local_response(args):
    last_axis(args, 5)
    args.add(args.type, [0], [("i", args.number(1))] + [("f", args.number(k)) for k in (2, 3, 4)])


def elu(args):
    if args.number(1) != 1:
        raise NoCounterpart("an alpha that is not 1")
    if args.kind(0) == "TENSOR_FLOAT16":
        raise NoCounterpart("float16, which TensorFlow Lite's ELU has not")
    args.add("ELU", [0], [])


def concatenation(args):
    args.add("CONCATENATION", list(range(args.count - 1)),
             [("i", args.number(args.count - 1)), ("e", 0)])


def blocks(args):
    check_layout(args, 2)
    args.add(args.type, [0], [("i", args.number(1))])


def batch_to_space(args):
    check_layout(args, 2)
    zeros = args.constant(np.zeros((2, 2), np.int32))
    args.add("BATCH_TO_SPACE_ND", [args.tensor(0), args.tensor(1), zeros], [], True)


def space_to_batch(args):
    check_layout(args, 3)
    args.add("SPACE_TO_BATCH_ND", [0, 1, 2], [])


def transpose(args):
    perm = args.tensor(1) if args.count > 1 else -1
    if perm < 0:
        perm = args.constant(np.arange(len(args.shape(0)))[::-1].astype(np.int32))
    args.add("TRANSPOSE", [args.tensor(0), perm], [], True)


def squeeze(args):
    dims = [] if args.omits(1) else args.array(1)
    args.add("SQUEEZE", [0], [("v", [int(d) for d in dims])])


def strided_slice(args):
    begin, end, shrink = args.numbers(4, 3)
    args.add("STRIDED_SLICE", [0, 1, 2, 3],
             [("i", begin), ("i", end), ("i", 0), ("i", 0), ("i", shrink), ("b", 0)])


def pad_v2(args):
    value = args.number(2)
    args.add("PADV2", [args.tensor(0), args.tensor(1), args.like(0, value)], [], True)


def fill(args):
    args.add("FILL", [0, 1], [])


def split(args):
    axis = args.constant(np.array(args.number(1), np.int32))
    args.add("SPLIT", [axis, args.tensor(0)], [("i", args.number(2))], True)


def cast(args):
    args.add("CAST", [0], [("e", args.tensor_type(0)), ("e", args.output_type(0))])


def lsh_projection(args):
    kind = {3: 1, 2: 2}.get(args.number(3))
    if kind is None:
        raise NoCounterpart("the deprecated kind of LSH_PROJECTION")
    args.add("LSH_PROJECTION", [0, 1, 2], [("e", kind)])


def svdf(args):
    args.state(4)
    args.add("SVDF", [0, 1, 2, 3, 4], [("i", args.number(5)), ("e", args.number(6))], outputs=[1])


def rnn(args):
    args.state(4)
    args.add("RNN", [0, 1, 2, 3, 4], [("e", args.number(5))], outputs=[1])


def sequence_rnn(args):
    args.state(4)
    args.add(args.type, [0, 1, 2, 3, 4], [("b", int(args.number(6) != 0)), ("e", args.number(5))],
             outputs=[0])


def lstm(args):
    args.state(18)
    args.state(19)
    norm = [k if k < args.count else -1 for k in range(23, 27)]
    inputs = list(range(20)) + (norm if args.count > 23 else [])
    args.add("LSTM", inputs, [("e", args.number(20)), ("f", args.number(21)),
                              ("f", args.number(22)), ("e", 0)], outputs=[3])


def sequence_lstm(args):
    args.state(18)
    args.state(19)
    norm = list(range(24, 28)) if args.count > 24 else []
    args.add(args.type, list(range(20)) + norm,
             [("e", args.number(20)), ("f", args.number(21)), ("f", args.number(22)),
              ("b", int(args.number(23) != 0)), ("b", 0)], outputs=[0])


def quantized_16bit_lstm(args):
    """The BASIC kernel: gates and what they multiply are parts of one matrix.

    The HAL's operation multiplies the recurrent weights and then the weights with the input and
    then the last output; TensorFlow Lite the columns from the first on.
    """
    order = (0, 2, 1, 3)
    kinds = {(args.operand(k).scale, args.operand(k).zero_point) for k in range(1, 9)}
    if len(kinds) > 1:
        raise NoCounterpart("gates with scales of their own, where TensorFlow Lite's have one")
    scale, zero = kinds.pop()
    weights = np.concatenate([np.concatenate([args.part(5 + g), args.part(1 + g)], 1)
                              for g in order])
    biases = np.concatenate([args.part(9 + g) for g in order]).astype(np.int32)
    inputs = [args.tensor(0), args.tensor(14),
              args.constant(weights.astype(np.uint8), scale, zero),
              args.constant(biases, args.operand(9).scale), args.tensor(13)]
    outputs = [args.graph.tensor(args.operation.outputs[k]) for k in (1, 0)]
    like = args.graph.tensors[inputs[0]]
    batches, cells = args.shape(13)
    outputs.append(args.new_tensor((batches, args.shape(0)[1] + cells), like))
    outputs.append(args.new_tensor((batches, 4 * cells), args.output_tensor(0)))
    args.add_all("LSTM", inputs, outputs,
                 [("e", 4), ("f", 0.0), ("f", 0.0), ("e", 1), ("b", 0)])


def quantized_lstm(args):
    args.state(18)
    args.state(19)
    clips = [("f", args.number(24)), ("f", args.number(25))]
    steps = [(args.number(k), 0) for k in range(26, 30)] + [(args.number(31), args.number(30))]
    args.add("LSTM", list(range(24)), [("e", 4)] + clips + [("e", 0)], outputs=[2])
    args.add_intermediates(steps)


def multinomial(_):
    raise NoCounterpart("MULTINOMIAL, which is left out: its numbers are random")


def directions(args, states, options, merge, norm=()):
    """An operator of both directions: the inputs up to the options are those of the HAL."""
    if any(k < args.count and args.tensor(k) >= 0 for k in norm):
        raise NoCounterpart("layer normalization of both directions")
    for state in states:
        args.state(state)
    merged = int(args.number(merge) != 0)
    args.add(args.type, list(range(options[0])), options[1](merged),
             outputs=[0] if merged else [0, 1])


def bidirectional_rnn(args):
    directions(args, (4, 8), (12, lambda merged: [
        ("b", int(args.number(13) != 0)), ("e", args.number(12)), ("b", merged)]), 14)


def bidirectional_lstm(args):
    directions(args, (35, 36, 37, 38), (48, lambda merged: [
        ("e", args.number(48)), ("f", args.number(49)), ("f", args.number(50)), ("b", merged),
        ("b", int(args.number(52) != 0))]), 51, range(53, 61))


def detection(args):
    background = int(args.number(13) == 0)
    if not background:
        # There class 0 has to be a class like all others, and the background must not win.
        scores = args.value(0)
        if args.number(7) or np.any(scores[..., :1] > scores[..., 1:]):
            raise NoCounterpart("labels that count the background, which has a large score")
    names = ("y_scale", "x_scale", "h_scale", "w_scale", "use_regular_nms", "max_detections",
             "max_classes_per_detection", "detections_per_class", "nms_score_threshold",
             "nms_iou_threshold")
    options = {name: args.number(k) for k, name in enumerate(names, 3)}
    options["use_regular_nms"] = bool(options["use_regular_nms"])
    options["num_classes"] = args.shape(0)[2] - background
    # The classes and their number are floats there.
    for k in (2, 3):
        args.output_tensor(k).set_type("f4")
    args.add("TFLite_Detection_PostProcess", [1, 0, 2], flexbuffer.write(options),
             outputs=[1, 2, 0, 3])


def branch(args):
    args.add("IF", [args.tensor(0)] + args.given(3),
             [("i", args.subgraph(1)), ("i", args.subgraph(2))], True)


def loop(args):
    if args.grows(1):
        raise NoCounterpart("a loop whose values change their shape, which HAL 1.3 does not allow")
    args.add_loop(args.given(2), [("i", args.subgraph(0)), ("i", args.subgraph(1, True))])


# An input of theirs that a job leaves out is one that the operator does without.
WITH_OPTIONAL_INPUTS = {
    "LSTM", "QUANTIZED_LSTM", "RNN", "SVDF", "LSH_PROJECTION", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN",
}

OPERATIONS = {
    "IF": branch, "WHILE": loop,
    **dict.fromkeys(("ADD", "MUL", "SUB", "DIV"), binary),
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), pool_2d),
    **dict.fromkeys(("FLOOR", "LOGISTIC", "RELU", "RELU6", "TANH", "ABS", "EXP", "LOG",
                     "LOGICAL_NOT", "NEG", "RSQRT", "SIN", "SQRT", "HARD_SWISH", "DEQUANTIZE",
                     "QUANTIZE", "RANK"), plain([0])),
    **dict.fromkeys(("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL",
                     "LOGICAL_AND", "LOGICAL_OR", "POW", "PRELU", "RESHAPE", "EMBEDDING_LOOKUP",
                     "TILE", "PAD", "EXPAND_DIMS", "TOPK_V2"), plain([0, 1])),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), one_scale([0, 1])),
    **dict.fromkeys(("MEAN", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD",
                     "REDUCE_SUM"), reduction),
    **dict.fromkeys(("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"), resize),
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), blocks),
    "RELU1": plain([0], "RELU_N1_TO_1"),
    "ARGMAX": plain([0, 1], "ARG_MAX", [("e", 2)]),
    "ARGMIN": plain([0, 1], "ARG_MIN", [("e", 2)]),
    "SELECT": one_scale([1, 2]),
    "SLICE": plain([0, 1, 2]),
    "HASHTABLE_LOOKUP": plain([0, 1, 2]),
    "GATHER": lambda args: args.add("GATHER", [0, 2], [("i", args.number(1)), ("i", 0)]),
    "FULLY_CONNECTED": lambda args: args.add("FULLY_CONNECTED", [0, 1, 2],
                                             [("e", args.number(3)), ("e", 0), ("b", 0)]),
    "CONV_2D": conv_2d,
    "GROUPED_CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": lambda args: conv_2d(args, "DEPTHWISE_CONV_2D"),
    "TRANSPOSE_CONV_2D": transpose_conv,
    "SOFTMAX": softmax, "LOG_SOFTMAX": log_softmax, "L2_NORMALIZATION": l2_normalization,
    "LOCAL_RESPONSE_NORMALIZATION": local_response, "ELU": elu, "CONCATENATION": concatenation,
    "BATCH_TO_SPACE_ND": batch_to_space, "SPACE_TO_BATCH_ND": space_to_batch,
    "TRANSPOSE": transpose, "SQUEEZE": squeeze, "STRIDED_SLICE": strided_slice,
    "PAD_V2": pad_v2, "FILL": fill, "SPLIT": split, "CAST": cast,
    "LSH_PROJECTION": lsh_projection, "SVDF": svdf, "RNN": rnn, "LSTM": lstm,
    "DETECTION_POSTPROCESSING": detection, "QUANTIZED_LSTM": quantized_lstm,
    "RANDOM_MULTINOMIAL": multinomial, "QUANTIZED_16BIT_LSTM": quantized_16bit_lstm,
    "BIDIRECTIONAL_SEQUENCE_RNN": bidirectional_rnn,
    "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": sequence_rnn, "UNIDIRECTIONAL_SEQUENCE_LSTM": sequence_lstm,
}
