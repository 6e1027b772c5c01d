#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check the digits example's files against its reference implementation.

Usage: test_reference.py [--retrain]

Prints TAP.  --retrain also trains once more (about 20 seconds; it fails
without scikit-learn) and compares every file byte for byte.  The reference itself is
checked on a real model when the folder with reference models is there:
$NNPU_SHARED, or ../shared beside the repository.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("NNPU_SHARED",
                                     HERE.parents[1].parent / "shared"))
sys.dont_write_bytecode = True

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is not installed")
    sys.exit(0)

# pylint: disable=wrong-import-position
import reference  # noqa: E402
import tflite_reader  # noqa: E402
from tflite_writer import ModelWriter  # noqa: E402

COUNT = 360
GENERATED = ("digits_float.tflite", "digits_int8.tflite", "expected_float.bin",
             "expected_int8.bin", "labels.txt", "test_images_float.bin",
             "test_images_int8.bin", "test_labels.bin")
OPERATORS = ["CONV_2D", "MAX_POOL_2D", "DEPTHWISE_CONV_2D", "CONV_2D",
             "AVERAGE_POOL_2D", "RESHAPE", "FULLY_CONNECTED", "SOFTMAX"]


class Skip(Exception):
    """The test cannot run here; the reason is its text."""


def check(condition, text):
    """assert, also under python -O."""
    if not condition:
        raise AssertionError(text)


def load(name, dtype, *shape):
    data = (HERE / name).read_bytes()
    expected = COUNT * int(np.prod(shape)) * np.dtype(dtype).itemsize
    check(len(data) == expected, "%s has %d bytes, expected %d" % (
        name, len(data), expected))
    return np.frombuffer(data, dtype).reshape((COUNT,) + shape)


def model(kind):
    return tflite_reader.read(HERE / ("digits_%s.tflite" % kind))


def test_models_parse():
    """both models have the expected operators and tensors"""
    for kind, dtype in (("float", np.float32), ("int8", np.int8)):
        m = model(kind)
        check([op.name for op in m.operators] == OPERATORS,
              "%s: operators are %s" % (kind, [o.name for o in m.operators]))
        source, = (m.tensors[i] for i in m.inputs)
        result, = (m.tensors[i] for i in m.outputs)
        check(source.shape == (1, 8, 8, 1) and result.shape == (1, 10),
              "%s: shapes %s and %s" % (kind, source.shape, result.shape))
        check(source.dtype == dtype and result.dtype == dtype,
              "%s: types %s and %s" % (kind, source.dtype, result.dtype))
        check(len({t.name for t in m.tensors}) == len(m.tensors),
              "%s: tensor names are not unique" % kind)


def test_quantization():
    """the int8 model follows the quantisation rules"""
    m = model("int8")
    for op in m.operators:
        source = m.tensors[op.inputs[0]]
        result = m.tensors[op.outputs[0]]
        if op.name in ("MAX_POOL_2D", "AVERAGE_POOL_2D", "RESHAPE"):
            check(source.scale == result.scale and
                  source.zero_point == result.zero_point,
                  "%s changes the quantisation" % op.name)
        elif op.name == "SOFTMAX":
            check(result.scale == np.float32(1 / 256) and
                  result.zero_point == -128, "SOFTMAX output quantisation")
        else:
            weights, bias = (m.tensors[i] for i in op.inputs[1:])
            axis = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3}.get(op.name)
            scales = 1 if axis is None else weights.shape[axis]
            check(weights.scale.size == scales and
                  weights.axis == (axis or 0), "%s: weight scales" % op.name)
            check(not weights.zero_point.any() and weights.data.min() >= -127,
                  "%s: weights are not symmetric" % op.name)
            check(bias.dtype == np.int32 and not bias.zero_point.any() and
                  np.array_equal(bias.scale, source.scale * weights.scale),
                  "%s: bias scale" % op.name)


def test_images_agree():
    """float and int8 test images are the same images"""
    floats = load("test_images_float.bin", "<f4", 64)
    int8 = load("test_images_int8.bin", "i1", 64)
    tensor = model("int8").tensors[model("int8").inputs[0]]
    pixels = floats.astype(np.float64) * 16
    check(np.array_equal(pixels, np.rint(pixels)) and pixels.min() == 0 and
          pixels.max() == 16, "pixels are not sixteenths from 0 to 1")
    quantized = np.rint(floats / np.float64(tensor.scale[0])) + \
        tensor.zero_point[0]
    check(np.array_equal(quantized, int8), "int8 images differ")
    labels = load("test_labels.bin", "u1")
    names = (HERE / "labels.txt").read_text(encoding="ascii").split()
    check(len(names) == 10 and set(labels) == set(range(10)), "labels")


def test_float_outputs():
    """the float reference reproduces expected_float.bin within 1e-5"""
    images = load("test_images_float.bin", "<f4", 8, 8, 1)
    expected = load("expected_float.bin", "<f4", 10)
    error = np.abs(reference.run(model("float"), images).astype(np.float64) -
                   expected).max()
    check(error <= 1e-5, "largest difference %g" % error)
    check(np.abs(expected.sum(axis=1) - 1).max() < 1e-5,
          "probabilities do not add up to 1")


