"""Headers: real ones are shown, first records are not, and names that no release could carry are refused."""

from __future__ import annotations

import copy
import csv
import io
import pickle

import pytest

from shoal import samples
from shoal.errors import InputError, Unshown, unknown_columns
from shoal.parsing.header import held_back, is_record, names

HEADERLESS = {
    "adult": "39,State-gov,77516,Bachelors,Male\n50,Self-emp,83311,HS-grad,Female\n",
    "names": "Mary Smith,flu,Boston\nJohn Doe,cancer,Chicago\nEve Adams,flu,Boston\n",
    "unique text": "Mary Smith,appendicitis\nJohn Doe,flu\n",
    "one line": "Mary Smith,appendicitis\n",
    "zips": "Ann,02139,F\nBob,02141,M\n",
    "dates": "Ann,1984-05-17\nBob,1990-01-01\n",
    "dmy": "Ann,17.05.1984\nBob,01.01.1990\n",
    "mail": "ann@example.org,Ann\nbob@example.org,Bob\n",
    "phone": "Ann,+44 20 7946 0958\nBob,+44 20 7946 0000\n",
    "ids": "P001,Ann,flu\nP002,Bob,cold\n",
    "icd": "Ann,E11.9\nBob,I10\nEve,J45.0\n",
    "missing": "Ann,NA,flu\nBob,31,cold\nEve,33,asthma\n",
    "address": "12 Main St,Ann Lee\n7 Elm Rd,Bob Ray\n",
    "upper": "SMITH,FLU\nJONES,ASTHMA\n",
    "lower": "smith,flu\njones,asthma\n",
    "passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n",
    "key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n",
    "json": '{"password": "hunter2",\n "user": "x"}\n',
    "config": "password=hunter2\nuser=root\n",
    "chinese": "张伟,北京,流感\n王芳,上海,感冒\n",
    "german": "Müller,Köln,Grippe\nSchmidt,Bonn,Krebs\nMeier,Köln,Asthma\n",
    "russian": "Иванов,Москва\nПетров,Казань\n",
    "uuid": "0f8fad5b-d9cb-469f-a165-70867728950e,Ann\n1f8fad5b-d9cb-469f-a165-70867728950e,Bob\n",
    "hash": "d41d8cd98f00b204e9800998ecf8427e,x\n0cc175b9c0f1b6a831c399e269772661,y\n",
    "salary": "Ann,$52000\nBob,$41000\n",
    "bool": "Ann,true\nBob,false\n",
}
HEADERS = {
    "en": "name,age,sex,zip,disease\nAnn,31,F,02139,flu\nBob,32,M,02141,cold\n",
    "Title": "Full Name,City,Disease\nMary Smith,Boston,Flu\nJohn Doe,Chicago,Asthma\n",
    "UPPER": "PATIENT,DIAG,CITY\nSMITH,FLU,BOSTON\nJONES,ASTHMA,CHICAGO\n",
    "lower text": "surname,illness\nsmith,flu\njones,flu\n",
    "de": "Nachname,Geschlecht,Wohnort\nMüller,Weiblich,Köln\nMeier,Männlich,Bonn\n",
    "fr": "Nom,Prénom,Maladie\nDupont,Marie,Grippe\nDurand,Jean,Asthme\n",
    "es": "apellido,ciudad,enfermedad\ngarcía,madrid,gripe\n",
    "it": "cognome,città,malattia\nrossi,roma,influenza\n",
    "nl": "achternaam,woonplaats\njansen,utrecht\n",
    "pl": "nazwisko,miasto\nkowalski,kraków\n",
    "ru": "фамилия,город\nиванов,москва\n",
    "zh": "姓名,城市,疾病\n张伟,北京,流感\n",
    "ja": "氏名,性別\n山田,男\n",
    "ar": "الاسم,المدينة\nأحمد,القاهرة\n",
    "survey": "q1,q2,q3\nyes,no,yes\nno,no,yes\n",
    "vars": "x1,x2,y\n0.1,0.2,a\n0.3,0.4,b\n",
    "units": "Height (cm),Weight (kg),Income ($)\n170,60,50000\n",
    "question": "What is your age?,Do you smoke?\n31,Yes\n32,No\n",
    "years": "country,region,2019\nFrance,Europe,12\nItaly,Europe,13\n",
    "icd10": "ICD10,name\nE11,Diabetes\nI10,Hypertension\n",
    "unnamed": "Unnamed: 0,a,b\n0,x,y\n1,z,w\n",
    "iris": "sepal.length,sepal.width,variety\n5.1,3.5,Setosa\n4.9,3.0,Setosa\n",
    "titanic": "PassengerId,Survived,Pclass,Sex,Ticket\n1,0,3,male,A/5 21171\n2,1,1,female,PC 17599\n",
    "mixed": "grp,val\na,1\nb,2\n",
    "snake": "patient_group,hospital_ward\nA,B\nC,D\n",
    "twocol": "a,b\n1,2\n3,4\n",
    "header only": "age,sex\n",
    "single": "age\n30\n31\n",
    "German umlaut": "größe,gewicht\n170,60\n",
    "hours": "capital-gain,hours-per-week,native-country\n0,40,United-States\n",
    "one hot": "city,smoker_yes,smoker_no\nBonn,1,0\n",
    "codes": "code;\nx;\n",
}


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("case", HEADERLESS)
def test_a_first_record_is_no_header(case: str) -> None:
    header, *records = rows(HEADERLESS[case])
    assert is_record(header, records)
    shown = str(unknown_columns(["who"], held_back(tuple(header), records)))
    assert f"its {len(header)} fields are not shown" in shown
    assert not any(len(cell) > 3 and cell in shown for cell in header)


