"""Tables that are none: a clear error, exit code 2, no cell's value, nothing written."""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import pytest
from canary_table import BODY, CANARY, HEADER, NUMERIC_CANARY, ROLES
from counts import LONG

BAD = {
    "empty": (b"", "is empty"),
    "only blanks": (b"\n \n\n", "is empty"),
    "header only": (HEADER.encode(), "no record"),
    "header without newline": (HEADER.strip().encode(), "no record"),
    "a name twice": (HEADER.replace("sex", "age").encode() + BODY.encode(), "column 'age' occurs 2 times"),
    "a name twice but for blanks": (
        HEADER.replace("sex", " age ").encode() + BODY.encode(),
        "column 'age' occurs 2 times",
    ),
    "a nameless column": (HEADER.replace("sex", "").encode() + BODY.encode(), "no name"),
    "too many fields": ((HEADER + BODY + f"x,1,F,04000,{CANARY},{CANARY}\n").encode(), "1 rows have another number"),
    "too few fields": ((HEADER + BODY + f"x,1,F,{CANARY}\n{CANARY}\n").encode(), "2 rows have another number"),
    "fewer names than fields": ((HEADER.replace("name,", "") + BODY).encode(), "no column named"),
    "an open quotation mark": ((HEADER + f'x,1,"{CANARY},\n' + BODY).encode(), ""),
    "binary garbage": (bytes(range(256)) * 64, "not a text file"),
    "garbage without a zero byte": (bytes(range(128, 256)) * 64 + CANARY.encode(), ""),
    "zero bytes": ((HEADER + BODY).replace("flu", "f\0u").encode(), "not a text file"),
    "a zero byte after the sample": ((HEADER + BODY * 900 + "x,1,\0,04000,flu\n").encode(), "zero bytes"),
    "a broken gzip": (gzip.compress((HEADER + BODY * 50).encode())[:-700], "decompressed"),
    "a gzip of nothing but its magic": (b"\x1f\x8b" + CANARY.encode(), "decompressed"),
    "not its encoding further on": ((HEADER + BODY * 900).encode() + b"x,1,\xff\xfe,1,flu\n", "encoding"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused(case: str, tmp_path: Path, shoal) -> None:
    content, reason = BAD[case]
    source, target = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_bytes(content)
    for command in (("diagnose", source), ("anonymize", source, "-o", target, "--k", 2)):
        ran = shoal(*command, *ROLES)
        assert ran.code == 2, ran
        assert ran.err.startswith("error: ") and reason in ran.err
        assert ran.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    assert source.read_bytes() == content


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("content", [b"", b"PAR1", CANARY.encode() * 99, b"ARROW1\0\0" + bytes(80)])
def test_a_bad_binary_table_is_refused(ending: str, content: bytes, tmp_path: Path, shoal) -> None:
    source = tmp_path / f"people.{ending}"
    source.write_bytes(content)
    ran = shoal("diagnose", source, *ROLES)
    assert ran.code == 2 and "people" in ran.err


def test_no_table_at_all(tmp_path: Path, shoal) -> None:
    assert "no such file" in shoal("diagnose", tmp_path / "none.csv", *ROLES).err
    assert "folder" in shoal("diagnose", tmp_path, *ROLES).err
    assert shoal("diagnose", *ROLES).code == 2
    assert shoal("diagnose", "/dev/null", *ROLES).code == 2


@pytest.mark.parametrize(
    ("place", "packed"),
    list(product(("first", "later"), (False, True))) if LONG else [("first", False), ("later", True)],
)
def test_a_line_of_200_megabytes(place: str, packed: bool, tmp_path: Path, shoal) -> None:
    source = tmp_path / ("people.csv.gz" if packed else "people.csv")
    with gzip.open(source, "wb", compresslevel=1) if packed else source.open("wb") as file:
        if place == "later":
            file.write((HEADER + BODY).encode())
        for _ in range(200):
            file.write(b"x" * (1 << 20))
    ran = shoal("diagnose", source, *ROLES)
    source.unlink()
    assert ran.code == 2 and "longer than" in ran.err


@pytest.mark.parametrize(
    ("roles", "reason"),
    [
        (("--quasi", "age,salary"), "no column named 'salary'"),
        (("--quasi", "age", "--sensitive", "age"), "listed twice"),
        (("--quasi", "age,age"), "listed twice"),
        (("--quasi", "age", "--identifiers", "age"), "listed twice"),
        (("--quasi", "age", "--kind", "sex=numeric", "--sensitive", "sex"), "not numbers"),
        (("--quasi", "age", "--kind", "zip=date", "--sensitive", "zip"), "not dates"),
        (("--quasi", "age", "--kind", "age=colour"), "unknown kind"),
        (("--quasi", "age", "--kind", "age"), "write --kind as"),
        (("--quasi", "age", "--kind", "salary=text"), "no column named 'salary'"),
        (("--quasi", "age", "--missing-rule", "age=maybe"), "missing-value rule"),
        (("--quasi", "age", "--hierarchies", "nowhere"), "does not exist"),
        (("--quasi", "age", "--hierarchy", "age=nowhere.csv"), "cannot be read"),
        (("--quasi", "age", "--hierarchy", "salary=intervals:width=5"), "no column named 'salary'"),
        (("--quasi", "age", "--hierarchy", "age=intervals:width=0"), "greater than 0"),
        (("--quasi", "age", "--hierarchy", "age=intervals:width"), "key=value"),
        (("--quasi", "age", "--hierarchy", "age=intervals"), "needs width"),
        (("--quasi", "age", "--hierarchy", "age=intervals:breadth=5"), "no parameter 'breadth'"),
        (("--quasi", "age", "--delimiter", "ab"), "one character"),
        (("--quasi", "age", "--delimiter", "§"), "one character"),
        (("--quasi", "age", "--delimiter", ""), "one character"),
        (("--quasi", "age", "--encoding", "klingon"), "klingon"),
        (("--quasi", "age", "--encoding", "utf-16"), "utf-16"),
    ],
)
def test_wrong_roles_and_settings(roles: tuple[str, ...], reason: str, table: Path, shoal) -> None:
    ran = shoal("diagnose", table, *roles)
    assert ran.code == 2 and reason in ran.err


@pytest.mark.parametrize(("roles", "reason"), [(("--sensitive", "disease"), "quasi"), ((), "no column has a role")])
def test_a_release_needs_quasi_identifiers(roles: tuple[str, ...], reason: str, table: Path, shoal) -> None:
    target = table.with_name("out.csv")
    ran = shoal("anonymize", table, "-o", target, "--k", "2", *roles)
    assert ran.code == 2 and reason in ran.err and not target.exists()


def test_a_table_without_a_header_is_not_recited(tmp_path: Path, shoal) -> None:
    source = tmp_path / "people.csv"
    source.write_text(f"{CANARY},39,State-gov\n{CANARY},{NUMERIC_CANARY},Private\n")
    ran = shoal("diagnose", source, "--quasi", "age")
    assert ran.code == 2 and "'age'" in ran.err and "header" in ran.err
    source.write_text(f'name,"sex\n{CANARY},F\n{CANARY},M\n')
    ran = shoal("diagnose", source, "--quasi", "age")
    assert ran.code == 2 and "1 of 2 columns" in ran.err and "header" in ran.err
    source.write_text(f"Ann,{CANARY},flu\nBob,Frost,flu\n")
    for roles in (("--quasi", "age"), ("--quasi", "Ann", "--kind", "age=text"), ("--quasi", "Ann,age")):
        ran = shoal("diagnose", source, *roles)
        assert ran.code == 2 and "its 3 fields are not shown" in ran.err
    ran = shoal("diagnose", source, "--quasi", CANARY, "--kind", f"{CANARY}=numeric")
    assert ran.code == 2 and "column number 2 is said to be numeric" in ran.err


def _with_open_quotes(column: int, at: int, rows: int, line_end: str, closed: bool) -> bytes:
    """A table of five columns in which a quotation mark opens in one record and closes in a later one, or never."""
    records = [[f"{CANARY}{row}", str(20 + row % 50), "F", "04000", "flu"] for row in range(rows)]
    records[at][column] = '"' + records[at][column]
    if closed:
        records[at + 20][column] += '"'
    return line_end.join(["name,age,sex,zip,disease", *(",".join(record) for record in records), ""]).encode()


EVERYWHERE = list(product((0, 2, 4), (3, 3000), ("\n", "\r\n")))
SOME = [(0, 3, "\n"), (0, 3000, "\r\n"), (2, 3, "\r\n"), (2, 3000, "\n"), (4, 3, "\n"), (4, 3000, "\r\n")]


@pytest.mark.parametrize(("column", "at", "line_end"), EVERYWHERE if LONG else SOME)
def test_a_quotation_mark_that_swallows_rows_is_told(column: int, at: int, line_end: str, table: Path, shoal) -> None:
    table.write_bytes(_with_open_quotes(column, at, 4000, line_end, closed=True))
    name = ["name", "age", "sex", "zip", "disease"][column]
    ran = shoal("diagnose", table, "--quasi", name, "--kind", f"{name}=text")
    assert ran.code == 2 and "1 fields hold whole rows, 20 together; is a quotation mark left open?" in ran.err
    ran = shoal("anonymize", table, "-o", table.with_name("out.csv"), "--quasi", "zip", "--k", "1")
    assert ran.code == 2 and "quotation mark" in ran.err and not table.with_name("out.csv").exists()


def test_a_quotation_mark_that_swallows_all_the_rest_is_told(table: Path, shoal) -> None:
    table.write_bytes(_with_open_quotes(4, 1000, 4000, "\n", closed=False))
    ran = shoal("diagnose", table, "--quasi", "disease")
    assert ran.code == 2 and "2,999 together; is a quotation mark left open?" in ran.err


def test_texts_of_several_lines_are_no_rows(table: Path, shoal) -> None:
    letter = "Dear a, b, c,\n\nthe results, as said, are in, and fine, so far,\nsee you, on Monday, 5,\nDr, X, Y, Z"
    listed = "\n".join(["a,b,c"] * 9)
    table.write_text("group,note,list\n" + f'g,"{letter}","{listed}"\nh,"{letter}\n","{listed}\n"\n' * 9)
    assert shoal("diagnose", table, "--quasi", "note,list,group").code == 0


def test_a_file_that_mixes_encodings_is_told(table: Path, shoal) -> None:
    utf8, western = "Zoë,31\n".encode(), "Zoë,31\n".encode("cp1252")
    plain = b"Zoe,31\n" * 200_000
    for content, reason in (
        (utf8 * 50 + western * 3 + utf8 * 50, "3 lines are not utf-8 and others are"),
        (western * 50 + utf8 * 3, "50 lines are not utf-8 and others are"),
        (utf8 + plain + western * 4, "4 lines are not utf-8 and others are"),
        (plain + western * 4 + utf8, "4 lines are not utf-8 and others are"),
        (western + plain + utf8 * 5, "1 values of column 'name' are utf-8"),
    ):
        table.write_bytes(b"name,age\n" + content)
        ran = shoal("diagnose", table, "--quasi", "name")
        assert ran.code == 2 and reason in ran.err and "name its encoding" in ran.err
    assert shoal("diagnose", table, "--quasi", "name", "--encoding", "cp1252").code == 0


SECRETS = {
    "passwd": "root:x:0:0:{0}:/root:/bin/bash\ndaemon:x:1:1:{0}:/:/bin/sh\n",
    "key": "-----BEGIN OPENSSH PRIVATE KEY-----\n{0}b3BlbnNzaC1rZXk\n{0}AAAABG5vbm\n",
    "settings": "password={0}\nuser=root\n",
    "toml": "[database]\n{0} = 5\n",
    "broken toml": "password = {0}\n",
    "other toml": "[input]\npath = '{0}",
    "json": '{{"password": "{0}", "user": ["{0}"]}}',
    "yaml": "password: {0}\nuser: root\n",
    "latin": "password = 'ÿ{0}'",
}


ENDINGS = ("csv", "toml", "json", "txt")
TURNS = [(secret, ENDINGS[(place + more) % 4]) for place, secret in enumerate(SECRETS) for more in (0, 2)]


@pytest.mark.parametrize(("secret", "ending"), list(product(SECRETS, ENDINGS)) if LONG else TURNS)
def test_another_file_in_the_place_of_one_is_not_recited(secret: str, ending: str, table: Path, shoal) -> None:
    other = table.with_name(f"other.{ending}")
    other.write_text(SECRETS[secret].format(CANARY), encoding="latin-1")
    job = table.with_name("job.toml")
    job.write_text(f"[input]\npath = 'people.csv'\nhierarchies = '{other.name}'\n[columns.age]\nrole = 'quasi'\n")
    for arguments in (
        (other, "--quasi", "age"),
        ("--job", other),
        (table, "--quasi", "age", "--hierarchies", other),
        (table, "--quasi", "age", "--hierarchy", f"age={other}"),
        (table, "--quasi", "age", "--hierarchy", f"age=tree:path={other}"),
        (table, "--quasi", "age", "--hierarchy", f"age=table:path={other}"),
        ("--job", job),
    ):
        ran = shoal("diagnose", *arguments)
        assert ran.code == 2 and ran.err.startswith("error: ") and "BEGIN" not in ran.err and "root" not in ran.err


def test_k_beyond_the_number_of_records(table: Path, tmp_path: Path, shoal) -> None:
    target = tmp_path / "out.csv"
    ran = shoal("anonymize", table, "-o", target, *ROLES, "--k", 61, "--json")
    assert ran.code == 3 and "60 records" in ran.err
    assert not target.exists()
    assert shoal("diagnose", table, *ROLES, "--k", 61).code == 1
    assert shoal("anonymize", table, "-o", target, *ROLES, "--k", 60).code == 0


@pytest.mark.parametrize("k", ["0", "-3", "many", "2.5"])
def test_no_k_at_all(k: str, table: Path, tmp_path: Path, shoal) -> None:
    assert shoal("anonymize", table, "-o", tmp_path / "out.csv", *ROLES, "--k", k).code == 2


@pytest.mark.parametrize("suppression", ["-0.1", "1.1", "nan"])
def test_no_share_at_all(suppression: str, table: Path, tmp_path: Path, shoal) -> None:
    options = ("--k", 2, "--suppression", suppression)
    assert shoal("anonymize", table, "-o", tmp_path / "out.csv", *ROLES, *options).code == 2


def test_no_policy(table: Path, tmp_path: Path, shoal) -> None:
    ran = shoal("anonymize", table, "-o", tmp_path / "out.csv", *ROLES)
    assert ran.code == 2 and "privacy model" in ran.err


def test_only_missing_values(tmp_path: Path, shoal) -> None:
    source, target = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_text("age,sex,disease\n" + ",,\n" * 20 + ",F,\n" * 20)
    roles = ("--quasi", "age,sex", "--sensitive", "disease")
    assert shoal("diagnose", source, *roles, "--k", 20).code == 0
    assert shoal("anonymize", source, "-o", target, *roles, "--k", 5).code == 0
    assert shoal("verify", target).code == 0
    assert shoal("evaluate", source, target, *roles).code == 0
    refused = shoal("diagnose", source, *roles, "--missing-rule", "age=refuse")
    assert refused.code == 2 and "lacks a value in 40 of 40" in refused.err
    dropped = shoal("diagnose", source, *roles, "--missing-rule", "age=drop")
    assert dropped.code == 2 and "leave no record" in dropped.err
    assert shoal("diagnose", source, *roles, "--missing-rule", "sex=drop", "--k", 20).code == 0


def test_nothing_but_missing_values(tmp_path: Path, shoal) -> None:
    source, target = tmp_path / "people.csv", tmp_path / "out.csv"
    source.write_text("age,sex\n" + ",\n" * 20)
    assert shoal("anonymize", source, "-o", target, "--quasi", "age,sex", "--k", 5).code == 0
    assert shoal("verify", target).code == 0


def test_a_second_k_is_not_forgotten(table: Path, tmp_path: Path, shoal) -> None:
    output = tmp_path / "release.csv"
    ran = shoal("anonymize", table, "-o", output, *ROLES, "--k", "2", "--model", "k-anonymity:k=3")
    assert ran.code == 2 and "k-anonymity is given twice" in ran.err
    assert not output.exists()
