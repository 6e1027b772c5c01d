#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Train the digits network and write the models and the test set.

Usage: train.py [--output DIR] [--new-writers]

  --output DIR    where the files go; default: beside this script
  --new-writers   only report the accuracy on writers that are not in the
                  training set; write nothing

Needs numpy, and scikit-learn for the data set it carries.  Takes about 20
seconds on one core and gives the same files every time (see README.md).
"""
import argparse
import os
import pathlib
import sys
import time

# One thread: threads could only change the order of sums, and the network is
# too small to gain from them.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# pylint: disable=wrong-import-position
import numpy as np  # noqa: E402

import reference  # noqa: E402
from network import Network  # noqa: E402
from tflite_reader import read  # noqa: E402
from tflite_writer import ModelWriter  # noqa: E402

SEED = 1
EPOCHS = 80
BATCH = 32
RATE = 1e-2
WARM_UP = 100  # updates
WEIGHT_DECAY = 1e-2
SHIFT_PROBABILITY = 1.0 / 3.0  # of a shift, per axis

PIXEL_MAX = 16

# 15 steps per pixel value: every pixel is exact in int8.
INPUT_SCALE = np.float32(1.0 / 240.0)
INPUT_ZERO_POINT = -128

MINIMUM_FLOAT_ACCURACY = 0.97
MAXIMUM_INT8_LOSS = 0.01


# --- Data -------------------------------------------------------------------

def load_data():
    """Return pixels [1797,8,8,1] (0 to 16) and labels [1797]."""
    from sklearn.datasets import load_digits
    digits = load_digits()
    pixels = digits.images.astype(np.int64)[..., None]
    if pixels.shape != (1797, 8, 8, 1) or pixels.max() != PIXEL_MAX:
        raise ValueError("this is not the data set the example is made for")
    return pixels, digits.target.astype(np.int64)


def split(count):
    """Every fifth sample is held out; returns (training, test) indices."""
    index = np.arange(count)
    return index[index % 5 != 0], index[index % 5 == 0]


def split_writers(count):
    """The file is ordered by writer: hold out the last fifth."""
    index = np.arange(count)
    return index[:count - count // 5], index[count - count // 5:]


def random_shifts(rng, images):
    """Move each image by at most one pixel along each axis."""
    count, size = images.shape[:2]
    move = rng.integers(0, 2, (2, count)) * 2 - 1
    move = move * (rng.random((2, count)) < SHIFT_PROBABILITY)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    place = 1 + np.arange(size)
    rows = place[None, :, None] + move[0][:, None, None]
    columns = place[None, None, :] + move[1][:, None, None]
    return padded[np.arange(count)[:, None, None], rows, columns]


# --- Training ---------------------------------------------------------------

def train(images, labels):
    rng = np.random.Generator(np.random.PCG64(SEED))
    network = Network(rng)
    targets = np.eye(10)[labels]
    updates = len(images) // BATCH
    step = 0
    start = time.monotonic()
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        for first in range(0, updates * BATCH, BATCH):
            chosen = order[first:first + BATCH]
            network.backward(random_shifts(rng, images[chosen]),
                             targets[chosen])
            step += 1
            rate = RATE * min(1.0, step / WARM_UP) * (
                1.0 - step / (EPOCHS * updates + 1))
            for parameter in network.parameters():
                parameter.step(rate, step, WEIGHT_DECAY)
        if epoch % 10 == 9:
            print("epoch %3d: %.2f %% of the training set, %.1f s" % (
                epoch + 1, 100 * accuracy(network.forward(images), labels),
                time.monotonic() - start))
    return network


def accuracy(scores, labels):
    return float((scores.argmax(axis=1) == labels).mean())


# --- Export -----------------------------------------------------------------

def add_operator(writer, layer, inputs, outputs, out_shape):
    """Append the operator of one layer with its options."""
    options = {}
    if layer.operator in ("CONV_2D", "DEPTHWISE_CONV_2D"):
        options.update(padding="SAME", stride_w=1, stride_h=1,
                       activation="RELU")
    if layer.operator == "DEPTHWISE_CONV_2D":
        options.update(depth_multiplier=1)
    if layer.operator in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
        options.update(padding="VALID", stride_w=2, stride_h=2,
                       filter_width=2, filter_height=2)
    if layer.operator == "RESHAPE":
        shape = np.array([-1] + list(out_shape[1:]), np.int32)
        inputs = inputs + [writer.tensor(layer.name + "/shape", shape.shape,
                                         np.int32, shape)]
        options.update(new_shape=shape)
    writer.operator(layer.operator, inputs, outputs, **options)


def export_float(network):
    """The float32 model as the bytes of a .tflite file."""
    writer = ModelWriter("8x8 digits, float32")
    x = np.zeros((1, 8, 8, 1))
    first = last = writer.tensor("image", x.shape, np.float32)
    for layer in network.layers:
        x = layer.forward(x)
        inputs = [last]
        if hasattr(layer, "weights"):
            for name, parameter in (("weights", layer.weights),
                                    ("bias", layer.bias)):
                value = parameter.value.astype(np.float32)
                inputs.append(writer.tensor("%s/%s" % (layer.name, name),
                                            value.shape, np.float32, value))
        last = writer.tensor(layer.name, x.shape, np.float32)
        add_operator(writer, layer, inputs, [last], x.shape)
    result = writer.tensor("probabilities", x.shape, np.float32)
    writer.operator("SOFTMAX", [last], [result], beta=1.0)
    return writer.finish([first], [result])


def quantize_range(low, high):
    """Scale and zero point of int8 values that cover low..high and 0."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = np.float32((high - low) / 255.0)
    return scale, int(np.rint(-128 - low / np.float64(scale)))


