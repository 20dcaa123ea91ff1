"""Headings: what the name of a column says about its role."""

from __future__ import annotations

import re

from shoal.core.schema import Role

_SPELLED = {
    Role.IDENTIFIER: """
        name names surname firstname lastname forename fullname givenname familyname maidenname nom vorname nachname
        nombre apellido cognome email mail phone telephone telefon tel mobile fax ssn nino bsn aadhaar passport iban
        account card licence license plate address street strasse rue username login userid nickname url website uuid
        guid mrn imei vin fingerprint signature photo
    """,
    Role.QUASI: """
        age alter sex gender race ethnicity ethnic zip zipcode postcode postal plz city town village county district
        state region province country nationality citizenship birth birthdate birthday dob birthplace born marital
        education school degree occupation job profession workclass employer company department language relationship
        household children siblings height weight latitude longitude location date year admission discharge
    """,
    Role.SENSITIVE: """
        disease diagnosis icd condition illness hiv symptom drug medication medicine treatment therapy disability
        salary income wage earnings pay religion faith politics political party union sexuality orientation genetic
        crime conviction offence credit debt loan balance grade score result
    """,
}
WORDS = {role: frozenset(text.split()) for role, text in _SPELLED.items()}
KEYS = frozenset(("id", "ids", "identifier", "number", "no", "nr", "code", "key"))
"""Words of a key: they name a person only where the values are almost unique."""


def words(heading: str) -> list[str]:
    """The words of a heading, in small letters.

    Example:
        >>> words("patientFirst_name-2")
        ['patient', 'first', 'name']
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", heading)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", parted)]


def said(heading: str) -> tuple[Role, str] | None:
    """The role that a heading speaks for, and the word that does; direct identifiers come first.

    Example:
        >>> said("e_mail"), said("marital-status"), said("hours")
        ((<Role.IDENTIFIER: 'identifier'>, 'mail'), (<Role.QUASI: 'quasi'>, 'marital'), None)
    """
    own = words(heading)
    for role, known in WORDS.items():
        for word in [*own, "".join(own)]:
            if word in known:
                return role, word
    return None


def is_key(heading: str) -> bool:
    """Whether a heading is that of a key."""
    return any(word in KEYS for word in words(heading))
