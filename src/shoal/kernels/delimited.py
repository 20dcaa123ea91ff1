"""Fields of delimited text: where they are, and the distinct texts of a column."""

import numpy as np

from shoal.kernels.bits import WIDTH, count, equal, lowest
from shoal.kernels.compilation import inner, kernel

QUOTE, NEWLINE, RETURN = 34, 10, 13
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SECOND, _THIRD = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
_SHIFT, _HALF = np.uint64(29), np.uint64(32)
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(9)], np.uint64)
_ZERO, _ONE, _EIGHT, _SIXTEEN = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(16)
HEAD = 24
"""So many bytes of a text are held as three words, which most texts are compared by alone."""
_LONG = np.uint64(1 << 63)
"""Is in the hash of every text that is longer, so that no hash is the length of a text that is not."""


@kernel
def marks_in(data, length):
    """How many quotation marks there are among the first bytes; `WIDTH` bytes more must be readable."""
    total = 0
    for at in range(0, length, WIDTH):
        marked = equal(data, at, np.uint8(QUOTE))
        if length - at < WIDTH:
            marked &= (_ONE << np.uint64(length - at)) - _ONE
        total += count(marked)
    return total


@kernel
def separators(data, length, delimiter, places, marks):
    """Writes where delimiters and line ends stand outside quotation marks in the first bytes, and how many marks there
    are up to each; returns how many separators there are and how many of them end a line. A carriage return without a
    line end behind it makes that -1. `WIDTH` bytes more must be readable."""
    used, lines = np.uint64(0), 0
    quotes, within = np.uint32(0), _ZERO
    for at in range(0, length, WIDTH):
        ends = equal(data, at, np.uint8(NEWLINE))
        bits = ends | equal(data, at, np.uint8(delimiter))
        marked = equal(data, at, np.uint8(QUOTE))
        returns = equal(data, at, np.uint8(RETURN))
        if length - at < WIDTH:
            mask = (_ONE << np.uint64(length - at)) - _ONE
            ends, bits, marked, returns = ends & mask, bits & mask, marked & mask, returns & mask
        while returns != _ZERO:
            if data[at + lowest(returns) + 1] != NEWLINE:
                return np.int64(-1), lines
            returns &= returns - _ONE
        if marked != _ZERO:  # a bit is within marks where the number of marks up to it is odd
            inside = marked
            for step in (1, 2, 4, 8, 16, 32):
                inside ^= inside << np.uint64(step)
            inside ^= within
            within = _ZERO - (inside >> np.uint64(63))
        else:
            inside = within
        bits &= ~inside
        lines += count(ends & ~inside)
        while bits != _ZERO:
            places[used] = at + lowest(bits)
            marks[used] = quotes
            if marked != _ZERO:
                marks[used] = quotes + np.uint32(count(marked & ((bits & (_ZERO - bits)) - _ONE)))
            used += _ONE
            bits &= bits - _ONE
        quotes += np.uint32(count(marked))
    return np.int64(used), lines


@kernel
def laid_out(data, places, marks, used, width):
    """Drops the separators of blank lines, which then stand before the first field of a row; returns how many rows of
    `width` fields are left, or -1 where one has another number of fields."""
    written, column, start = 0, 0, 0
    for separator in range(used):
        at = places[separator]
        if data[at] == NEWLINE:
            blank = column == 0 and (at == start or (at == start + 1 and data[start] == RETURN))
            start = at + 1
            if blank:
                continue
            if column != width - 1:
                return -1
            column = 0
        else:
            column += 1
            if column == width:
                return -1
        places[written], marks[written] = at, marks[separator]
        written += 1
    return written // width if column == 0 else -1


@kernel
def are_laid_out(data, places, rows, width):
    """Whether every row of `width` fields ends with its line."""
    for row in range(rows):  # noqa: SIM110 - compiled
        if data[places[row * width + width - 1]] != NEWLINE:
            return False
    return True


@inner(inline="always")
def _hashed(length, first, second, third):
    return (first ^ length) * _MIX + second * _SECOND + third * _THIRD


