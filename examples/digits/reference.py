# SPDX-License-Identifier: MIT
"""Run a .tflite model in numpy, in the arithmetic of TensorFlow Lite.

int8 models give the bytes of TensorFlow Lite's reference kernels: 32-bit
accumulators, requantisation with two roundings, fixed-point softmax.  float32
models are computed in double and rounded to float after every operator, which
is within 1e-6 of any sensible float implementation on models of this size.

Usage: reference.py MODEL.tflite INPUT OUTPUT
       N samples in INPUT (raw little-endian tensors) give N in OUTPUT.
"""
import sys

import numpy as np

from tflite_reader import ModelError, read

INT32_MIN = -(1 << 31)
INT32_MAX = (1 << 31) - 1

# Values of the schema's enums.
SAME = 0
RELU, RELU_N1_TO_1, RELU6 = 1, 2, 3


# --- Fixed-point arithmetic -------------------------------------------------

def doubling_high_mul(a, b):
    """High 32 bits of 2*a*b, rounded to nearest, saturating."""
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    # Division by 2^31 that truncates toward zero, as in C.
    result = np.where(nudged >= 0, nudged >> 31, -(-nudged >> 31))
    return np.minimum(result, INT32_MAX)  # only INT32_MIN squared exceeds it


def rounding_shift_right(x, exponent):
    """x / 2^exponent, rounded half away from zero."""
    x = np.asarray(x, np.int64)
    mask = (np.int64(1) << np.asarray(exponent, np.int64)) - 1
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + ((x & mask) > threshold)


def quantize_multiplier(real):
    """Split a real multiplier into a 31-bit fraction and a power of two."""
    fraction, exponent = np.frexp(np.atleast_1d(np.float64(real)))
    fixed = np.floor(fraction * (1 << 31) + 0.5).astype(np.int64)
    carry = fixed == 1 << 31
    fixed = np.where(carry, fixed >> 1, fixed)
    exponent = exponent.astype(np.int64) + carry
    tiny = exponent < -31
    return np.where(tiny, 0, fixed), np.where(tiny, 0, exponent)


def requantize(acc, real, zero_point, low, high):
    """Scale accumulators by `real` (one, or one per channel) to int8."""
    fixed, exponent = quantize_multiplier(real)
    left = np.maximum(exponent, 0)
    right = np.maximum(-exponent, 0)
    scaled = rounding_shift_right(doubling_high_mul(acc << left, fixed), right)
    return np.clip(scaled + zero_point, low, high).astype(np.int8)


def saturating_shift_left(x, exponent):
    return np.clip(x << exponent, INT32_MIN, INT32_MAX)


def exp_of_negative(a):
    """exp() of a <= 0: Q5.26 in, Q0.31 out.

    The argument is split into quarters and a rest in [-1/4, 0), whose exp()
    is a polynomial around -1/8; each power-of-two number of quarters then
    multiplies the result by a constant.
    """
    quarter = 1 << 24
    rest = (a & (quarter - 1)) - quarter
    x = saturating_shift_left(rest, 5) + (1 << 28)
    x2 = doubling_high_mul(x, x)
    x3 = doubling_high_mul(x2, x)
    x4 = doubling_high_mul(x2, x2)
    third = 715827883
    poly = rounding_shift_right(
        doubling_high_mul(rounding_shift_right(x4, 2) + x3, third) + x2, 1)
    exp_of_minus_eighth = 1895147668
    result = np.minimum(exp_of_minus_eighth + doubling_high_mul(
        exp_of_minus_eighth, x + poly), INT32_MAX)

    quarters = rest - a
    for bit, factor in enumerate((1672461947, 1302514674, 790015084, 290630308,
                                  39332535, 720401, 242)):
        result = np.where(quarters & (1 << (24 + bit)),
                          doubling_high_mul(result, factor), result)
    return np.where(a == 0, INT32_MAX, result)


def reciprocal_of_one_plus(a):
    """1 / (1 + a) for a in [0, 1): Q0.31 in and out, Newton-Raphson."""
    total = a + INT32_MAX
    half_denominator = (total + 1) >> 1
    x = 1515870810 + doubling_high_mul(half_denominator, -1010580540)
    for _ in range(3):
        error = (1 << 29) - doubling_high_mul(half_denominator, x)
        x = x + saturating_shift_left(doubling_high_mul(x, error), 2)
    # x is Q2.29 and twice the result.
    return saturating_shift_left(x, 1)