def quantize_weights(value, channel_axis):
    """Symmetric int8 weights: per channel, or one scale (axis None)."""
    axes = tuple(a for a in range(value.ndim) if a != channel_axis)
    peak = np.abs(value).max(axis=axes, keepdims=True)
    scale = (np.maximum(peak, 1e-6) / 127.0).astype(np.float32)
    quantized = np.clip(np.rint(value / scale.astype(np.float64)), -127, 127)
    return quantized.astype(np.int8), scale.reshape(-1)


def export_int8(network, images):
    """The int8 model; activation ranges are those of `images`."""
    writer = ModelWriter("8x8 digits, int8")
    x = images
    scale, zero = INPUT_SCALE, INPUT_ZERO_POINT
    first = last = writer.tensor("image", (1,) + x.shape[1:], np.int8,
                                 scale=scale, zero_point=zero)
    for layer in network.layers:
        x = layer.forward(x)
        inputs = [last]
        # Pooling and reshaping keep their input's quantisation.
        if hasattr(layer, "weights"):
            axis = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3}.get(layer.operator)
            weights, scales = quantize_weights(layer.weights.value, axis)
            bias_scales = scale * scales
            bias = np.rint(layer.bias.value / bias_scales.astype(np.float64))
            inputs.append(writer.tensor(
                layer.name + "/weights", weights.shape, np.int8, weights,
                scale=scales, axis=axis or 0))
            inputs.append(writer.tensor(
                layer.name + "/bias", bias.shape, np.int32,
                bias.astype(np.int32), scale=bias_scales))
            scale, zero = quantize_range(float(x.min()), float(x.max()))
        shape = (1,) + x.shape[1:]
        last = writer.tensor(layer.name, shape, np.int8, scale=scale,
                             zero_point=zero)
        add_operator(writer, layer, inputs, [last], shape)
    # HAL and TensorFlow Lite fix the quantisation of softmax's output.
    result = writer.tensor("probabilities", (1, 10), np.int8,
                           scale=1.0 / 256.0, zero_point=-128)
    writer.operator("SOFTMAX", [last], [result], beta=1.0)
    return writer.finish([first], [result])


def write_files(folder, network, pixels, labels, training, test):
    """Write everything the demo needs; returns both test accuracies."""
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, data):
        (folder / name).write_bytes(data)

    float_images = (pixels / PIXEL_MAX).astype(np.float32)
    int8_images = (pixels * 15 + INPUT_ZERO_POINT).astype(np.int8)
    write("digits_float.tflite", export_float(network))
    write("digits_int8.tflite",
          export_int8(network, float_images[training].astype(np.float64)))
    write("test_images_float.bin", float_images[test].astype("<f4").tobytes())
    write("test_images_int8.bin", int8_images[test].tobytes())
    write("test_labels.bin", labels[test].astype(np.uint8).tobytes())
    write("labels.txt", "".join("%d\n" % d for d in range(10)).encode())

    # From here on only the written files count.
    result = []
    for kind, images in (("float", float_images), ("int8", int8_images)):
        model = read(folder / ("digits_%s.tflite" % kind))
        output = reference.run(model, images[test])
        write("expected_%s.bin" % kind, output.tobytes())
        result.append(accuracy(output, labels[test]))
    return result


def main():
    parser = argparse.ArgumentParser(
        description="Train the digits network and write its files.")
    parser.add_argument("--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent)
    parser.add_argument("--new-writers", action="store_true")
    arguments = parser.parse_args()

    pixels, labels = load_data()
    divide = split_writers if arguments.new_writers else split
    training, test = divide(len(pixels))
    images = pixels / float(PIXEL_MAX)
    print("%d samples to train on, %d held out" % (len(training), len(test)))
    network = train(images[training], labels[training])
    if arguments.new_writers:
        print("accuracy on new writers: %.2f %%" % (
            100 * accuracy(network.forward(images[test]), labels[test])))
        return 0

    in_float, in_int8 = write_files(arguments.output, network, pixels, labels,
                                    training, test)
    print("held-out accuracy: float %.2f %%, int8 %.2f %%" % (
        100 * in_float, 100 * in_int8))
    if in_float < MINIMUM_FLOAT_ACCURACY:
        print("float is below %g %%" % (100 * MINIMUM_FLOAT_ACCURACY),
              file=sys.stderr)
        return 1
    if in_int8 < in_float - MAXIMUM_INT8_LOSS:
        print("int8 is more than %g points below float" % (
            100 * MAXIMUM_INT8_LOSS), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
