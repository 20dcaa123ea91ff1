"""Patterns of identifiers: what a value looks like when it names a person, with the checksums that such numbers carry.

Every pattern looks at one text and says yes or no. Checksums make chance hits rare: of random digits one in ten passes
the Luhn test and one in ninety-seven that of an IBAN.

References: ISO 13616 (IBAN), ISO/IEC 7812 (card numbers), RFC 4122 (UUID), and each national number's own rules.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from datetime import date

Pattern = Callable[[str], bool]

_PHONE = re.compile(r"\+?[\d\s()./-]{7,20}")
_NO_PHONE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|[-+]?\d*[.]\d+")
"""Dates and decimal numbers, which are written with the same signs."""
_NINO = re.compile(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]")
_HETU = re.compile(r"(\d{6})[-+A-FU-Y](\d{3})([0-9A-Y])")
_FISCAL = re.compile(r"[A-Z]{6}[0-9LMNP-V]{2}[ABCDEHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]")
_DNI = re.compile(r"([XYZ]|\d)(\d{7})([A-Z])")
_FISCAL_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def _matching(expression: str, flags: int = 0) -> Pattern:
    """A pattern that is one regular expression."""
    compiled = re.compile(expression, flags)
    return lambda text: compiled.fullmatch(text) is not None


email = _matching(r"[^@\s,;]+@[^@\s,;]+\.[A-Za-z]{2,}")
url = _matching(r"(?:https?|ftp)://\S+|www\.\S+\.\S+", re.IGNORECASE)
mac_address = _matching(r"[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}")
uuid = _matching(r"\{?[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\}?")
us_ssn = _matching(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}")
coordinates = _matching(
    r"(?:point ?)?[(\[]?\s*[-+]?\d{1,3}\.\d{3,}°?\s*[NSEW]?[,; ]\s*[-+]?\d{1,3}\.\d{3,}°?\s*[NSEW]?\s*[)\]]?",
    re.IGNORECASE,
)
_ENGLISH_STREET = (
    r"\d+\w?,? .*\b(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|court|ct|place|pl|boulevard|blvd|way|terrace|close|"
    r"square|crescent|circuit|highway|hwy|parkway|pkwy|row|mews|grove)\b.*"
)
_STREET_FIRST = (
    r"[^\d,]*(?:stra(?:ss|ß)e|str\.|gasse|weg|platz|allee|ring|damm|ufer|straat|laan|plein|gade|vej|gatan|vägen|veien|"
    r"katu|tie)\.? ?\d+.*|(?:rue|avenue|boulevard|place|chemin|calle|avenida|paseo|plaza|via|viale|piazza|corso|rua|"
    r"travessa|ulica|ul\.)\s.*\d+.*|\d+\w?,? (?:bis |ter )?(?:rue|avenue|boulevard|place|chemin|allée|quai|impasse)\s.*"
)
street_address = _matching(f"{_ENGLISH_STREET}|{_STREET_FIRST}", re.IGNORECASE | re.DOTALL)


def phone(text: str) -> bool:
    """Seven to fifteen digits, written as people write phone numbers: with a plus, a leading zero or separators."""
    digits = re.sub(r"\D", "", text)
    if not 7 <= len(digits) <= 15 or not _PHONE.fullmatch(text) or _NO_PHONE.fullmatch(text):
        return False
    return text.startswith(("+", "(", "0")) or len(re.findall(r"\d[\s()./-]+\d", text)) >= 2


def ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _digits(text: str, *counts: int) -> list[int] | None:
    """The digits of a number that may be written in groups; None when it is no such number."""
    plain = re.sub(r"[ .-]", "", text)
    return [int(digit) for digit in plain] if plain.isascii() and plain.isdigit() and len(plain) in counts else None


def luhn(digits: Sequence[int]) -> bool:
    """The checksum of card numbers.

    Example:
        >>> luhn([4, 5, 3, 9, 1, 4, 8, 8, 0, 3, 4, 3, 6, 4, 6, 7])
        True
    """
    doubled = [digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def card_number(text: str) -> bool:
    digits = _digits(text, *range(13, 20))
    return digits is not None and digits[0] in (2, 3, 4, 5, 6) and len(set(digits)) > 1 and luhn(digits)


def iban(text: str) -> bool:
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _is_day(day: int, month: int, year: int = 2000) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def uk_nino(text: str) -> bool:
    return _NINO.fullmatch(text.replace(" ", "").upper()) is not None


def uk_nhs(text: str) -> bool:
    digits = _digits(text, 10)
    if digits is None or len(set(digits)) == 1:
        return False
    return (11 - _weighted(digits[:9], range(10, 1, -1)) % 11) % 11 == digits[9]


def swedish_personnummer(text: str) -> bool:
    match = re.fullmatch(r"(?:18|19|20)?(\d{2})(\d{2})(\d{2})[-+]?(\d{4})", text)
    if match is None or not _is_day(int(match[3]) % 60 or 60, int(match[2])):
        return False
    return luhn([int(digit) for digit in "".join(match.groups())])


def finnish_hetu(text: str) -> bool:
    match = _HETU.fullmatch(text.upper())
    if match is None or not _is_day(int(match[1][:2]), int(match[1][2:4])):
        return False
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(match[1] + match[2]) % 31] == match[3]


def norwegian_number(text: str) -> bool:
    digits = _digits(text, 11)
    if digits is None or not _is_day((digits[0] * 10 + digits[1]) % 40 or 40, (digits[2] * 10 + digits[3]) % 40 or 40):
        return False
    first = _weighted(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11
    return first == 0 and _weighted(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def dutch_bsn(text: str) -> bool:
    digits = _digits(text, 8, 9)
    if digits is None or len(set(digits)) == 1:
        return False
    padded = [0] * (9 - len(digits)) + digits
    return (_weighted(padded[:8], range(9, 1, -1)) - padded[8]) % 11 == 0


def italian_codice_fiscale(text: str) -> bool:
    code = text.upper()
    if not _FISCAL.fullmatch(code):
        return False
    values = [int(sign, 36) - 10 if sign.isalpha() else int(sign) for sign in code]
    total = sum(_FISCAL_ODD[value] if place % 2 == 0 else value for place, value in enumerate(values[:15]))
    return total % 26 == values[15]


def spanish_dni(text: str) -> bool:
    match = _DNI.fullmatch(text.upper().replace("-", ""))
    if match is None:
        return False
    first = str("XYZ".index(match[1])) if match[1] in "XYZ" else match[1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(first + match[2]) % 23] == match[3]


def french_nir(text: str) -> bool:
    plain = text.replace(" ", "").upper().replace("2A", "19").replace("2B", "18")
    if not re.fullmatch(r"[1-478]\d{14}", plain):
        return False
    return 97 - int(plain[:13]) % 97 == int(plain[13:])


def german_tax_number(text: str) -> bool:
    digits = _digits(text, 11)
    if digits is None or digits[0] == 0 or len(set(digits[:10])) not in (8, 9):
        return False
    product = 10
    for digit in digits[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return (11 - product) % 10 == digits[10]


def polish_pesel(text: str) -> bool:
    digits = _digits(text, 11)
    if digits is None or not _is_day(digits[4] * 10 + digits[5], (digits[2] * 10 + digits[3]) % 20 or 20):
        return False
    return _weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def brazilian_cpf(text: str) -> bool:
    digits = _digits(text, 11)
    if digits is None or len(set(digits)) == 1:
        return False
    return all(
        _weighted(digits[:length], range(length + 1, 1, -1)) * 10 % 11 % 10 == digits[length] for length in (9, 10)
    )


def indian_aadhaar(text: str) -> bool:
    digits = _digits(text, 12)
    return digits is not None and digits[0] > 1 and verhoeff(digits)


def verhoeff(digits: Sequence[int]) -> bool:
    """The checksum in the group of symmetries of a pentagon.

    Example:
        >>> verhoeff([2, 3, 6, 3])
        True
    """
    check = 0
    for place, digit in enumerate(reversed(digits)):
        for _ in range(place % 8):
            digit = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)[digit]
        check = _dihedral(check, digit)
    return check == 0


def _dihedral(left: int, right: int) -> int:
    turned = (left - right if left > 4 else left + right) % 5
    return turned + 5 * ((left > 4) != (right > 4))


def _digit_sum(number: int) -> int:
    return number // 10 + number % 10


def german_pension_number(text: str) -> bool:
    match = re.fullmatch(r"(\d{2})(\d{2})(\d{2})(\d{2})([A-Z])(\d{2})(\d)", re.sub(r"[ /-]", "", text).upper())
    if match is None or not (1 <= int(match[2]) <= 81 and 1 <= int(match[3]) <= 12):
        return False
    letter = f"{ord(match[5]) - 64:02}"
    digits = [int(digit) for digit in match[1] + match[2] + match[3] + match[4] + letter + match[6]]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    return sum(_digit_sum(a * b) for a, b in zip(digits, weights, strict=True)) % 10 == int(match[7])


def german_health_number(text: str) -> bool:
    match = re.fullmatch(r"([A-Z])(\d{8})(\d)", text.replace(" ", "").upper())
    if match is None:
        return False
    digits = [int(digit) for digit in f"{ord(match[1]) - 64:02}{match[2]}"]
    return sum(_digit_sum(digit * (1 + place % 2)) for place, digit in enumerate(digits)) % 10 == int(match[3])


def austrian_insurance_number(text: str) -> bool:
    digits = _digits(text, 10)
    if (
        digits is None
        or digits[0] == 0
        or not (1 <= digits[4] * 10 + digits[5] <= 31 and digits[6] * 10 + digits[7] < 16)
    ):
        return False
    return _weighted(digits, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11 == digits[3]


def swiss_insurance_number(text: str) -> bool:
    digits = _digits(text, 13)
    return digits is not None and digits[:3] == [7, 5, 6] and _weighted(digits, (1, 3) * 6 + (1,)) % 10 == 0


PATTERNS: dict[str, Pattern] = {
    "e-mail addresses": email,
    "URLs": url,
    "UUIDs": uuid,
    "MAC addresses": mac_address,
    "IP addresses": ip_address,
    "IBANs": iban,
    "card numbers": card_number,
    "US social security numbers": us_ssn,
    "UK national insurance numbers": uk_nino,
    "NHS numbers": uk_nhs,
    "Swedish personal numbers": swedish_personnummer,
    "Finnish personal codes": finnish_hetu,
    "Norwegian birth numbers": norwegian_number,
    "Dutch citizen service numbers": dutch_bsn,
    "Italian fiscal codes": italian_codice_fiscale,
    "Spanish identity numbers": spanish_dni,
    "French social security numbers": french_nir,
    "German tax numbers": german_tax_number,
    "Polish PESEL numbers": polish_pesel,
    "Brazilian CPF numbers": brazilian_cpf,
    "Aadhaar numbers": indian_aadhaar,
    "German pension insurance numbers": german_pension_number,
    "German health insurance numbers": german_health_number,
    "Austrian social insurance numbers": austrian_insurance_number,
    "Swiss social insurance numbers": swiss_insurance_number,
    "street addresses": street_address,
    "coordinates": coordinates,
    "phone numbers": phone,
}
OF_PLACES_AND_DEVICES = frozenset(("URLs", "MAC addresses", "IP addresses", "street addresses", "coordinates"))
"""What several people may share."""