def softmax_int8(x, scale, beta):
    """Softmax over the last axis; output scale 1/256, zero point -128."""
    x = x.astype(np.int64)
    diff = x - x.max(axis=-1, keepdims=True)
    real = min(float(beta) * float(scale) * (1 << 26), INT32_MAX)
    fixed, exponent = (int(v[0]) for v in quantize_multiplier(real))
    if exponent < 0:
        raise ModelError("SOFTMAX: input scale %g is too small" % scale)
    # Differences below this would leave Q5.26 and count as exp() = 0.
    diff_min = -((31 << 26) >> exponent)
    counted = diff >= diff_min
    scaled = doubling_high_mul(np.where(counted, diff, 0) << exponent, fixed)
    exps = exp_of_negative(scaled)

    total = np.where(counted, rounding_shift_right(exps, 12), 0).sum(
        axis=-1, keepdims=True)  # Q12.19
    headroom = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    shifted = (total << headroom) - (1 << 31)
    inverse = reciprocal_of_one_plus(shifted)
    # exp / total has 12 - headroom bits over the unit; 8 bits remain.
    out = rounding_shift_right(doubling_high_mul(inverse, exps),
                               12 - headroom + 31 - 8)
    return np.where(counted, np.clip(out - 128, -128, 127),
                    -128).astype(np.int8)


# --- Windows ----------------------------------------------------------------

def window_layout(size, window, stride, dilation, padding):
    """Output size and padding before and after, of one dimension."""
    extent = (window - 1) * dilation + 1
    if padding == SAME:
        out = -(-size // stride)
        total = max((out - 1) * stride + extent - size, 0)
        return out, total // 2, total - total // 2
    return (size - extent) // stride + 1, 0, 0


def window_taps(x, window, stride, dilation, padding, fill):
    """Yield (row, column, slice of x) for every position in the window.

    A slice has one element per output position: x at this window position.
    Elements in the padding are `fill`.
    """
    out_h, top, bottom = window_layout(x.shape[1], window[0], stride[0],
                                       dilation[0], padding)
    out_w, left, right = window_layout(x.shape[2], window[1], stride[1],
                                       dilation[1], padding)
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)),
                    constant_values=fill)
    for row in range(window[0]):
        for column in range(window[1]):
            y, z = row * dilation[0], column * dilation[1]
            yield row, column, padded[
                :, y:y + (out_h - 1) * stride[0] + 1:stride[0],
                z:z + (out_w - 1) * stride[1] + 1:stride[1]]


# --- Operators --------------------------------------------------------------

def activation_range(code, tensor):
    """Smallest and largest output, as values of the tensor's type."""
    low, high = {RELU: (0, np.inf), RELU_N1_TO_1: (-1, 1),
                 RELU6: (0, 6)}.get(code, (-np.inf, np.inf))
    if tensor.dtype != np.int8:
        return low, high
    scale, zero = float(tensor.scale[0]), int(tensor.zero_point[0])

    def quantize(value, otherwise):
        if np.isinf(value):
            return otherwise
        return int(np.clip(np.floor(value / scale + 0.5) + zero, -128, 127))
    return quantize(low, -128), quantize(high, 127)


def finish_linear(acc, bias, activation, tensors, per_channel):
    """Bias, requantisation (int8) and activation of a linear operator.

    `acc` holds exact sums: integers in double for int8 models.
    """
    source, weights, output = tensors
    low, high = activation_range(activation, output)
    if output.dtype == np.int8:
        total = acc.astype(np.int64)
        if bias is not None:
            total = total + bias
        if per_channel:
            product = np.float64(source.scale[0]) * weights.scale.astype(
                np.float64)
        else:
            product = np.float64(source.scale[0] * weights.scale[0])
        return requantize(total, product / np.float64(output.scale[0]),
                          output.zero_point[0], low, high)
    if bias is not None:
        acc = acc + bias
    return np.clip(acc, low, high).astype(np.float32)


def centred(x, tensor):
    """The values in double, minus the zero point for int8."""
    x = x.astype(np.float64)
    return x - tensor.zero_point[0] if tensor.dtype == np.int8 else x


def conv_2d(op, x, constants, tensors):
    weights, bias = constants
    options = op.options
    w = weights.astype(np.float64)
    # A sum of int8 products is far below 2^53, so a double holds it exactly.
    acc = 0.0
    for row, column, tap in window_taps(
            centred(x, tensors[0]), w.shape[1:3],
            (options.scalar(2, "i"), options.scalar(1, "i")),
            (options.scalar(5, "i", 1), options.scalar(4, "i", 1)),
            options.scalar(0, "b"), 0):
        acc = acc + tap @ w[:, row, column, :].T
    return finish_linear(acc, bias, options.scalar(3, "b"), tensors, True)


