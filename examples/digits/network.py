# SPDX-License-Identifier: MIT
"""The digits network: layers with forward and backward passes in numpy.

Training must give the same weights on every machine, whatever order its BLAS
sums in.  So every sum of products runs on integers: matmul_exact() rounds both
operands to a fixed-point grid and checks that all partial sums stay below
2^53, where doubles are exact in any order.  Everything else is element by
element, in operations that IEEE 754 defines to the last bit.
"""
import numpy as np

# Fractional bits of the grids.
ACTIVATION_BITS = 14
WEIGHT_BITS = 16
GRADIENT_BITS = 22


def to_grid(x, bits):
    """x in units of 2^-bits, rounded to integers (in double)."""
    return np.rint(x * float(1 << bits))


def check_exact(largest, count):
    """Refuse sums of `count` integers up to `largest` that could round."""
    if not largest * count < 2.0 ** 53:
        raise ArithmeticError("%d terms up to %g may exceed 2^53" % (
            count, largest))


def matmul_exact(a, a_bits, b, b_bits):
    """a @ b with both rounded to their grids; independent of the order."""
    a = to_grid(a, a_bits)
    b = to_grid(b, b_bits)
    check_exact(np.abs(a).max() * np.abs(b).max(), a.shape[-1])
    return (a @ b) / float(1 << (a_bits + b_bits))


def sum_exact(x, axis, bits):
    """Sum over axes, independent of the order."""
    x = to_grid(x, bits)
    check_exact(np.abs(x).max(), x.size)
    return x.sum(axis=axis) / float(1 << bits)


def exp_exact(x):
    """exp(x) for x <= 0, from correctly rounded operations only."""
    x = np.maximum(x, -60.0)
    k = np.rint(x * 1.4426950408889634)
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    total = np.ones_like(r)
    for n in range(13, 0, -1):
        total = total * (r / n) + 1.0
    return np.ldexp(total, k.astype(np.int32))


class Parameter:
    """A weight array with its gradient and Adam's two moments."""

    def __init__(self, value):
        self.value = value
        self.gradient = np.zeros_like(value)
        self.first = np.zeros_like(value)
        self.second = np.zeros_like(value)

    def step(self, rate, count, decay):
        """One update by Adam with decoupled weight decay."""
        g = self.gradient
        self.first += 0.1 * (g - self.first)
        self.second += 0.01 * (g * g - self.second)
        m = self.first / (1.0 - power(0.9, count))
        v = self.second / (1.0 - power(0.99, count))
        self.value -= rate * (m / (np.sqrt(v) + 1e-8) + decay * self.value)


def power(base, count):
    """base ** count by multiplication: pow() differs between libraries."""
    result = 1.0
    while count:
        if count & 1:
            result *= base
        base *= base
        count >>= 1
    return result


def uniform_init(rng, shape, fan_in):
    """He initialisation with a uniform distribution."""
    limit = np.sqrt(6.0 / fan_in)
    return Parameter((rng.random(shape) * 2.0 - 1.0) * limit)


