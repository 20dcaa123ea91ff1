"""Whoever asks for the size learns the size: an asker that cheats does not learn who is common."""

import hashlib
import itertools
import json
import math
import os
import secrets
import statistics

import pytest

from shoal.errors import InputError, ParameterError, ShoalError
from shoal.overlap import Asker, answered, cardinality, messages, points
from shoal.overlap import _digests as digests_of
from shoal.overlap.sums import GENERATOR, ORDER, add, negate, times

OURS = [f"ours {number}" for number in range(12)] + [f"both {number}" for number in range(3)]
THEIRS = [f"theirs {number}" for number in range(20)] + ["both 0", "both 2"]
COMMON = {"both 0", "both 2"}


def split(joined, size=32):
    return [joined[start : start + size] for start in range(0, len(joined), size)]


def opened(message):
    """The header and the body of a message."""
    start = message.index(b"\n") + 1
    end = message.index(b"\n", start)
    return json.loads(message[start:end]), message[end + 1 :]


def asking(session, body, people):
    return messages.pack("ask", {"session": session, "size_only": True, "own": people}, body)


def who_by_one_key_each(answer):
    """Who is common, learned by an asker that multiplies each person's point by a key of its own. The other holder
    multiplies all of them by one key and returns them in another order; each is recognized by its own key."""
    session = secrets.token_hex(16)
    keys = [points.draw() for _ in OURS]
    digests, _ = digests_of(OURS, session)
    sent = b"".join(points.multiply("hash", key, digest) for key, digest in zip(keys, digests, strict=True))
    try:
        body = answer(session, sent)
    except ShoalError:
        return set()
    returned, theirs = set(split(body[: len(sent)])), body[len(sent) :]
    return {
        person for person, key in zip(OURS, keys, strict=True)
        if returned & set(split(points.multiply("point", key, theirs)))
    }  # fmt: skip


def shuffled_points(session, sent):
    """The answer of the protocol that Shoal had for the size before."""
    key = points.draw()
    digests, _ = digests_of(THEIRS, session)
    listed = sorted(split(points.multiply("hash", key, b"".join(digests))))
    return b"".join(sorted(split(points.multiply("point", key, sent)))) + b"".join(listed)


def test_an_asker_with_one_key_for_each_person_does_not_learn_who_is_common():
    assert who_by_one_key_each(shuffled_points) == COMMON
    assert not who_by_one_key_each(
        lambda session, sent: opened(answered(asking(session, sent, len(OURS)), THEIRS, fewest=1))[1]
    )


class Cheat:
    """An asker that knows every number in its cells, and gives each person of its list a number of their own to be
    recognized by where an honest asker has zero."""

    def __init__(self):
        self.session, self.secret = secrets.token_hex(16), secrets.randbelow(ORDER - 1) + 1
        self.digests, _ = digests_of(OURS, self.session)
        count = cardinality._cells(len(OURS))
        order = None
        while order is None:
            self.salt = os.urandom(cardinality.SALT)
            places, prints = cardinality._rows(self.salt, self.digests, count)
            order = cardinality._peel(places, count)
        tags = [secrets.randbelow(ORDER - 1) + 1 for _ in OURS]
        numbers = [secrets.randbelow(ORDER) for _ in range(count)]
        for person, cell in reversed(order):
            numbers[cell] = 0
            wanted = tags[person] + prints[person] + cardinality._FIRST
            numbers[cell] = (wanted - sum(numbers[place] for place in places[person])) % ORDER
        blinds = [secrets.randbelow(ORDER - 1) + 1 for _ in range(count)]
        self.cells = [
            (blind, (self.secret * blind + number) % ORDER) for blind, number in zip(blinds, numbers, strict=True)
        ]
        self.tags = dict(zip(OURS, tags, strict=True))
        self.ratios = {}
        for person, three in zip(OURS, places, strict=True):
            first = sum(blinds[place] for place in three) % ORDER
            self.ratios[person] = (self.secret + self.tags[person] * pow(first, -1, ORDER)) % ORDER

    @property
    def message(self):
        cells = b"".join(points.pack(points.of(number)) for pair in self.cells for number in pair)
        body = self.salt + points.pack(points.of(self.secret)) + cells
        return asking(self.session, body, len(OURS))

    def differences(self, result):
        """What is left of a result without the key, up to signs: x-coordinates have none."""
        first, second = (lifted(x) for x in split(result))
        scaled = times(self.secret, first)
        return [add([second], [each])[0] for each in (scaled, negate(scaled)) if each[0] != second[0]]

    def recognized(self, results):
        """Everybody that the numbers give away."""
        found = set()
        left = [self.differences(result) for result in results]
        for person, tag in self.tags.items():
            if any(each[0] == points.of(tag)[0] for pair in left for each in pair):
                found.add(person)  # nothing was multiplied by a secret
            for result in results:
                first, second = split(result)
                if x_times(self.ratios[person], lifted(first)) == int.from_bytes(second, "big"):
                    found.add(person)  # no blind was added
        units = [
            {person: {x_times(pow(tag, -1, ORDER), point) for point in pair} for person, tag in self.tags.items()}
            for pair in left
        ]
        for one, other in itertools.combinations(OURS, 2):
            if any(mine[one] & theirs[other] for mine, theirs in itertools.permutations(units, 2)):
                found |= {one, other}  # all were multiplied by the same secret
        return found


