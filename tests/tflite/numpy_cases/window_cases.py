# SPDX-License-Identifier: MIT
"""Convolutions, pooling and resizing of integers, within one step of real arithmetic."""

import numpy as np

from .case_maker import Given, const, quantize

_NONE = ("e", 0)
# Scale and zero point of the inputs of each type, and of the outputs.
_TYPES = {"i2": ((0.0003, 0), (0.002, 0)), "i1": ((0.05, 7), (0.6, -3)),
          "u1": ((0.05, 120), (0.6, 131))}
# Size, kernel, stride, dilation; width and height differ everywhere.
_WINDOWS = (((4, 5), (1, 1), (1, 1), (1, 1)), ((5, 6), (3, 2), (1, 1), (1, 1)),
            ((6, 5), (2, 3), (2, 1), (1, 1)), ((7, 6), (2, 2), (1, 1), (2, 3)))


def _edges(size, kernel, stride, dilation, pad):
    """Sizes of the output, and what SAME (0) puts in front and behind."""
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    if pad:
        return [(n - k) // s + 1 for n, k, s in zip(size, span, stride)], [(0, 0), (0, 0)]
    out = [-(-n // s) for n, s in zip(size, stride)]
    total = [max(0, (o - 1) * s + k - n) for o, s, k, n in zip(out, stride, span, size)]
    return out, [(t // 2, t - t // 2) for t in total]


def _convolve(x, w, kernel, stride, dilation, pad, groups):
    """Of real numbers; the filter is [C', ky, kx, C / groups]."""
    out, edges = _edges(x.shape[1:3], kernel, stride, dilation, pad)
    wide = np.pad(x, [(0, 0)] + edges + [(0, 0)])
    depth, units = x.shape[3] // groups, w.shape[0] // groups
    y = np.zeros((x.shape[0], *out, w.shape[0]))
    for i, j in np.ndindex(*out):
        part = wide[:, i * stride[0]:i * stride[0] + (kernel[0] - 1) * dilation[0] + 1:dilation[0],
                    j * stride[1]:j * stride[1] + (kernel[1] - 1) * dilation[1] + 1:dilation[1]]
        for g in range(groups):
            y[:, i, j, g * units:(g + 1) * units] = np.tensordot(
                part[..., g * depth:(g + 1) * depth], w[g * units:(g + 1) * units],
                ((1, 2, 3), (1, 2, 3)))
    return y


def _weights(m, shape, dtype, dimension):
    """int8 with a scale for each channel; uint8 with one."""
    if dtype == "u1":
        w = m.quantized(shape, "u1", 0.02, 125)
    else:
        w = m.quantized(shape, "i1", [0.01 + 0.005 * k for k in range(shape[dimension])], 0)
        w.dimension = dimension
    # -128 is not among symmetric weights.
    w.value = np.maximum(w.value, -127) if dtype != "u1" else w.value
    w.constant = True
    return w


def _biases(m, units, dtype, scale, w):
    """None, and constants whose scales are those of the products."""
    scales = scale * np.float64(np.float32(w.scale))
    for kind in (None, "i4") + (("i8",) if dtype == "i2" else ()):
        if kind is None:
            yield None
            continue
        value = m.rng.integers(-2000, 2000, units).astype(kind)
        yield Given(value, True, scales)


def _limited(y, activation):
    return np.clip(y, 0, 6) if activation == 3 else np.maximum(y, 0) if activation == 1 else y


def convolutions(m):
    for dtype, ((scale, zero), (out_scale, out_zero)) in _TYPES.items():
        for size, kernel, stride, dilation in _WINDOWS:
            for pad in (0, 1):
                # Depth, outputs, groups: DEPTHWISE_CONV_2D has as many groups as channels.
                for depth, units, groups in ((3, 4, 1), (4, 6, 2), (3, 3, 3), (2, 4, 2)):
                    depthwise = groups == depth
                    x = m.quantized((2, *size, depth), dtype, scale, zero)
                    shape = (1, *kernel, units) if depthwise else (units, *kernel, depth // groups)
                    w = _weights(m, shape, dtype, 3 if depthwise else 0)
                    real = w.real()
                    if depthwise:
                        real = np.transpose(real, (3, 1, 2, 0))
                    y = _convolve(x.real(), real, kernel, stride, dilation, pad, groups)
                    for bias in _biases(m, units, dtype, np.float32(scale), w):
                        activation = int(m.rng.choice((0, 1, 3)))
                        out = _limited(y + (bias.real() if bias else 0), activation)
                        options = [("e", pad), ("i", stride[1]), ("i", stride[0])]
                        options += [("i", units // depth)] if depthwise else []
                        options += [("e", activation), ("i", dilation[1]), ("i", dilation[0])]
                        m.add("DEPTHWISE_CONV_2D" if depthwise else "CONV_2D", [x, w, bias],
                              [quantize(out, dtype, out_scale, out_zero)], options, (1, 0),
                              out_scale, out_zero)


def dilated_groups(m):
    """Of floats; the HAL's grouped convolution has no dilation."""
    for size, kernel, stride, dilation in _WINDOWS:
        x, w = m.data((1, *size, 6)), m.data((4, *kernel, 3))
        for pad in (0, 1):
            y = _convolve(x.astype("f8"), w, kernel, stride, dilation, pad, 2)
            m.add("CONV_2D", [x, Given(w, True), None], [y.astype("f4")],
                  [("e", pad), ("i", stride[1]), ("i", stride[0]), _NONE, ("i", dilation[1]),
                   ("i", dilation[0])], (5e-5, 1e-6))


def transposed(m):
    for dtype, ((scale, zero), (out_scale, out_zero)) in _TYPES.items():
        for size, kernel, stride, _ in _WINDOWS[:3]:
            for pad in (0, 1):
                small, edges = _edges(size, kernel, stride, (1, 1), pad)
                depth, units = 3, 2
                x = m.quantized((2, *small, depth), dtype, scale, zero)
                w = _weights(m, (units, *kernel, depth), dtype, 0)
                wide = np.zeros((2, size[0] + sum(edges[0]) + kernel[0],
                                 size[1] + sum(edges[1]) + kernel[1], units))
                for i, j in np.ndindex(*small):
                    a, b = i * stride[0], j * stride[1]
                    wide[:, a:a + kernel[0], b:b + kernel[1]] += \
                        np.einsum("nc,uhwc->nhwu", x.real()[:, i, j], w.real())
                y = wide[:, edges[0][0]:edges[0][0] + size[0], edges[1][0]:edges[1][0] + size[1]]
                for bias in _biases(m, units, dtype, np.float32(scale), w):
                    out = y + (bias.real() if bias else 0)
                    m.add("TRANSPOSE_CONV", [const((2, *size, units)), w, x] +
                          ([bias] if bias else []), [quantize(out, dtype, out_scale, out_zero)],
                          [("e", pad), ("i", stride[1]), ("i", stride[0])], (1, 0), out_scale,
                          out_zero)


def connected(m):
    for dtype, ((scale, zero), (out_scale, out_zero)) in _TYPES.items():
        for rows, size, units in ((1, 1, 1), (3, 7, 4), (2, 33, 5)):
            for keep in (0, 1):
                x = m.quantized((rows, 2, size) if keep else (rows, size), dtype, scale, zero)
                w = _weights(m, (units, size), dtype, 0)
                for bias in _biases(m, units, dtype, np.float32(scale), w):
                    activation = int(m.rng.choice((0, 1, 3)))
                    y = x.real() @ w.real().T + (bias.real() if bias else 0)
                    m.add("FULLY_CONNECTED", [x, w, bias],
                          [quantize(_limited(y, activation), dtype, out_scale, out_zero)],
                          [("e", activation), ("e", 0), ("b", keep)], (1, 0), out_scale, out_zero)


def pools(m):
    for dtype in ("i2", "i1", "u1"):
        (scale, zero), _ = _TYPES[dtype]
        for size, kernel, stride, _ in _WINDOWS[:3]:
            for pad in (0, 1):
                x = m.quantized((2, *size, 3), dtype, scale, zero)
                out, edges = _edges(size, kernel, stride, (1, 1), pad)
                wide = np.pad(x.real(), [(0, 0)] + edges + [(0, 0)], constant_values=np.nan)
                for name, f in (("AVERAGE", np.nanmean), ("MAX", np.nanmax)):
                    y = np.zeros((2, *out, 3))
                    for i, j in np.ndindex(*out):
                        a, b = i * stride[0], j * stride[1]
                        y[:, i, j] = f(wide[:, a:a + kernel[0], b:b + kernel[1]], (1, 2))
                    activation = int(m.rng.choice((0, 1)))
                    m.add(name + "_POOL_2D", [x],
                          [quantize(_limited(y, activation), dtype, scale, zero)],
                          [("e", pad), ("i", stride[1]), ("i", stride[0]), ("i", kernel[1]),
                           ("i", kernel[0]), ("e", activation)], (1, 0), scale, zero)


def _positions(size, out, align, centres):
    """Of the elements of an output, in 1024ths of an element of the input."""
    aligned = align and out > 1
    n, k = (size - 1, out - 1) if aligned else (size, out)
    step = (1024 * n + k // 2) // k
    at = np.arange(out) * step
    return at + step // 2 - 512 if centres else at


def resizes(m):
    for size, target in (((3, 4), (6, 7)), ((5, 4), (2, 3)), ((2, 3), (2, 3)), ((1, 4), (3, 1))):
        for align, centres in ((0, 0), (1, 0), (0, 1)):
            x = m.quantized((2, *size, 3), "i2", 0.0003, 0)
            weights = []
            for n, k in zip(size, target):
                at = _positions(n, k, align, centres)
                low = np.clip(at // 1024, 0, n - 1)
                high = np.clip(-(-at // 1024), 0, n - 1)
                part = at - 1024 * low
                matrix = np.zeros((k, n), "i8")
                np.add.at(matrix, (np.arange(k), low), 1024 - part)
                np.add.at(matrix, (np.arange(k), high), part)
                weights.append(matrix)
            y = np.einsum("ah,bw,nhwc->nabc", *weights, x.value.astype("i8"))
            y = np.sign(y) * ((np.abs(y) + (1 << 19)) >> 20)
            m.add("RESIZE_BILINEAR", [x, const(target)], [y.astype("i2")],
                  [(None, None), (None, None), ("b", align), ("b", centres)], (0, 0), 0.0003)
            rows = []
            for n, k in zip(size, target):
                step = np.float32(n - 1) / np.float32(k - 1) if align and k > 1 else \
                    np.float32(n) / np.float32(k)
                at = (np.arange(k, dtype="f4") + np.float32(0.5 if centres else 0)) * step
                at = np.floor(at + np.float32(0.5)) if align else np.floor(at)
                rows.append(np.minimum(at.astype("i4"), n - 1))
            m.add("RESIZE_NEAREST_NEIGHBOR", [x, const(target)],
                  [x.value[:, rows[0]][:, :, rows[1]]], [("b", align), ("b", centres)], (0, 0),
                  0.0003)


MAKERS = (convolutions, dilated_groups, transposed, connected, pools, resizes)
