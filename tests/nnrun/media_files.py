# SPDX-License-Identifier: MIT
"""TAP, and files of all formats that nnrun reads, for nnrun's tests of formats."""

import os
import struct
import subprocess
import sys
import tempfile
import zlib

BUILD = os.environ.get('BUILD') or os.environ.get('NNPU_BUILD') or 'build'
NNRUN = os.environ.get('NNRUN') or f'{BUILD}/bin/nnrun'
TOOL = f'{BUILD}/tests/media_tool'
SHARED = os.environ.get('NNPU_SHARED') or '../shared'

_temporary = tempfile.TemporaryDirectory()
WORK = _temporary.name


class Tap:
    """Counts and prints results."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, text, note=''):
        self.count += 1
        if not good:
            self.failed += 1
            for line in str(note).splitlines()[:20]:
                print('#', line)
        print(f'{"" if good else "not "}ok {self.count} - {text}', flush=True)
        return good

    def skip(self, text, why):
        self.count += 1
        print(f'ok {self.count} - {text} # SKIP {why}', flush=True)

    def done(self):
        print(f'1..{self.count}')
        sys.exit(self.failed > 0)


def path(name):
    """A file in the directory of the test."""
    return os.path.join(WORK, name)


def write(name, data):
    with open(path(name), 'wb') as f:
        f.write(data)
    return path(name)


def read(name):
    with open(path(name), 'rb') as f:
        return f.read()


def nnrun(*arguments, flags=('--device', 'sim'), stdin=b''):
    """Status, standard output, standard error; @stdin comes through a pipe."""
    done = subprocess.run([NNRUN, *flags, *map(str, arguments)], input=stdin,
                          capture_output=True, check=False)
    return done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode()


def tool(*arguments):
    """Output of media_tool; None if it failed, with its message."""
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, check=False)
    if done.returncode:
        return None, done.stderr.decode().strip()
    return done.stdout, ''


def ppm(width, height, pixels):
    return b'P6\n%d %d\n255\n' % (width, height) + bytes(pixels)


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(width, height, rows, color=2, depth=8, interlaced=False, extra=b''):
    """A PNG file; rows are packed bytes without filter, or for each pass if interlaced."""
    data = b''.join(b'\0' + row for row in rows)
    header = struct.pack('>IIBBBBB', width, height, depth, color, 0, 0, int(interlaced))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + extra +
            chunk(b'IDAT', zlib.compress(data)) + chunk(b'IEND', b''))


def adam7(width, height, pixel):
    """The rows of the seven passes; pixel(x, y) gives bytes."""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
                           (1, 0, 2, 2), (0, 1, 1, 2)):
        for y in range(y0, height, dy):
            row = b''.join(pixel(x, y) for x in range(x0, width, dx))
            if row:
                yield row


def model(name, *tensors):
    """A model that gives back its inputs, each as NAME=TYPE:DIMS."""
    out, why = tool('model', *tensors)
    assert out, why
    return write(name, out)


def wav(samples, rate=16000, form='<i2', channels=1, extra=b'', extensible=False):
    """A WAV file of an array of numbers that are as the file has them."""
    if form == '<i3':
        data = b''.join(int(v).to_bytes(3, 'little', signed=True) for v in samples)
    else:
        data = b''.join(struct.pack(form.replace('i2', 'h').replace('i4', 'i').replace('u1', 'B')
                                    .replace('f4', 'f').replace('f8', 'd'), v) for v in samples)
    size = int(form[-1])
    tag = 3 if 'f' in form else 1
    fmt = struct.pack('<HHIIHH', 0xfffe if extensible else tag, channels, rate,
                      rate * size * channels, size * channels, 8 * size)
    if extensible:
        fmt += struct.pack('<HHIH', 22, 8 * size, 0, tag) + bytes(14)
    chunks = b'fmt ' + struct.pack('<I', len(fmt)) + fmt + extra
    chunks += b'data' + struct.pack('<I', len(data)) + data
    return b'RIFF' + struct.pack('<I', 4 + len(chunks)) + b'WAVE' + chunks
