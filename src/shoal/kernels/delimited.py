"""Fields of delimited text: where they are, and the distinct texts of a column."""

import numpy as np
from numba import njit

QUOTE, NEWLINE, RETURN = 34, 10, 13
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(9)], np.uint64)
HEAD = 24
"""So many bytes of a text are held as three words, which most texts are compared by alone."""


@njit(cache=True, nogil=True)
def separators(data, delimiter, places, marks):
    """Writes where delimiters and line ends stand outside quotation marks, and how many marks there are up to each;
    returns how many separators there are and how many of them end a line."""
    found, quotes, lines = np.uintp(0), np.uint32(0), 0
    one = np.uint32(1)
    for at in range(len(data)):
        byte = data[at]
        if byte == QUOTE:
            quotes += one
        elif quotes & one == 0 and (byte == delimiter or byte == NEWLINE):  # noqa: SIM109 - compiled
            places[found] = at
            marks[found] = quotes
            found += np.uintp(1)
            lines += byte == NEWLINE
    return np.int64(found), lines


@njit(cache=True, nogil=True)
def laid_out(data, places, marks, found, width):
    """Drops the separators of blank lines, which then stand before the first field of a row; returns how many rows of
    `width` fields are left, or -1 where one has another number of fields."""
    kept, column, start = 0, 0, 0
    for separator in range(found):
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
        places[kept], marks[kept] = at, marks[separator]
        kept += 1
    return kept // width if column == 0 else -1


@njit(cache=True, nogil=True)
def are_laid_out(data, places, rows, width):
    """Whether every row of `width` fields ends with its line."""
    for row in range(rows):  # noqa: SIM110 - compiled
        if data[places[row * width + width - 1]] != NEWLINE:
            return False
    return True


@njit(cache=True, nogil=True)
def encode(block, layout, lexicon, used, row, codes):
    """Writes codes for the fields of a column from a row on and adds new texts to its lexicon. Returns how many texts
    there are then, and the row at which the lexicon is full or all is done; a row of -1 says that quotation marks stand
    within a field.

    `block` has the bytes and, at each of them, the eight that begin there; `layout` the separators, the marks up to
    each, the width and the column. `lexicon` has slots by hash, the hash of each text and its beginning as words, where
    it ends, and the texts in the same two ways as the block.
    """
    data, words = block
    places, marks, width, column = layout
    slots, heads, ends, texts, known = lexicon
    mask = np.uint64(len(slots) - 1)
    while row < len(codes):
        separator = row * width + column
        begin, quotes = 0, marks[separator]
        if separator > 0:
            begin = places[separator - 1] + 1
            quotes -= marks[separator - 1]
        end = places[separator]
        while column == 0 and begin < end and (data[begin] == NEWLINE or data[begin] == RETURN):  # blank lines before
            begin += 1
        if column == width - 1 and end > begin and data[end - 1] == RETURN:
            end -= 1
        if quotes != 0:
            begin += 1
            end -= 1
            if data[begin - 1] != QUOTE or data[end] != QUOTE or (quotes > 2 and not _doubled(data, begin, end)):
                return used, -1
        length = end - begin
        first = words[begin] & _MASKS[min(length, 8)]
        second = words[begin + 8] & _MASKS[max(min(length - 8, 8), 0)]
        third = words[begin + 16] & _MASKS[max(min(length - 16, 8), 0)]
        hashed = (first ^ np.uint64(length)) * _MIX
        hashed = ((hashed ^ (hashed >> _SHIFT)) + second) * _MIX
        hashed = ((hashed ^ (hashed >> _SHIFT)) + third) * _MIX
        if length > HEAD:
            for at in range(begin + HEAD, end):
                hashed = ((hashed ^ (hashed >> _SHIFT)) + np.uint64(data[at])) * _MIX
        place = (hashed ^ (hashed >> _SHIFT)) & mask
        code = slots[place]
        while code >= 0:
            head = heads[code]
            alike = head[0] == hashed and head[1] == first and head[2] == second and head[3] == third
            if alike and ends[code + 1] - ends[code] == length and _same(words, begin, length, known, ends[code]):
                break
            place = (place + np.uint64(1)) & mask
            code = slots[place]
        if code < 0:
            start = ends[used]
            if 2 * used >= len(slots) or start + length + 2 * HEAD > len(texts):
                return used, row
            code = used
            slots[place] = code
            heads[code, 0], heads[code, 1], heads[code, 2], heads[code, 3] = hashed, first, second, third
            for offset in range(length):
                texts[start + offset] = data[begin + offset]
            used += 1
            ends[used] = start + length
        codes[row] = code
        row += 1
    return used, row


@njit(cache=True, nogil=True)
def _same(words, begin, length, known, start):
    """Whether a field and a text of the same length are the same behind their heads."""
    for offset in range(HEAD, length, 8):
        mask = _MASKS[min(length - offset, 8)]
        if words[begin + offset] & mask != known[start + offset] & mask:
            return False
    return True


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def refill(slots, heads, used):
    """Fills empty slots with the texts of a lexicon."""
    mask = np.uint64(len(slots) - 1)
    for code in range(used):
        hashed = heads[code, 0]
        place = (hashed ^ (hashed >> _SHIFT)) & mask
        while slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        slots[place] = code


@njit(cache=True, nogil=True)
def render(places, ends, known, room):
    """Writes texts one after the other, row by row. Text `i` begins at `ends[i]` of the `known` ones; eight bytes are
    copied at a time, and what is too much is overwritten by the next one."""
    at = 0
    for row in range(places.shape[0]):
        for column in range(places.shape[1]):
            place = places[row, column]
            first = ends[place]
            length = ends[place + 1] - first
            for offset in range(0, length, 8):
                room[at + offset] = known[first + offset]
            at += length