def x_times(number, point):
    """The x-coordinate of a point times a number, by the library."""
    return int.from_bytes(points.multiply("point", number.to_bytes(32, "big"), points.pack(point)[:32]), "big")


def lifted(x):
    found = points._lift(x).public_numbers()
    return found.x, found.y


def evaluated(cheat, listed, *, blind, scale):
    """A twin of what the other holder does, in plain numbers, with a choice of what hides the results."""
    digests, _ = digests_of(listed, cheat.session)
    places, prints = cardinality._rows(cheat.salt, digests, len(cheat.cells))
    results = []
    for three, number in zip(places, prints, strict=True):
        first = sum(cheat.cells[place][0] for place in three) + blind
        second = sum(cheat.cells[place][1] for place in three) - number - cardinality._FIRST + blind * cheat.secret
        factor = scale()
        results.append(b"".join(points.pack(points.of(each * factor % ORDER))[:32] for each in (first, second)))
    return results


def drawn():
    return secrets.randbelow(ORDER - 1) + 1


def test_a_number_for_each_person_is_not_recognized():
    """The attack works as soon as the other holder leaves out one of the secrets that hide the results."""
    cheat, listed = Cheat(), ["both 0", "both 2", "theirs 0"]
    same = drawn()
    assert cheat.recognized(evaluated(cheat, listed, blind=drawn(), scale=lambda: 1)) == COMMON
    assert cheat.recognized(evaluated(cheat, listed, blind=drawn(), scale=lambda: same)) == COMMON
    assert cheat.recognized(evaluated(cheat, listed, blind=0, scale=drawn)) == COMMON
    assert cheat.recognized(evaluated(cheat, listed, blind=drawn(), scale=drawn)) == set()
    _, body = opened(answered(cheat.message, listed, fewest=1))
    assert cheat.recognized(split(body, 64)) == set()


def test_any_cells_count_the_people_that_satisfy_them():
    """An asker may put anything into its cells, and learns how many people they fit."""
    cheat = Cheat()
    digests, _ = digests_of(THEIRS, cheat.session)
    places, prints = cardinality._rows(cheat.salt, digests, len(cheat.cells))
    used = set()
    chosen = []
    for person, three in enumerate(places):  # people who share no cell, so that any number can be given to each
        if not used & set(three):
            used |= set(three)
            chosen.append(person)
    numbers = [0] * len(cheat.cells)
    for person in chosen[:4]:
        numbers[places[person][0]] = prints[person] + cardinality._FIRST
    cheat.cells = [
        (blind, (cheat.secret * blind + number) % ORDER)
        for (blind, _), number in zip(cheat.cells, numbers, strict=True)
    ]
    fitting = sum(
        sum(numbers[place] for place in three) == number + cardinality._FIRST
        for three, number in zip(places, prints, strict=True)
    )
    _, body = opened(answered(cheat.message, THEIRS, fewest=1))
    assert cardinality.counted(cheat.secret.to_bytes(32, "big"), body) == fitting >= len(chosen[:4])


@pytest.mark.parametrize("own, other, common", [(1, 1, 0), (1, 1, 1), (3, 200, 2), (150, 4, 4), (120, 90, 30)])
def test_the_size_is_exact_where_the_answering_holder_says_so(own, other, common):
    both = [f"both {number}" for number in range(common)]
    asker = Asker.of(both + [f"a {number}" for number in range(own - common)], size_only=True)
    found = asker.finished(
        answered(asker.message, both + [f"b {number}" for number in range(other - common)], fewest=1)
    )
    assert (found.size, found.own, found.other, found.margin, found.places) == (common, own, other, 0, None)