def test_int8_outputs():
    """the int8 reference reproduces expected_int8.bin byte for byte"""
    images = load("test_images_int8.bin", "i1", 8, 8, 1)
    expected = load("expected_int8.bin", "i1", 10)
    output = reference.run(model("int8"), images)
    wrong = np.flatnonzero((output != expected).any(axis=1))
    check(not wrong.size, "samples %s differ" % wrong[:10])


def test_accuracy():
    """accuracy: float at least 97 %, int8 within one point"""
    labels = load("test_labels.bin", "u1")
    correct = [(load(name, dtype, 10).argmax(axis=1) == labels).mean()
               for name, dtype in (("expected_float.bin", "<f4"),
                                   ("expected_int8.bin", "i1"))]
    print("# float %.2f %%, int8 %.2f %%" % tuple(100 * c for c in correct))
    check(correct[0] >= 0.97, "float accuracy %g" % correct[0])
    check(correct[1] >= correct[0] - 0.01, "int8 accuracy %g" % correct[1])


def test_softmax():
    """fixed-point softmax is the rounded softmax on every test sample"""
    m = model("int8")
    seen = {}
    images = load("test_images_int8.bin", "i1", 8, 8, 1)
    reference.run(m, images, lambda op, out: seen.update({op.name: out}))
    logits = seen["FULLY_CONNECTED"].astype(np.float64) * \
        m.tensors[m.operators[-1].inputs[0]].scale[0]
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    rounded = np.rint(256 * e / e.sum(axis=1, keepdims=True)) - 128
    check(np.array_equal(np.clip(rounded, -128, 127), seen["SOFTMAX"]),
          "softmax differs")


def test_real_model():
    """the reference gives the known bytes of a real int8 model"""
    folder = SHARED / "models"
    if not (folder / "kws_ref_model.tflite").exists():
        raise Skip("no reference models in %s" % folder)
    count = 40
    m = tflite_reader.read(folder / "kws_ref_model.tflite")
    inputs = (folder / "kws01/inputs_1000x490_int8.bin").read_bytes()
    expected = (folder / "kws01/expected_1000x12_int8.bin").read_bytes()
    output = reference.run_file(m, inputs[:count * 490])
    check(output.tobytes() == expected[:count * 12], "outputs differ")


def test_writer_layout():
    """constants lie 16-byte aligned and read back as written"""
    writer = ModelWriter("layout")
    values = np.arange(-5, 6, dtype=np.int8)
    source = writer.tensor("source", (1, 11), np.int8, scale=0.5,
                           zero_point=-3)
    constant = writer.tensor("constant", (11,), np.int8, values,
                             scale=np.arange(1, 12) / 8.0, axis=0)
    writer.operator("SOFTMAX", [source], [constant], beta=0.75)
    data = writer.finish([source], [constant])
    check(data.find(values.tobytes()) % 16 == 0, "constant is not aligned")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layout.tflite"
        path.write_bytes(data)
        m = tflite_reader.read(path)
    read_back = m.tensors[constant]
    check(np.array_equal(read_back.data, values), "constant differs")
    check(np.array_equal(read_back.scale, np.arange(1, 12) / 8.0), "scales")
    check(m.tensors[source].zero_point[0] == -3, "zero point")
    check(m.operators[0].options.scalar(0, "f") == 0.75, "option")
    check(m.operators[0].version == 2, "operator version")


def test_truncated_files():
    """a truncated model is refused"""
    data = (HERE / "digits_int8.tflite").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "short.tflite"
        for size in list(range(0, len(data), 97)) + [len(data) - 64]:
            path.write_bytes(data[:size])
            try:
                tflite_reader.read(path)
            except tflite_reader.ModelError:
                continue
            raise AssertionError("%d of %d bytes were accepted" % (
                size, len(data)))


def test_retrain():
    """training again gives the same files"""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, "-B", str(HERE / "train.py"), "--output", folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        check(run.returncode == 0, run.stderr.decode())
        different = [name for name in GENERATED if
                     (HERE / name).read_bytes() !=
                     (pathlib.Path(folder) / name).read_bytes()]
    check(not different, "%s differ" % ", ".join(different))


TESTS = (test_models_parse, test_quantization, test_images_agree,
         test_float_outputs, test_int8_outputs, test_accuracy, test_softmax,
         test_real_model, test_writer_layout, test_truncated_files)


def main():
    failed = 0
    tests = TESTS
    if "--retrain" in sys.argv[1:]:
        tests += (test_retrain,)
    print("TAP version 13")
    print("1..%d" % len(tests))
    for number, test in enumerate(tests, 1):
        name = test.__doc__
        try:
            test()
        except Skip as reason:
            print("ok %d - %s # SKIP %s" % (number, name, reason))
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            for line in (str(error) or repr(error)).splitlines():
                print("# " + line)
            print("not ok %d - %s" % (number, name))
        else:
            print("ok %d - %s" % (number, name))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
