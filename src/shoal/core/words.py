"""Words of a table, such as its column names, as they may be shown to people."""

from __future__ import annotations

from unicodedata import category

UNSHOWN = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
JOINERS = "\u200c\u200d"
"""They have no form of their own, and words of some languages need them."""


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with a mark in the place of each character that would steer a terminal or break a picture.

    Example:
        >>> printable("age\x1b[2J")
        'age�[2J'
    """
    return "".join(
        "\ufffd" if category(letter) in UNSHOWN and letter not in JOINERS + keep else letter for letter in text
    )
