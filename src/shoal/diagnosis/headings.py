"""Headings: what the name of a column says about its role, in the common languages of Europe.

A word that can only mean one thing speaks wherever it stands (`patient_ssn`, `Geburtsdatum`). A word that means
something else beside another one (`degree` in `c_charge_degree`, `last` in `last_visit`) speaks only when every other
word of the heading is one that leaves its meaning as it is. `year` and `date` are the last word of what they name, or
the first (`two_year_recid` is no year), and the values have the last say on both.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from shoal.core.schema import Role
from shoal.parsing.codes import words

Meaning = Literal["name", "number", "birth", "date", "year", "other"]
"""What a heading says that its values are: the name of a person, or an address; a number or account of a person; a date
of birth; another date; a year; anything else."""


class Heading(NamedTuple):
    """The role that a heading speaks for, the word that does, and what it says that the values are."""

    role: Role
    word: str
    meaning: Meaning


def _by_word(spelled: dict[tuple[Role, Meaning], str]) -> dict[str, tuple[Role, Meaning]]:
    return {word: key for key, text in spelled.items() for word in text.split()}


_CLEAR = _by_word(
    {
        (Role.IDENTIFIER, "name"): """
        surname firstname lastname forename fullname givenname familyname maidenname middlename nickname username
        login maiden vorname nachname familienname geburtsname rufname vollname prenom nomfamille apellido apellidos
        cognome sobrenome voornaam achternaam geboortenaam tussenvoegsel nazwisko fornamn efternamn fornavn efternavn
        etternavn etunimi sukunimi
        homeaddress streetaddress anschrift hausnummer strasse wohnadresse indirizzo endereco direccion huisnummer
        straatnaam
    """,
        (Role.IDENTIFIER, "number"): """
        email emailaddress courriel phone telephone telefon telefono telefone telefoon telefonnummer telefoonnummer
        handynummer mobile cellphone cellulare celular fax ssn nino nhs bsn burgerservicenummer aadhaar passport
        passnummer passeport pasaporte passaporto passaporte iban mrn imei uuid guid userid
        socialsecurity socialsecuritynumber steuernummer versichertennummer versicherungsnummer personalausweis
        socsec sozialversicherungsnummer svnr vsnr rvnr ahvnr krankenversichertennummer
        personnummer kontonummer matrikelnummer personalnummer patientennummer kundennummer nir dni nie curp cedula cpf
        nif codicefiscale codfiscale fingerprint numberplate licenseplate licenceplate nummernschild
    """,
        (Role.QUASI, "birth"): """
        birthdate birthday dob dateofbirth birth geburtsdatum geburtstag naissance datenaissance nacimiento nascita
        nascimento geboorte geboortedatum geburt
    """,
        (Role.QUASI, "other"): """
        age edad idade leeftijd lebensalter sex gender geschlecht sexe sexo sesso geslacht genero genere race ethnicity
        ethnic ethnie etnia raza zip zipcode postcode postal plz postleitzahl codepostal codigopostal codicepostale
        city wohnort ville ciudad citta cidade woonplaats county district municipality gemeinde gemeente municipio
        province provincia provincie bundesland nationality nationalite nacionalidad nazionalita nacionalidade
        nationaliteit nationalitaet staatsangehorigkeit citizenship birthplace geburtsort geburtsjahr birthyear
        yearofbirth geboorteplaats geboortejaar born marital familienstand matrimonial estadocivil
        statocivile burgerlijkestaat
        education ausbildung bildungsabschluss schulabschluss educacion istruzione opleiding occupation beruf profession
        profesion professione profissao beroep workclass employer arbeitgeber language sprache langue idioma lingua
        latitude longitude admission discharge nativecountry
    """,
        (Role.SENSITIVE, "other"): """
        disease diseases diagnosis diagnoses icd illness hiv symptom symptoms symptome symptomes symptomen sintomas
        sintomi medication medications medicine treatment infection infected covid therapy disability salary income
        wage earnings religion sexuality genetic conviction crime offence offense krankheit diagnose diagnosen gehalt
        einkommen lohn medikament behandlung therapie behinderung konfession maladie diagnostic salaire revenu
        traitement medicament enfermedad diagnostico salario ingresos tratamiento medicamento malattia diagnosi
        stipendio reddito trattamento farmaco doenca rendimento tratamento ziekte inkomen salaris behandeling medicijn
        godsdienst
    """,
    }
)
_BESIDE = _by_word(
    {
        (Role.IDENTIFIER, "name"): """
        name names first last middle given initials nom nombre nome naam address street adresse adres rue calle straat
        morada
    """,
        (Role.IDENTIFIER, "number"): """
        mail account card drivers licence license plate vin tel handy matricule correo konto
    """,
        (Role.QUASI, "other"): """
        alter eta state region town village stadt stad ort kreis bezirk departement comune concelho country land pays
        pais paese school degree job company department relationship household children siblings height weight groesse
        gewicht taille poids peso location place places lieu lugar luogo plaats civil bildung formation cap cp cep
    """,
        (Role.SENSITIVE, "other"): """
        condition drug pay faith politics political party union orientation credit debt loan balance grade score result
        outcome recidivism
    """,
    }
)
_TIMES = _by_word(
    {
        (Role.QUASI, "year"): "year jahr annee ano anno jaar",
        (Role.QUASI, "date"): "date datum fecha data day tag",
    }
)
_SPELLED_PEOPLE = """
    person people patient patients customer client user member employee student pupil teacher citizen respondent
    participant subject victim suspect defendant offender applicant owner holder contact guardian parent mother father
    child spouse partner husband wife doctor physician nurse worker staff voter resident tenant driver insured
    patientin kunde kundin mitglied schueler student mitarbeiter versicherter burger einwohner personne malade cliente
    paciente persona paziente utente pessoa aluno persoon klant medewerker leerling
    pat pt pts pers emp cust resp subj mem patienten kunden klienten mitglieder versicherten mitarbeiter probanden
    proband teilnehmer
