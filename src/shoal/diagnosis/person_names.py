"""Names of people: given names and surnames of some eighty languages and countries, without accents.

They tell a column of names whatever its heading says. Rare names need not be here, for a part of the values is enough;
names that mean something else as well (colours, months, trades, places) are left out. The list is made from the locales
of Faker by `benchmarks/name_list.py`.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("person_names.txt.gz")
LONGEST = 5
"""Words that the name of a person has at most, besides titles and small words."""
SHORTEST = 3
"""Letters of a name that stands alone, in scripts that write words in letters."""
LONGEST_CODE = 4
"""Capital letters that are a code, not a name: KIM, USA."""
_SPELLED_BESIDE = """
    mr mrs ms miss dr prof sir lord lady master herr frau mme mlle madame monsieur rev hon col capt sgt jr sr ii iii iv
    van von de del della der di da dos das la le el al bin ibn binti du des den ten ter af av zu y e st don
"""
_BESIDE = frozenset(_SPELLED_BESIDE.split())
"""Titles and small words, which say nothing."""
_IDEOGRAPHS = re.compile(r"[\u4e00-\u9fff]{2,4}|[\uac00-\ud7af]{2,4}")


@cache
def names() -> frozenset[str]:
    """Every word of the list."""
    return frozenset(gzip.decompress(LIST.read_bytes()).decode().split("\n"))


def plain(text: str) -> str:
    """A text in small letters and without accents.

    Example:
        >>> plain("Gérard MÜLLER")
        'gerard muller'
    """
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize(
        "NFC", "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    ).casefold()


def is_name(text: str) -> bool:
    """Whether a text reads as the name of a person: a few words of letters, and at least half of them known names.

    Example:
        >>> is_name("Müller, Anna"), is_name("Gérard Dupont"), is_name("Bachelors"), is_name("Anna 3"), is_name("王伟")
        (True, True, False, False, True)
    """
    if any(sign.isdigit() for sign in text) or (len(text) <= LONGEST_CODE and text.isascii() and text.isupper()):
        return False
    if _IDEOGRAPHS.fullmatch(text.strip()):  # the family name comes first, and there is no space
        return text.strip()[0] in names()
    words = [word for word in re.findall(r"[^\W\d_]+", plain(text)) if len(word) > 1 and word not in _BESIDE]
    if not 1 <= len(words) <= LONGEST or (len(words) == 1 and len(words[0]) < SHORTEST):
        return False
    return 2 * sum(word in names() or _unspelled(word) in names() for word in words) >= len(words)


def _unspelled(word: str) -> str:
    """A word without the letters that stand for an umlaut: the Muellers are Müllers."""
    return re.sub("([aou])e", r"\1", word)