@pytest.mark.parametrize(
    "zeros, size, fewer_than", [(28, 17, None), (0, None, 2), (56, 40, None), (12, None, 2), (13, 2, None)]
)
def test_the_size_is_blurred_by_the_answering_holder(monkeypatch, zeros, size, fewer_than):
    """17 people are common, and the noise is 28 on average."""
    monkeypatch.setattr(cardinality, "noise", lambda fewest: zeros)
    asker = Asker.of([f"p {number}" for number in range(40)], size_only=True)
    answer = answered(asker.message, [f"p {number}" for number in range(23, 70)], fewest=2)
    results = split(opened(answer)[1], 64)
    assert len(set(results)) == 47 + 2 * 28 and results == sorted(results)
    found = asker.finished(answer)
    assert (found.size, found.fewer_than) == (size, fewer_than)
    assert found.margin == (0 if size is None else 6)


@pytest.mark.parametrize("fewest", [2, 10, 300])
def test_one_person_hardly_changes_what_is_told(fewest):
    """The probability of each result changes by a factor of at most exp(1 / fewest) when one person more is common,
    but for results that occur once in a million sessions."""
    weights = cardinality.weights(fewest)
    shares = [weight / sum(weights) for weight in weights]
    assert len(shares) == 2 * cardinality.spread(fewest) + 1 and shares == pytest.approx(shares[::-1])
    apart = [0.0, *shares], [*shares, 0.0]
    for one, other in (apart, apart[::-1]):
        above = sum(max(0.0, mine - math.exp(1 / fewest) * theirs) for mine, theirs in zip(one, other, strict=True))
        assert above < 1e-6
    off = [abs(place - cardinality.spread(fewest)) for place in range(len(shares))]
    within = sum(share for share, each in zip(shares, off, strict=True) if each <= cardinality.margin(fewest))
    assert within >= 0.95


def test_noise_is_drawn_as_its_weights_say():
    found = [cardinality.noise(3) for _ in range(3_000)]
    assert abs(statistics.mean(found) - cardinality.spread(3)) < 6 * 4.3 / math.sqrt(3_000)
    assert 3.4 < statistics.pstdev(found) < 5.2 and cardinality.noise(1) == 0


def test_the_answering_holder_insists():
    who, size = Asker.of(OURS), Asker.of(OURS, size_only=True)
    with pytest.raises(InputError, match="the size only"):
        answered(who.message, THEIRS, size_only=True)
    with pytest.raises(InputError, match="fewer than 16 people"):
        answered(size.message, THEIRS, fewest=16)
    assert opened(answered(size.message, THEIRS, size_only=True))[0]["fewest"] == 10
    for fewest in (0, 10_001):
        with pytest.raises(ParameterError, match="fewest"):
            answered(size.message, THEIRS, fewest=fewest)


def test_the_state_of_a_session_about_the_size():
    asker = Asker.of(OURS, size_only=True)
    saved = asker.saved(OURS)
    answer = answered(asker.message, THEIRS, fewest=1)
    assert Asker.loaded(saved, OURS).finished(answer).size == 2
    with pytest.raises(InputError, match="the list is not the one"):
        Asker.loaded(saved, THEIRS)
    header, body = opened(saved)
    with pytest.raises(InputError, match="the list is not the one"):
        Asker.loaded(messages.pack("state", {**header, "list": "\ud800"}, body), OURS)
    for key in ("00" * 32, "ff" * 32, "zz" * 32, "01"):
        with pytest.raises(InputError, match="not the state"):
            Asker.loaded(messages.pack("state", {**header, "key": key}, body), OURS)


def test_a_place_is_found_for_everybody():
    for people in (1, 2, 3, 10, 100, 2_000):
        digests = [hashlib.sha256(str(number).encode()).digest() for number in range(people)]
        count = cardinality._cells(people)
        tries = 0
        order = None
        while order is None:
            places, _ = cardinality._rows(os.urandom(16), digests, count)
            order, tries = cardinality._peel(places, count), tries + 1
        assert tries < 50 and sorted(person for person, _ in order) == list(range(people))
        left = set()
        for person, cell in reversed(order):  # whoever is placed later does not change the cells of those before
            assert cell in places[person] and cell not in left
            left |= set(places[person])


def test_the_generator_is_the_one_of_the_library():
    assert points.of(1) == GENERATOR


def test_every_answer_has_a_blind_of_its_own(monkeypatch):
    """Who could guess it would recognize people by their cells."""
    blinds = []
    real = points.evaluate

    def spied(cells, pair, people):
        blinds.append(pair)
        return real(cells, pair, people)

    monkeypatch.setattr(points, "evaluate", spied)
    asker = Asker.of(OURS, size_only=True)
    for _ in range(3):
        answered(asker.message, THEIRS, fewest=1)
    known = {points.of(number) for number in range(1, 50)}
    assert len({first for first, _ in blinds}) == len({second for _, second in blinds}) == 3
    assert not known & {first for first, _ in blinds}
    key = asker.key
    assert all(
        points.multiply("point", key, points.pack(first)[:32]) == points.pack(second)[:32] for first, second in blinds
    )
