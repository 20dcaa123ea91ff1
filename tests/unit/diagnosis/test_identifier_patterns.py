"""Patterns of identifiers: published examples pass, one changed digit does not."""

from __future__ import annotations

import random

import pytest

from shoal.diagnosis import identifier_patterns

# Examples that issuers publish, or that are made of their rules; none belongs to a person.
EXAMPLES = {
    "e-mail addresses": ["someone@example.org"],
    "URLs": ["https://example.org/a?b=c", "www.example.org"],
    "UUIDs": ["123e4567-e89b-12d3-a456-426614174000"],
    "MAC addresses": ["00:1A:2b:3c:4D:5e", "00-1A-2B-3C-4D-5E"],
    "IP addresses": ["192.0.2.1", "2001:db8::1"],
    "IBANs": ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000", "NL91ABNA0417164300"],
    "card numbers": ["4111 1111 1111 1111", "5500005555555559", "371449635398431"],
    "US social security numbers": ["078-05-1120"],
    "UK national insurance numbers": ["AB 12 34 56 C"],
    "NHS numbers": ["943 476 5919"],
    "Swedish personal numbers": ["811218-9876", "198112189876"],
    "Finnish personal codes": ["131052-308T"],
    "Norwegian birth numbers": ["15021951940"],
    "Dutch citizen service numbers": ["111222333", "123456782"],
    "Italian fiscal codes": ["RSSMRA85T10A562S"],
    "Spanish identity numbers": ["12345678Z", "X1234567L"],
    "French social security numbers": ["2 55 08 14 168 025 38"],
    "German tax numbers": ["86095742719"],
    "Polish PESEL numbers": ["44051401359"],
    "Brazilian CPF numbers": ["111.444.777-35"],
    "Aadhaar numbers": ["2341 2341 2346"],
    "German pension insurance numbers": ["65 170839 J 003", "15070649C103"],
    "German health insurance numbers": ["A123456780"],
    "Austrian social insurance numbers": ["1237 010180"],
    "Swiss social insurance numbers": ["756.9217.0769.85"],
    "street addresses": ["12 rue de la Paix", "Hauptstraße 12a", "2009 W. 6th St.", "Calle Mayor 5"],
    "coordinates": ["48.2082, 16.3738", "POINT (16.3738 48.2082)"],
    "phone numbers": ["+31 20 624 1111", "(212) 555-0100", "0201234567", "212-555-0100"],
}
CHECKED = [name for name in EXAMPLES if name not in (
    "e-mail addresses", "URLs", "UUIDs", "MAC addresses", "IP addresses", "US social security numbers",
    "UK national insurance numbers", "street addresses", "coordinates", "phone numbers",
)]  # fmt: skip


def test_every_form_has_an_example():
    assert EXAMPLES.keys() == identifier_patterns.PATTERNS.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_published_examples_pass(name):
    for text in EXAMPLES[name]:
        assert identifier_patterns.PATTERNS[name](text)


@pytest.mark.parametrize("name", CHECKED)
def test_a_changed_digit_fails_the_checksum(name):
    for text in EXAMPLES[name]:
        for place, sign in enumerate(text):
            if sign.isdigit():
                changed = text[:place] + str((int(sign) + 1) % 10) + text[place + 1 :]
                assert not identifier_patterns.PATTERNS[name](changed)


@pytest.mark.parametrize("text", ["", "x", "39", "Bachelors", "77516", "2020-01-31", "1.5", "United-States", "é", "0"])
def test_ordinary_values_have_no_form(text):
    assert [name for name, form in identifier_patterns.PATTERNS.items() if form(text)] == []


def test_random_numbers_rarely_have_a_form():
    generator = random.Random(1)
    for length in range(5, 17):
        texts = [str(generator.randrange(10 ** (length - 1), 10**length)) for _ in range(300)]
        for name, form in identifier_patterns.PATTERNS.items():
            assert sum(form(text) for text in texts) < 0.3 * len(texts), (name, length)
