"""Files that are no table: one error, and nothing else of them; the page goes on with the next one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from serving import Served

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000") + bytes(range(256)) * 4
LOCKED = (Path(__file__).parent / "locked.xlsx").read_bytes()
"""A workbook of two columns, encrypted with a password as Excel does it."""


def send(page: Served, name: str, content: bytes) -> None:
    body = b'--b\r\nContent-Disposition: form-data; name="table"; filename="%s"\r\n\r\n%s\r\n--b--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    page.ask("/open", method="POST", body=body % (name.encode(), content), headers=headers)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("photo.png", PNG, "photo.png"),
        ("photo.csv", PNG, "photo.csv"),
        ("nothing.csv", b"", "empty"),
        ("nothing.xlsx", b"", "empty"),
        ("header.csv", b"age,sex\n", "no record"),
        ("secret.xlsx", LOCKED, "password"),
    ],
)
def test_one_error_and_nothing_else(serving: Any, name: str, content: bytes, why: str) -> None:
    page = serving()
    send(page, name, content)
    told = page.facts("/exposed.json", panel="exposure")["exposure"]
    assert told["state"] == "failed" and why in told["task"]["error"], told
    text = page.ask("/exposed")[2]
    assert text.count('role="alert"') == 1 and text.count('class="panel"') == 1 and 'id="drop"' in text
    assert 'id="columns"' not in text and 'id="preview"' not in text and '<a href="/why"' not in text
    assert "PNG" not in told["task"]["error"] and "IHDR" not in text
    assert page.ask("/why")[1]["location"] == "/exposed"
    send(page, "good.csv", b"age,sex\n" + b"30,f\n31,m\n" * 20)
    assert page.facts("/exposed.json", panel="exposure")["exposure"]["state"] == "ready"
    assert 'id="columns"' in page.ask("/exposed")[2]
