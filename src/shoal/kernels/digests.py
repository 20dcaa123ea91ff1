"""MD5 of many short texts at once. It orders records and keeps no secret by itself; databases have it as well."""

import numpy as np

from shoal.kernels.compilation import inner, kernel

_SINES = np.floor(2.0**32 * np.abs(np.sin(np.arange(1, 65)))).astype(np.uint32)
_TURNS = np.array([7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21], np.uint32)
_START = np.array([0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476], np.uint32)


@inner
def _block(state, words):
    """One round of MD5 over sixteen words."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    for step in range(64):
        turn = step // 16
        if turn == 0:
            mixed, place = (b & c) | (~b & d), step
        elif turn == 1:
            mixed, place = (d & b) | (~d & c), (5 * step + 1) % 16
        elif turn == 2:
            mixed, place = b ^ c ^ d, (3 * step + 5) % 16
        else:
            mixed, place = c ^ (b | ~d), (7 * step) % 16
        total = np.uint32(a + np.uint32(mixed) + _SINES[step] + words[place])
        left = _TURNS[4 * turn + step % 4]
        a, d, c = d, c, b
        b = np.uint32(b + np.uint32((total << left) | (total >> np.uint32(np.uint32(32) - left))))
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d


@kernel
def lower_halves(prefix, data, offsets):
    """The last eight bytes, as a little-endian number, of the MD5 of `prefix` and each text.

    Text `i` is `data[offsets[i]:offsets[i + 1]]`.
    """
    count, start = len(offsets) - 1, len(prefix)
    halves = np.empty(count, np.uint64)
    state, words, bytes_ = np.empty(4, np.uint32), np.empty(16, np.uint32), np.empty(64, np.uint8)
    for text in range(count):
        for word in range(4):
            state[word] = _START[word]
        first = offsets[text]
        length = start + offsets[text + 1] - first
        blocks = (length + 8) // 64 + 1
        for block in range(blocks):
            for place in range(64):
                at = 64 * block + place
                if at < start:
                    bytes_[place] = prefix[at]
                elif at < length:
                    bytes_[place] = data[first + at - start]
                else:
                    bytes_[place] = 0x80 if at == length else 0
            if block == blocks - 1:
                bits = np.uint64(length) * np.uint64(8)
                for place in range(8):
                    bytes_[56 + place] = np.uint8((bits >> np.uint64(8 * place)) & np.uint64(255))
            for word in range(16):
                words[word] = (
                    np.uint32(bytes_[4 * word])
                    | np.uint32(bytes_[4 * word + 1]) << np.uint32(8)
                    | np.uint32(bytes_[4 * word + 2]) << np.uint32(16)
                    | np.uint32(bytes_[4 * word + 3]) << np.uint32(24)
                )
            _block(state, words)
        halves[text] = np.uint64(state[2]) | np.uint64(state[3]) << np.uint64(32)
    return halves
