"""Who may talk to the page, and what it tells them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import polars as pl
import pytest
import uvicorn

from shoal.errors import InputError, ParameterError
from shoal.ledger import Ledger
from shoal.publishing.signing import SigningKey
from shoal.web.server import check_address, open_socket, serve
from shoal.web.session import PageSession

CSV = "name,age,city\nJane Doe,41,Graz\nJohn Roe,42,Linz\nAnn Poe,43,Graz\n"


@pytest.fixture
def served(serving, tmp_path: Path):
    file = tmp_path / "people.csv"
    file.write_text(CSV)
    return serving(file)


def test_without_the_token_nobody_gets_in(served) -> None:
    for path in ("/", "/exposed", "/exposed.json", "/work.json", "/?token=wrong", "/?token="):
        status, headers, text = served.ask(path, signed=False)
        assert status == 403 and "set-cookie" not in headers and "people.csv" not in text, path


def test_a_token_opens_once_and_the_next_is_printed(served) -> None:
    status, headers, _ = served.ask(f"/?token={served.token}", signed=False)
    assert status == 303 and headers["location"] == "/"
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie
    assert served.ask(f"/?token={served.token}", signed=False)[0] == 403
    assert served.gate.token in served.printed[-1] and served.gate.token != served.token


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example:{port}", ""])
def test_another_name_for_this_machine_is_refused(served, host: str) -> None:
    status, _, text = served.ask("/exposed", headers={"Host": host.format(port=served.port)})
    assert status == 421 and "people.csv" not in text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_only_the_page_itself_changes_anything(served, headers: dict[str, str]) -> None:
    before = served.session.language
    status, _, _ = served.ask("/language", method="POST", body=b"language=de", headers=headers)
    assert status == 403 and served.session.language is before
    assert served.post("/language", language="de")[0] == 303 and served.session.language == "de"


def test_other_ways_to_ask_are_refused(served) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert served.ask("/exposed", method=method)[0] == 405


def test_every_answer_forbids_scripts_from_elsewhere_and_frames(served) -> None:
    for path in ("/exposed", "/assets/page.css", "/nothing", "/?token=wrong"):
        _, headers, _ = served.ask(path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    assert served.ask("/exposed")[1]["cache-control"] == "no-store"


def test_no_cell_is_on_the_page_until_somebody_asks(served) -> None:
    served.facts("/exposed.json", panel="exposure")
    for path in ("/exposed", "/exposed.json"):
        text = served.ask(path)[2]
        assert "age" in text and "Jane" not in text and "Graz" not in text
    assert "Jane Doe" in served.ask("/exposed?preview=yes")[2]


def test_an_error_that_nobody_expected_tells_no_value(served, capfd: pytest.CaptureFixture[str]) -> None:
    def breaks() -> None:
        raise RuntimeError("Jane Doe")

    served.session.look = breaks
    status, _, text = served.ask("/exposed?preview=yes")
    assert status == 500 and "RuntimeError" in text and "Jane" not in text
    printed = capfd.readouterr()
    assert "Jane" not in printed.out + printed.err


def test_assets_are_only_those_of_the_page(served) -> None:
    assert served.ask("/assets/page.css", signed=False)[0] == 200
    for path in ("/assets/..%2fserver.py", "/assets/../server.py", "/assets/%2e%2e/messages.toml", "/assets/none.js"):
        assert served.ask(path)[0] == 404, path


def test_a_password_stands_in_for_the_token(serving) -> None:
    served = serving(password="correct horse")
    status, headers, _ = served.ask("/exposed", signed=False)
    assert (status, headers["location"]) == (303, "/sign-in")
    assert served.ask(f"/?token={served.token}", signed=False)[1].get("set-cookie") is None
    wrong = served.ask("/sign-in", method="POST", body=b"password=guess", headers={"Origin": served.base}, signed=False)
    assert wrong[0] == 403 and "set-cookie" not in wrong[1]
    right = served.ask(
        "/sign-in", method="POST", body=b"password=correct+horse", headers={"Origin": served.base}, signed=False
    )
    assert right[0] == 303 and "samesite=strict" in right[1]["set-cookie"].lower()


def test_addresses_that_others_reach_need_a_password() -> None:
    check_address("127.0.0.1", None)
    check_address("localhost", None)
    check_address("192.168.1.20", "secret")
    with pytest.raises(ParameterError, match="password"):
        check_address("192.168.1.20", None)
    with pytest.raises(ParameterError, match="every address"):
        check_address("0.0.0.0", "secret")


def test_a_port_that_is_taken_is_said_or_the_next_one_is_found() -> None:
    first = open_socket("127.0.0.1", None)
    port = first.getsockname()[1]
    with pytest.raises(InputError, match=f"port {port} is taken"):
        open_socket("127.0.0.1", port)
    second = open_socket("127.0.0.1", None)
    assert second.getsockname()[1] != port
    first.close()
    second.close()


@pytest.fixture
def remote(serving, tmp_path: Path):
    """A page for visitors, who sit at other machines."""
    pl.DataFrame({"age": [30, 31] * 20, "sex": ["f", "m"] * 20, "ill": ["a", "b"] * 20}).write_csv(tmp_path / "p.csv")
    page = serving(tmp_path / "p.csv")
    page.session.local = False
    page.facts("/exposed.json", panel="exposure")
    page.post("/exposed/role", column=0, role="quasi")
    return page


def test_a_visitor_can_name_no_file_of_the_machine(remote, tmp_path: Path) -> None:
    key, ledger, folder = tmp_path / "holder.pem", tmp_path / "people.ledger", tmp_path / "out"
    SigningKey.new().save(key)
    folder.mkdir()
    (tmp_path / "age.csv").write_text("30;*\n31;*\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for named in ({"sign": key}, {"ledger": ledger}, {"sign": tmp_path / "none"}, {"ledger": "/proc/self/environ"}):
        remote.post("/hand-over/make", name="release.csv", **named)
        (option,) = named
        assert remote.session.order is None and f"--{option}" in remote.ask("/hand-over")[2]
    for rule in ("table", "tree"):
        asked = urlencode({"column": 0, "rule": rule, "path": tmp_path / "age.csv"})
        remote.ask("/give-up/rule", method="POST", body=asked.encode())
        assert remote.session.job.columns["age"].hierarchy is None
    remote.post("/hand-over/make", name="release.csv")
    assert remote.facts("/hand-over.json", panel="package")["package"]["state"] == "ready"
    remote.post("/hand-over/save", folder=folder)
    remote.post("/hand-over/key", key=folder / "new.pem")
    pages = [remote.ask(path)[2] for path in ("/hand-over", "/hand-over.json", "/hand-over/file?name=job.toml")]
    assert not any(str(tmp_path) in page for page in pages)
    assert not any(f'name="{field}"' in pages[0] for field in ("sign", "ledger", "folder", "passphrase"))
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and "private" not in path.parts}
    assert after == before


def test_a_visitor_signs_and_enters_with_what_the_page_was_started_with(remote, tmp_path: Path) -> None:
    key, ledger = SigningKey.new(), tmp_path / "people.ledger"
    remote.session.signer, remote.session.ledger = key, ledger
    page = remote.ask("/hand-over")[2]
    assert key.public.fingerprint in page and "people.ledger" in page
    assert 'name="allow_unjudged"' not in page
    remote.post("/hand-over/make", name="release.csv", signed="1", allow_unjudged="release:this")
    assert remote.session.order is None and "only whoever runs this page" in remote.ask("/hand-over")[2]
    remote.post("/hand-over/make", name="release.csv", signed="1")
    told = remote.facts("/hand-over.json", panel="package")["package"]
    assert told["state"] == "ready" and told["signed_by"] == key.public.fingerprint
    assert len(Ledger(ledger).entries()) == 1
    assert "people.ledger" not in remote.ask("/hand-over/file?name=job.toml")[2]


@pytest.mark.parametrize(("host", "password", "local"), [
    ("127.0.0.1", None, True), ("127.0.0.1", "secret", False), ("127.0.0.2", None, False),
])  # fmt: skip
def test_only_somebody_at_the_machine_without_a_password_is_local(
    host: str, password: str | None, local: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[PageSession] = []

    def stopped_at_once(self: uvicorn.Server, sockets: object = None) -> None:
        raise KeyboardInterrupt

    made = PageSession.__init__
    monkeypatch.setattr(PageSession, "__init__", lambda self, folder: (started.append(self), made(self, folder))[1])
    monkeypatch.setattr("uvicorn.Server.run", stopped_at_once)
    serve(host=host, port=0, password=password, browser=False, announce=lambda text: None)
    assert [session.local for session in started] == [local]
    assert not started[0].folder.exists()
