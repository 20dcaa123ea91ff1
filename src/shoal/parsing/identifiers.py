"""Identifiers: whether two spellings mean the same person."""

from __future__ import annotations

import unicodedata

from shoal.parsing.identity import plain_text


def one_spelling(text: str) -> str:
    r"""The one spelling of everything that a reader takes for the same identifier, name or value.

    Case, blanks at the ends, repeated blanks, invisible characters, wide and narrow forms, and the zeros in front of
    whole numbers make no difference.

    Example:
        >>> [one_spelling(text) for text in ("  ANNA\u00a0 Maria", "Anna\u200b maria", "007", "\uff17")]
        ['anna maria', 'anna maria', '7', '7']
    """
    text = plain_text(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = " ".join(text.casefold().split())
    if text.isdecimal() and text.isascii():
        return text.lstrip("0") or "0"
    return text