@pytest.mark.parametrize("case", HEADERS)
def test_a_header_is_shown(case: str) -> None:
    header, *records = rows(HEADERS[case])
    assert not is_record(header, records)
    shown = str(unknown_columns(["who"], held_back(tuple(header), records)))
    assert all(name in shown for name in header)


@pytest.mark.parametrize("name", [name for name in samples.names() if name != "census"])
def test_our_samples_with_and_without_their_headers(name: str) -> None:
    table = getattr(samples, name.replace("-", "_"))()
    header, *records = rows(table.head(500).write_csv())
    assert not is_record(header, records)
    assert all(is_record(record, records[place + 1 :]) for place, record in enumerate(records[:3]))


def test_values_of_a_first_record_come_back_further_down() -> None:
    records = [["mumps", "none yet"], ["flu", "fine so far"]] * 400
    assert is_record(["flu", "Anything at all"], records)
    assert not is_record(["ailment", "Anything at all"], records)


def test_ragged_records_are_no_reason_to_stop_looking() -> None:
    assert is_record(["Ann", "E11"], [["Bob"], ["Eve", "I10", "x"], [], ["Joe", "J45"]])


def test_names_are_trimmed() -> None:
    assert names(["\ufeff age ", "\tsex", "\u00a0zip code\u00a0"], "it") == ("age", "sex", "zip code")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (["age", " ", ""], "2 of 3 columns have no name"),
        (["age", "x" * 256], "1 of 2 columns have a name of more than 255"),
        (["a\nb", "c\x1b[31m", "d\u202e", "e\udc80", "f"], "4 of 5 columns have a name with control characters"),
        (["a\ufeffb"], "1 of 1 columns have a name with control characters"),
        (["age", " age", "sex", "sex"], "column 'age' occurs 2 times, column 'sex' occurs 2 times"),
    ],
)
def test_names_that_no_release_could_carry(header: list[str], reason: str) -> None:
    with pytest.raises(InputError, match=reason) as refused:
        names(header, "it")
    assert str(refused.value).isprintable()


def test_an_unshown_name_is_a_name_like_any_other() -> None:
    name = Unshown("Ann", 3)
    assert name == "Ann" and {name: 1}["Ann"] == 1 and repr(name) == "number 3"
    for again in (pickle.loads(pickle.dumps(name)), copy.deepcopy(name)):
        assert again == "Ann" and repr(again) == "number 3"


def test_names_that_were_asked_for_are_printable() -> None:
    shown = str(unknown_columns(["\x1b[31m\nred", "x" * 500], ["age"]))
    assert shown.isprintable() and len(shown) < 300 and "the table has 'age'" in shown


def test_names_that_occur_twice_are_not_shown_where_the_header_is_a_record() -> None:
    with pytest.raises(InputError, match="column number 1 occurs 3 times; rename them") as refused:
        names(["Ann", "31", "Ann", "Ann"], "it", [["Bob", "44", "Eve", "Joe"]])
    assert "Ann" not in str(refused.value)


def test_names_are_numbered_where_no_other_column_is_called_so() -> None:
    header = ["x", " x", "x.1", "y", "x", "x.1"]
    assert names(header, "it", rename=True) == ("x", "x.2", "x.1", "y", "x.3", "x.1.1")
