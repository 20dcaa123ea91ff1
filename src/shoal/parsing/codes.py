"""Codes: whole numbers that stand for kinds of things, such as 1 to 9 for kinds of roofs, and are no quantities.

Between 3 and 5 rooms is 4; between roof 3 and roof 5 is nothing. Nobody can tell for sure from the table, so it is said
where a column is taken for one.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

MOST = 12
"""Distinct values that codes have at most, unless their heading says that they are codes; more are quantities."""
MOST_SAID = 100
"""The same, where it does."""
OFTEN = 20
"""Records that a code has at least, on average: in a table of a few records everything has few values."""
LARGEST = 99
"""Greatest code of few values."""
_SPELLED_QUANTITIES = """
    age ages year years month months week weeks day days hour hours minute minutes time times number count counts
    num size length width height weight depth children child kids siblings brothers sisters persons people members
    adults rooms floors visits score scores level levels grade grades stage rank ranking rating ratings scale likert
    decile quintile quartile percentile income wage salary earnings amount price cost dose pregnancies births parity
    priors total sum mean average avg rate ratio percent pct temperature distance duration tenure experience
    seniority generation order quarter points goals episodes cigarettes drinks vehicles cars alter jahr jahre jahren
    monat monate woche wochen tag tage stunde stunden minuten anzahl zahl menge grosse lange breite hohe gewicht
    kinder geschwister personen mitglieder zimmer raume stockwerk besuche note noten stufe rang bewertung skala
    einkommen lohn gehalt betrag preis kosten dauer prozent punkte geschoss ans annee annees mois semaine jour jours
    heure heures nombre taille poids enfants personnes pieces visites niveau edad ano anos mes meses semana dia dias
    hora horas cantidad hijos personas nivel eta anno anni mese mesi settimana giorno giorni ore numero figli
    persone livello stanze idade quantidade filhos pessoas leeftijd jaar jaren maand maanden dagen uren aantal
    kinderen
"""
_SPELLED_CODES = """
    code codes kind type types typ art cat category kategorie klasse region state province bundesland county
    district country nationality citizenship race ethnicity ethnic religion marital occupation job industry sector
    branch workclass sex gender language department ward relationship familienstand beruf branche abteilung
    konfession nationalitat
"""
_QUANTITIES, _CODES = frozenset(_SPELLED_QUANTITIES.split()), frozenset(_SPELLED_CODES.split())


def words(heading: str) -> list[str]:
    """The words of a heading, in small letters and without accents.

    Example:
        >>> words("patientFirst_name-2"), words("ZIPCode"), words("Straße"), words("Prénom")
        (['patient', 'first', 'name'], ['zip', 'code'], ['strasse'], ['prenom'])
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", heading)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", parted) if not unicodedata.combining(sign))
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", plain)]


def are_codes(heading: str, numbers: NDArray[np.float64], records: int) -> bool:
    """Whether the distinct numbers of so many records are codes, by all that can be seen: few whole numbers that occur
    often, not in steps, under a heading that names no quantity.

    Example:
        >>> roofs, tens = np.arange(1.0, 10.0), np.arange(10.0, 60.0, 10.0)
        >>> [are_codes(name, roofs, records=4000) for name in ("roof", "children", "Anzahl")]
        [True, False, False]
        >>> are_codes("x", tens, 4000), are_codes("x", roofs / 2, 4000), are_codes("x", roofs, 50)
        (False, False, False)
    """
    if len(numbers) < 2 or records < OFTEN * len(numbers) or not bool(np.all(numbers % 1 == 0)):
        return False
    own = set(words(heading))
    if own & _CODES:
        return len(numbers) <= MOST_SAID
    if len(numbers) > MOST or numbers.min() < -9 or numbers.max() > LARGEST:
        return False
    stepped = len(numbers) > 2 and int(np.gcd.reduce(np.diff(np.sort(numbers)).astype(np.int64))) > 1
    return not stepped and not own & _QUANTITIES