"""
PEOPLE = frozenset(_SPELLED_PEOPLE.split())
"""Words for people, beside which a key names one."""
_SPELLED_FILLERS = """
    a an the of and der die das des du de del della do da la le el l d y e und et van her his my your home current
    native full legal family famille familia famiglia familie complete completo completa complet status level type
    group class category cat code text desc description value number no nr num id highest main primary line mailing
    postal permanent work person at test
"""
_FILLERS = PEOPLE | frozenset(_SPELLED_FILLERS.split())
_NAMES = frozenset(("name", "names", "nom", "nombre", "nome", "naam"))
"""What is called so beside the word for a thing, a town or a drug, is the thing."""
_IDS = frozenset(("id", "ids", "pid", "uid", "identifier", "identifiant", "identificador", "kennung"))
KEYS = _IDS | frozenset(("key", "number", "no", "nr", "num", "nummer", "numero", "code", "ref", "reference"))
"""Words of a key: they name a person beside a word for people, some also alone, all where values are almost unique."""
_HOUSEHOLDS = frozenset(("household", "households", "hh", "haushalt", "haushalts", "menage", "hogar", "huishouden"))
_HOUSEHOLD_KEYS = frozenset(("hid", "hhid", "hhnr", "hhno", "householdid", "haushaltsnummer", "haushaltsid"))
_ENDS, LONG_WORD = ("id", "num", "nummer", "number", "numero", "nr"), 4
"""How words that are put together end where they are keys, and the letters that other words with such an end have."""


def _tail(word: str) -> str:
    """The last part of a word that German or Dutch put together: that of `Testdatum` is `datum`."""
    return next((tail for tail in ("datum", "jahr", "jaar") if word.endswith(tail)), word)


def meaning_of(heading: str) -> Heading | None:
    """What a heading speaks for; direct identifiers come first.

    Example:
        >>> meaning_of("e_mail"), meaning_of("marital-status"), meaning_of("hours")
        (Heading(role=<Role.IDENTIFIER: 'identifier'>, word='email', meaning='number'),
         Heading(role=<Role.QUASI: 'quasi'>, word='marital', meaning='other'), None)
        >>> meaning_of("LAST").word, meaning_of("last_visit"), meaning_of("two_year_recid")
        ('last', None, None)
    """
    own = words(heading)
    pairs = ["".join(own[place : place + 2]) for place in range(len(own) - 1)]
    for role in (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE):
        idle = _FILLERS if role is Role.IDENTIFIER else _FILLERS | _NAMES
        rest = {word for word in own if _BESIDE.get(word, (None,))[0] is not role}
        tried = [
            *((word, _CLEAR) for word in ("".join(own), *pairs, *own)),
            *((word, _BESIDE) for word in own if rest <= idle),
            *((_tail(word), _TIMES) for word in own[-1:] + own[:1]),
        ]
        for word, known in tried:
            entry = known.get(word)
            if entry is not None and entry[0] is role:
                return Heading(role, word, entry[1])
    return None


def is_key(heading: str) -> bool:
    """Whether a heading is that of a key, or ends like one.

    Example:
        >>> [is_key(heading) for heading in ("product_id", "Fallnummer", "pidnum", "paid")]
        [True, True, True, False]
    """
    own = words(heading)
    return any(word in KEYS or (len(word) > LONG_WORD and word.endswith(_ENDS)) for word in own)


def is_key_of_people(heading: str) -> bool:
    """Whether a heading is that of a key of people, or of nothing but a key.

    Example:
        >>> [is_key_of_people(heading) for heading in ("patient_id", "ID", "product_id", "code")]
        [True, True, False, False]
    """
    own = set(words(heading))
    return bool(own & KEYS) and own <= KEYS | PEOPLE and bool(own & (PEOPLE | _IDS))


def is_key_of_households(heading: str) -> bool:
    """Whether a heading is that of a key of households.

    Example:
        >>> [is_key_of_households(heading) for heading in ("hhid", "household_no", "Haushaltsnummer", "household size")]
        [True, True, True, False]
    """
    own = set(words(heading))
    return bool(own & _HOUSEHOLD_KEYS) or (bool(own & _HOUSEHOLDS) and bool(own & KEYS) and own <= KEYS | _HOUSEHOLDS)


def is_hint_of_people(heading: str) -> bool:
    """Whether a heading has nothing but words of keys and words for people: what it determines tells which it is.

    Example:
        >>> [is_hint_of_people(heading) for heading in ("nr", "subject", "PatNr", "product_nr", "age")]
        [True, True, True, False, False]
    """
    own = set(words(heading))
    return bool(own) and own <= KEYS | PEOPLE


def is_of_people(heading: str) -> bool:
    """Whether a heading is nothing but a word for people, under which there are codes of people, or counts.

    Example:
        >>> [is_of_people(heading) for heading in ("patient", "Kunde", "patient_age", "ward")]
        [True, True, False, False]
    """
    own = set(words(heading))
    return bool(own) and own <= PEOPLE