def depthwise_conv_2d(op, x, constants, tensors):
    weights, bias = constants
    options = op.options
    w = weights.astype(np.float64)
    multiplier = options.scalar(3, "i")
    acc = 0.0
    for row, column, tap in window_taps(
            centred(x, tensors[0]), w.shape[1:3],
            (options.scalar(2, "i"), options.scalar(1, "i")),
            (options.scalar(6, "i", 1), options.scalar(5, "i", 1)),
            options.scalar(0, "b"), 0):
        acc = acc + np.repeat(tap, multiplier, axis=-1) * w[0, row, column]
    return finish_linear(acc, bias, options.scalar(4, "b"), tensors, True)


def fully_connected(op, x, constants, tensors):
    weights, bias = constants
    flat = centred(x, tensors[0]).reshape(-1, weights.shape[1])
    acc = flat @ weights.astype(np.float64).T
    return finish_linear(acc, bias, op.options.scalar(0, "b"), tensors, False)


def pool_taps(op, x, fill):
    options = op.options
    return [tap for _, _, tap in window_taps(
        x, (options.scalar(4, "i"), options.scalar(3, "i")),
        (options.scalar(2, "i"), options.scalar(1, "i")), (1, 1),
        options.scalar(0, "b"), fill)]


def max_pool_2d(op, x, _constants, tensors):
    fill = -128 if x.dtype == np.int8 else -np.inf
    low, high = activation_range(op.options.scalar(5, "b"), tensors[1])
    return np.clip(np.maximum.reduce(pool_taps(op, x, fill)), low,
                   high).astype(x.dtype)


def average_pool_2d(op, x, _constants, tensors):
    low, high = activation_range(op.options.scalar(5, "b"), tensors[1])
    total = sum(pool_taps(op, x.astype(np.float64), 0))
    count = sum(pool_taps(op, np.ones_like(x, np.float64), 0))
    mean = total / count
    if x.dtype == np.int8:
        total, count = total.astype(np.int64), count.astype(np.int64)
        # Half away from zero, on the values with their zero point.
        mean = np.sign(total) * ((np.abs(total) + count // 2) // count)
    return np.clip(mean, low, high).astype(x.dtype)


def reshape(_op, x, _constants, tensors):
    return x.reshape((x.shape[0],) + tensors[-1].shape[1:])


def softmax(op, x, _constants, tensors):
    beta = op.options.scalar(0, "f", 0.0)
    if x.dtype == np.int8:
        return softmax_int8(x, tensors[0].scale[0], beta)
    z = x.astype(np.float64) * beta
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    return (z / z.sum(axis=-1, keepdims=True)).astype(np.float32)


KERNELS = {
    "AVERAGE_POOL_2D": average_pool_2d, "CONV_2D": conv_2d,
    "DEPTHWISE_CONV_2D": depthwise_conv_2d,
    "FULLY_CONNECTED": fully_connected, "MAX_POOL_2D": max_pool_2d,
    "RESHAPE": reshape, "SOFTMAX": softmax,
}


# --- Models -----------------------------------------------------------------

def run(model, samples, trace=None):
    """Run N samples (first dimension) and return N outputs.

    `trace`, when given, is called with (operator, output) after every one.
    """
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        raise ModelError("one input and one output tensor are expected")
    if samples.dtype != model.tensors[model.inputs[0]].dtype:
        raise ModelError("the model takes %s, not %s" % (
            model.tensors[model.inputs[0]].dtype, samples.dtype))
    values = {model.inputs[0]: samples}
    for op in model.operators:
        constants = [None if i < 0 else model.tensors[i].data
                     for i in op.inputs[1:]]
        constants += [None] * (2 - len(constants))
        tensors = [model.tensors[i] for i in op.inputs[:1]]
        if op.name in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            tensors.append(model.tensors[op.inputs[1]])
        tensors.append(model.tensors[op.outputs[0]])
        result = KERNELS[op.name](op, values[op.inputs[0]], constants, tensors)
        values[op.outputs[0]] = result
        if trace:
            trace(op, result)
    return values[model.outputs[0]]


def run_file(model, data):
    """Run the raw samples in the bytes `data`; returns an array."""
    tensor = model.tensors[model.inputs[0]]
    sample_size = int(np.prod(tensor.shape)) * tensor.dtype.itemsize
    if not data or len(data) % sample_size:
        raise ModelError("input of %d bytes is not a number of samples of %d" %
                         (len(data), sample_size))
    samples = np.frombuffer(data, tensor.dtype)
    return run(model, samples.reshape((-1,) + tensor.shape[1:]))


def main(argv):
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(argv[2], "rb") as file:
            data = file.read()
        result = run_file(read(argv[1]), data)
        with open(argv[3], "wb") as file:
            file.write(result.tobytes())
    except (OSError, ModelError) as error:
        print("reference.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