def taps_of(x, window):
    """[N,H,W,C] to [window*window,N,H,W,C]: SAME windows of stride 1."""
    margin = window // 2
    padded = np.pad(x, ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    height, width = x.shape[1:3]
    return np.stack([padded[:, r:r + height, c:c + width]
                     for r in range(window) for c in range(window)])


def scatter_taps(taps, window):
    """The adjoint of taps_of(): add every tap back to where it came from."""
    margin = window // 2
    _, count, height, width, channels = taps.shape
    padded = np.zeros((count, height + 2 * margin, width + 2 * margin,
                       channels))
    for index, tap in enumerate(taps):
        r, c = divmod(index, window)
        padded[:, r:r + height, c:c + width] += tap
    return padded[:, margin:margin + height, margin:margin + width]


class Conv2D:
    """Square window, stride 1, SAME padding; weights [O,K,K,I], RELU."""

    operator = "CONV_2D"

    def __init__(self, name, rng, inputs, outputs, window):
        self.name = name
        self.window = window
        fan_in = window * window * inputs
        self.weights = uniform_init(rng, (outputs, window, window, inputs),
                                    fan_in)
        self.bias = Parameter(np.zeros(outputs))

    def forward(self, x):
        taps = taps_of(x, self.window)
        self.shape = x.shape[:3]
        # Rows are positions, columns (tap, channel) as in the weights.
        self.columns = np.moveaxis(taps, 0, 3).reshape(
            -1, taps.shape[0] * x.shape[3])
        kernel = self.weights.value.reshape(len(self.bias.value), -1)
        y = matmul_exact(self.columns, ACTIVATION_BITS, kernel.T, WEIGHT_BITS)
        y = np.maximum(y + self.bias.value, 0.0)
        self.active = y > 0.0
        return y.reshape(self.shape + (-1,))

    def backward(self, gradient):
        gradient = gradient.reshape(self.active.shape) * self.active
        self.weights.gradient = matmul_exact(
            gradient.T, GRADIENT_BITS, self.columns, ACTIVATION_BITS).reshape(
                self.weights.value.shape)
        self.bias.gradient = sum_exact(gradient, 0, GRADIENT_BITS)
        kernel = self.weights.value.reshape(len(self.bias.value), -1)
        columns = matmul_exact(gradient, GRADIENT_BITS, kernel, WEIGHT_BITS)
        taps = np.moveaxis(columns.reshape(
            self.shape + (self.window ** 2, -1)), 3, 0)
        return scatter_taps(taps, self.window)


class DepthwiseConv2D:
    """Square window, stride 1, SAME padding; weights [1,K,K,C], RELU."""

    operator = "DEPTHWISE_CONV_2D"

    def __init__(self, name, rng, channels, window):
        self.name = name
        self.window = window
        self.weights = uniform_init(rng, (1, window, window, channels),
                                    window * window)
        self.bias = Parameter(np.zeros(channels))

    def forward(self, x):
        self.taps = taps_of(x, self.window)
        kernel = self.weights.value.reshape(self.window ** 2, -1)
        y = np.zeros_like(x)
        for tap, weight in zip(self.taps, kernel):
            y += tap * weight
        y = np.maximum(y + self.bias.value, 0.0)
        self.active = y > 0.0
        return y

    def backward(self, gradient):
        gradient = gradient * self.active
        kernel = self.weights.value.reshape(self.window ** 2, -1)
        self.weights.gradient = sum_exact(
            self.taps * gradient, (1, 2, 3), GRADIENT_BITS).reshape(
                self.weights.value.shape)
        self.bias.gradient = sum_exact(gradient, (0, 1, 2), GRADIENT_BITS)
        return scatter_taps(gradient * kernel[:, None, None, None, :],
                            self.window)


class Pool2D:
    """2x2 windows with stride 2; the input's sides are even."""

    def __init__(self, name):
        self.name = name

    @staticmethod
    def windows(x):
        """[N,H,W,C] to [N,H/2,W/2,C,4]."""
        n, h, w, c = x.shape
        return x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(
            0, 1, 3, 5, 2, 4).reshape(n, h // 2, w // 2, c, 4)

    @staticmethod
    def unwindows(x):
        """The inverse of windows()."""
        n, h, w, c, _ = x.shape
        return x.reshape(n, h, w, c, 2, 2).transpose(
            0, 1, 4, 2, 5, 3).reshape(n, 2 * h, 2 * w, c)


class MaxPool2D(Pool2D):
    operator = "MAX_POOL_2D"

    def forward(self, x):
        windows = self.windows(x)
        self.winner = windows.argmax(axis=-1)[..., None]
        return np.take_along_axis(windows, self.winner, -1)[..., 0]

    def backward(self, gradient):
        windows = np.zeros(gradient.shape + (4,))
        np.put_along_axis(windows, self.winner, gradient[..., None], -1)
        return self.unwindows(windows)


class AveragePool2D(Pool2D):
    operator = "AVERAGE_POOL_2D"

    def forward(self, x):
        w = self.windows(x)
        return (w[..., 0] + w[..., 1] + w[..., 2] + w[..., 3]) * 0.25

    def backward(self, gradient):
        return self.unwindows(np.repeat(gradient[..., None] * 0.25, 4, -1))


class Reshape:
    """[N,H,W,C] to [N,H*W*C]."""

    operator = "RESHAPE"

    def __init__(self, name):
        self.name = name

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, gradient):
        return gradient.reshape(self.shape)


class FullyConnected:
    """Weights [O,I], no activation."""

    operator = "FULLY_CONNECTED"

    def __init__(self, name, rng, inputs, outputs):
        self.name = name
        self.weights = uniform_init(rng, (outputs, inputs), inputs)
        self.bias = Parameter(np.zeros(outputs))

    def forward(self, x):
        self.x = x
        return matmul_exact(x, ACTIVATION_BITS, self.weights.value.T,
                            WEIGHT_BITS) + self.bias.value

    def backward(self, gradient):
        self.weights.gradient = matmul_exact(
            gradient.T, GRADIENT_BITS, self.x, ACTIVATION_BITS)
        self.bias.gradient = sum_exact(gradient, 0, GRADIENT_BITS)
        return matmul_exact(gradient, GRADIENT_BITS, self.weights.value,
                            WEIGHT_BITS)


class Network:
    """The layers in order; the softmax belongs to the loss."""

    def __init__(self, rng):
        self.layers = [
            Conv2D("conv", rng, 1, 16, 3),
            MaxPool2D("max_pool"),
            DepthwiseConv2D("depthwise", rng, 16, 3),
            Conv2D("pointwise", rng, 16, 32, 1),
            AveragePool2D("average_pool"),
            Reshape("reshape"),
            FullyConnected("fully_connected", rng, 128, 10),
        ]

    def parameters(self):
        for layer in self.layers:
            if hasattr(layer, "weights"):
                yield layer.weights
                yield layer.bias

    def forward(self, x):
        """Logits of images [N,8,8,1]."""
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, x, targets):
        """Gradients of the mean cross-entropy; targets are [N,10]."""
        logits = self.forward(x)
        e = exp_exact(logits - logits.max(axis=1, keepdims=True))
        total = sum_exact(e, 1, 40)[:, None]
        gradient = (e / total - targets) / len(x)
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
