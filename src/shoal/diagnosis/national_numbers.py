"""Numbers of people of fifty more countries, as python-stdnum knows them, where that is installed (`shoal[numbers]`).

It is under the LGPL, so it is an optional package, imported unchanged and only when a column of numbers is looked at.
Only numbers of people are here that have a check digit, or a date of birth and a place inside: a number that any row of
digits could be proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

_MODULES = {
    "au.tfn": "Australian tax file numbers",
    "be.nn": "Belgian national numbers",
    "bg.egn": "Bulgarian personal numbers",
    "ca.bc_phn": "British Columbian health numbers",
    "ca.sin": "Canadian social insurance numbers",
    "cl.rut": "Chilean tax numbers",
    "cn.ric": "Chinese identity card numbers",
    "co.nit": "Colombian tax numbers",
    "cu.ni": "Cuban identity card numbers",
    "cz.rc": "Czech birth numbers",
    "dk.cpr": "Danish citizen numbers",
    "do.cedula": "Dominican identity numbers",
    "ec.ci": "Ecuadorian identity numbers",
    "ee.ik": "Estonian personal codes",
    "fr.nif": "French tax numbers",
    "gb.upn": "English pupil numbers",
    "gb.utr": "British tax references",
    "gr.amka": "Greek social security numbers",
    "gr.vat": "Greek tax numbers",
    "gt.nit": "Guatemalan tax numbers",
    "hr.oib": "Croatian identification numbers",
    "id.nik": "Indonesian identity numbers",
    "ie.pps": "Irish public service numbers",
    "il.idnr": "Israeli identity numbers",
    "in_.pan": "Indian tax numbers",
    "is_.kennitala": "Icelandic identity numbers",
    "jp.in_": "Japanese individual numbers",
    "kr.rrn": "Korean resident numbers",
    "lt.asmens": "Lithuanian personal codes",
    "lv.pvn": "Latvian personal codes",
    "mx.curp": "Mexican population codes",
    "mx.rfc": "Mexican tax numbers",
    "my.nric": "Malaysian identity card numbers",
    "nl.onderwijsnummer": "Dutch student numbers",
    "nz.ird": "New Zealand tax numbers",
    "pt.cc": "Portuguese identity card numbers",
    "pt.nif": "Portuguese tax numbers",
    "ro.cnp": "Romanian personal codes",
    "ru.inn": "Russian tax numbers",
    "si.emso": "citizen numbers of former Yugoslavia",
    "th.pin": "Thai identification numbers",
    "tr.tckimlik": "Turkish identity numbers",
    "ua.rntrc": "Ukrainian tax numbers",
    "us.itin": "US individual taxpayer numbers",
    "ve.rif": "Venezuelan tax numbers",
    "za.idnr": "South African identity numbers",
}
_SHAPED = re.compile(r"[A-Za-z]{0,6}[\dA-Za-z .+/-]{4,22}")


@cache
def _validators() -> dict[str, Callable[[str], bool]]:
    validators = {}
    for module, name in _MODULES.items():
        try:
            validators[name] = import_module(f"stdnum.{module}").is_valid
        except ImportError:  # it is not installed, or a version without this number
            continue
    return validators


def validators(text: str) -> dict[str, Callable[[str], bool]]:
    """The tests that are worth trying on a column with such a text, by the name of the numbers."""
    digits = sum(sign.isdigit() for sign in text)
    return _validators() if digits >= 5 and _SHAPED.fullmatch(text) and not re.fullmatch(r"-?\d*\.\d+", text) else {}