@kernel
def encode(block, layout, lexicon, used, row, codes):
    """Writes codes for the fields of a column from a row on and adds new texts to its lexicon. Returns how many texts
    there are then, and the row at which the lexicon is full or all is done; a row of -1 says that quotation marks stand
    within a field.

    `block` has the bytes and, at each of them, the eight that begin there; `layout` the separators, the marks up to
    each, the width and the column. `lexicon` has slots by hash, the head of each text, where it ends, and the texts in
    the same two ways as the block. A head is the length, or of a long text the hash, and the beginning as three words.
    """
    data, words = block
    places, marks, width, column = layout
    slots, heads, ends, texts, known = lexicon
    mask = np.uint64(len(slots) - 1)
    # Numbers without a sign are places as they are, and halve the time; one with a sign may count from the end.
    head, step = np.uint64(HEAD), np.uint64(width)
    at, rows, separator = np.uint64(row), np.uint64(len(codes)), np.uint64(row * width + column)
    is_first, is_last = column == 0, column == width - 1
    any_quoted = len(codes) > 0 and marks[len(codes) * width - 1] != 0
    while at < rows:
        begin = np.uint64(places[separator - _ONE]) + _ONE if separator > _ZERO else _ZERO
        end = np.uint64(places[separator])
        while is_first and begin < end and (data[begin] == NEWLINE or data[begin] == RETURN):  # blank lines before
            begin += _ONE
        if is_last and end > begin and data[end - _ONE] == RETURN:
            end -= _ONE
        if any_quoted:
            quotes = marks[separator]
            if separator > _ZERO:
                quotes -= marks[separator - _ONE]
            if quotes != 0:
                begin += _ONE
                end -= _ONE
                around = data[begin - _ONE] == QUOTE and data[end] == QUOTE
                if not around or (quotes > 2 and not _doubled(data, np.int64(begin), np.int64(end))):
                    return used, -1
        length = end - begin
        first, second, third = words[begin] & _MASKS[min(length, _EIGHT)], _ZERO, _ZERO
        if length > _EIGHT:
            second = words[begin + _EIGHT] & _MASKS[min(length - _EIGHT, _EIGHT)]
        if length > _SIXTEEN:
            third = words[begin + _SIXTEEN] & _MASKS[min(length - _SIXTEEN, _EIGHT)]
        sign, hashed = length, _hashed(length, first, second, third)
        if length > head:
            for further in range(begin + head, end):
                hashed = ((hashed ^ (hashed >> _SHIFT)) + np.uint64(data[further])) * _MIX
            hashed |= _LONG
            sign = hashed
        place = (hashed ^ (hashed >> _HALF)) & mask
        code = slots[place]
        while code >= 0:
            one = np.uint64(code)
            alike = heads[one, 0] == sign and heads[one, 1] == first
            alike = alike and heads[one, 2] == second and heads[one, 3] == third
            if alike and (length <= head or _same(words, begin, length, known, ends[one], ends[one + _ONE])):
                break
            place = (place + _ONE) & mask
            code = slots[place]
        if code < 0:
            start, size = ends[used], np.int64(length)
            if 2 * used >= len(slots) or start + size + 2 * HEAD > len(texts):
                return used, np.int64(at)
            code = used
            slots[place] = code
            heads[code, 0], heads[code, 1], heads[code, 2], heads[code, 3] = sign, first, second, third
            for offset in range(size):
                texts[start + offset] = data[np.int64(begin) + offset]
            used += 1
            ends[used] = start + size
        codes[at] = code
        at += _ONE
        separator += step
    return used, np.int64(at)


@inner
def _same(words, begin, length, known, start, end):
    """Whether a field and a text are the same behind their heads."""
    begin, length = np.int64(begin), np.int64(length)
    if end - start != length:
        return False
    for offset in range(HEAD, length, 8):
        mask = _MASKS[min(length - offset, 8)]
        if words[begin + offset] & mask != known[start + offset] & mask:
            return False
    return True


@inner
def _doubled(data, begin, end):
    """Whether quotation marks stand in pairs."""
    at = begin
    while at < end:
        if data[at] == QUOTE:
            at += 1
            if at == end or data[at] != QUOTE:
                return False
        at += 1
    return True


@kernel
def refill(slots, heads, used):
    """Fills empty slots with the texts of a lexicon."""
    mask = np.uint64(len(slots) - 1)
    for code in range(used):
        hashed = heads[code, 0]
        if hashed < _LONG:
            hashed = _hashed(hashed, heads[code, 1], heads[code, 2], heads[code, 3])
        place = (hashed ^ (hashed >> _HALF)) & mask
        while slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = code


COPIED = 32
"""So many bytes are copied of every text, whatever its length, and then eight at a time."""


@kernel
def render(codes, starts, ends, known, room):
    """Writes texts one after the other, row by row; returns how many bytes they are. The texts of a column, by their
    codes, begin with the one at `starts[column]`; the last of them is the one of code -1. Text `i` begins at `ends[i]`
    of the `known` ones. What is copied too much is overwritten by the next one: behind both there must be room for
    it."""
    at = _ZERO
    for row in range(np.uint64(codes.shape[1])):
        for column in range(np.uint64(codes.shape[0])):
            code = codes[column, row]
            place = np.uint64(starts[column] + code if code >= 0 else starts[column + _ONE] - 1)
            first = np.uint64(ends[place])
            length = np.uint64(ends[place + _ONE]) - first
            for offset in range(_ZERO, np.uint64(COPIED), _EIGHT):
                room[at + offset] = known[first + offset]
            for offset in range(np.uint64(COPIED), length, _EIGHT):
                room[at + offset] = known[first + offset]
            at += length
    return np.int64(at)
