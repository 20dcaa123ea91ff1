"""Headings: what they say in the common languages, and what they only seem to say."""

from __future__ import annotations

import pytest

from shoal.core.schema import Role
from shoal.diagnosis.headings import is_key, is_key_of_people, meaning_of
from shoal.parsing.codes import words

IDENTIFIERS = """
    SSN FIRST LAST first_name LastName surname Vorname Nachname Familienname Prénom nom_patient apellidos Nombre cognome
    Nome sobrenome achternaam voornaam patient_name e-mail Email phone_number Telefonnummer teléfono telefoon IBAN
    Straße indirizzo dirección endereço adres codice_fiscale passport mother_maiden_name MAIDEN
"""
QUASI = """
    age Alter edad idade leeftijd sex GENDER Geschlecht sexe sesso geslacht ZIPCode zip PLZ code_postal postcode
    BIRTHDATE dob date_of_birth Geburtsdatum date_naissance fecha_nacimiento data_di_nascita data_nascimento
    geboortedatum city Wohnort ville ciudad città cidade woonplaats marital-status Familienstand nationality
    nacionalidad birth_year operation-year Testdatum admission_date highest_degree town_name home_state occupation Beruf
"""
SENSITIVE = "Diagnosis diagnóstico Krankheit maladie enfermedad malattia doença ziekte salary-class Einkommen drug_name"
NOTHING = """
    two_year_recid c_charge_degree last_visit first_offer dosage stage average hours-per-week fnlwgt capital-gain
    cholesterol band-01 priors_count days_b_screening_arrest product_name hospital_name state_of_repair
"""


@pytest.mark.parametrize(
    ("role", "spelled"), [(Role.IDENTIFIER, IDENTIFIERS), (Role.QUASI, QUASI), (Role.SENSITIVE, SENSITIVE)]
)
def test_headings_are_understood(role, spelled):
    meanings = {heading: meaning_of(heading) for heading in spelled.split()}
    wrong = [heading for heading, meaning in meanings.items() if meaning is None or meaning.role is not role]
    assert wrong == []


def test_words_mean_nothing_beside_others():
    assert [heading for heading in NOTHING.split() if meaning_of(heading) is not None] == []


def test_accents_camels_and_capitals_make_no_difference():
    assert words("fechaDeNacimiento") == words("FECHA_DE_NACIMIENTO") == ["fecha", "de", "nacimiento"]
    assert words("Prénom") == words("prenom")


def test_keys():
    assert is_key("c_case_number") and not is_key_of_people("c_case_number")
    assert is_key_of_people("patient_id") and is_key_of_people("KundeNr") and is_key_of_people("id")
    assert not is_key("idle") and not is_key_of_people("code")
