"""A seed that hides something cannot be found by trying, and a run that was written down is repeated to the byte."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import job, notices, registry
from shoal.cli import main
from shoal.core.seeds import SHORT, mixed
from shoal.errors import InputError, ParameterError

PEOPLE = 120
SHORT_SEED = 20240


def table() -> pl.DataFrame:
    generator = np.random.default_rng(3)
    towns = np.array(["north", "south", "west"])[generator.integers(0, 3, PEOPLE)]
    return pl.DataFrame(
        {"age": generator.normal(50, 10, PEOPLE), "wage": generator.normal(900, 200, PEOPLE), "town": towns}
    )


def read(frame: pl.DataFrame | None = None, **more: object) -> shoal.Dataset:
    return shoal.read(table() if frame is None else frame, quasi=["age", "wage", "town"], **more)


SPELLED = {"rounding": "rounding:random=true", "targeted-swapping": "targeted-swapping:geography=town"}
"""Those that hide something behind the seed only when they are asked to, or that have to be told something."""
WITHOUT_CHANCE = {"microaggregation", "top-bottom-coding"}
PERTURBATIONS = [
    SPELLED.get(name, name)
    for name in registry.names("algorithms")
    if not registry.find("algorithms", name).claims and name not in WITHOUT_CHANCE
]


def told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What notes say, also those that were said before."""
    notices.tell.cache_clear()
    caplog.set_level(logging.WARNING, logger="shoal")
    return caplog


def test_there_are_perturbations() -> None:
    assert {"additive-noise", "rank-swapping", "pram", "random-projection"} <= set(PERTURBATIONS)
    assert all(job.plugin("algorithms", name).seed_protects for name in PERTURBATIONS)
    assert not any(registry.make("algorithms", name, {}).seed_protects for name in (*WITHOUT_CHANCE, "rounding"))
    assert not registry.make("algorithms", "optimal", {}).seed_protects
    assert job.plugin("algorithms", "optimal:within=0.3").seed_protects
    assert job.plugin("algorithms", "mondrian:uncut=0.3").seed_protects
    assert job.plugin("algorithms", "multiset:base=mondrian:uncut=0.3").seed_protects


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_nobody_finds_a_short_seed_by_trying(name: str) -> None:
    """Whoever has the table but for one person, the code and the seed that was typed makes the release again, and
    compares: the seed that was used is another one."""
    data = read()
    release = shoal.anonymize(data, algorithm=name, suppression=0.5, seed=SHORT_SEED)
    for tried in range(SHORT_SEED - 2, SHORT_SEED + 3):
        again = shoal.anonymize(data, algorithm=name, suppression=0.5, seed=tried, repeatable=True)
        assert not again.frame.equals(release.frame), "the seed was found"
    other = shoal.anonymize(data, algorithm=name, suppression=0.5, seed=SHORT_SEED)
    assert not other.frame.equals(release.frame)
    assert release.policy.seed >= SHORT
    repeated = shoal.anonymize(data, algorithm=name, suppression=0.5, seed=release.policy.seed, repeatable=True)
    assert repeated.frame.equals(release.frame)


def test_noise_cannot_be_taken_back_by_trying_seeds() -> None:
    """The attack as it was made: for every short seed, take the noise that it would give off the published numbers, and
    see whether whole ages come out."""
    ages = np.random.default_rng(1).integers(18, 90, 300)
    frame = pl.DataFrame({"age": ages.astype(float)})
    data = shoal.read(frame, quasi=["age"])

    def recovered(release: shoal.Release) -> int:
        best, shown = 0, np.sort(release.frame["age"].to_numpy())
        deviation = np.sqrt(0.1) * ages.std()
        for tried in range(SHORT_SEED - 3, SHORT_SEED + 4):
            again = shoal.anonymize(data, algorithm="additive-noise:share=0.1", seed=tried, repeatable=True)
            best = max(best, int((np.abs(np.sort(again.frame["age"].to_numpy()) - shown) < 1e-9 * deviation).sum()))
        return best

    plain = shoal.anonymize(data, algorithm="additive-noise:share=0.1", seed=SHORT_SEED, repeatable=True)
    assert recovered(plain) == 300, "the attack works where the seed is taken as it is"
    assert recovered(shoal.anonymize(data, algorithm="additive-noise:share=0.1", seed=SHORT_SEED)) == 0


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "k-member", "oka", "k-means", "mdav:refine=true"])
def test_seeds_that_protect_nothing_are_taken_as_they_are(algorithm: str) -> None:
    data = read()
    one, two = (shoal.anonymize(data, "k-anonymity:k=4", algorithm=algorithm, seed=7) for _ in range(2))
    assert one.policy.seed == 7 and one.frame.equals(two.frame)


@pytest.mark.parametrize("algorithm", ["optimal:within=1", "mondrian:uncut=0.5"])
def test_draws_that_hide_why_are_mixed_too(algorithm: str) -> None:
    release = shoal.anonymize(read(), "k-anonymity:k=4", algorithm=algorithm, seed=7)
    again = shoal.anonymize(
        read(), "k-anonymity:k=4", algorithm=algorithm, seed=release.policy.seed, repeatable=True
    )  # fmt: skip
    assert release.policy.seed != 7 and again.frame.equals(release.frame)


def test_a_drawn_seed_is_long() -> None:
    drawn = [shoal.anonymize(read(), "k-anonymity:k=4", algorithm="mondrian").policy.seed for _ in range(4)]
    assert len(set(drawn)) == 4 and max(drawn) >= 2**120


def test_what_is_mixed_is_long_whatever_it_was() -> None:
    found = {mixed(1) for _ in range(50)}
    assert len(found) == 50 and max(found) >= 2**120 and min(found) > 2**100


def test_a_short_seed_that_is_taken_as_it_is_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    noted = told(monkeypatch, caplog)
    shoal.anonymize(read(), algorithm="additive-noise", seed=SHORT - 1, repeatable=True)
    assert "found by trying" in noted.text and str(SHORT - 1) not in noted.text
    noted.clear()
    notices.tell.cache_clear()
    shoal.anonymize(read(), algorithm="additive-noise", seed=SHORT, repeatable=True)
    shoal.anonymize(read(), "k-anonymity:k=4", algorithm="mondrian", seed=1)
    assert not noted.text
    shoal.anonymize(read(), algorithm="additive-noise", seed=5)
    assert "mixed" in noted.text and "repeatable" in noted.text


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_seed_that_is_none_is_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match="whole number"):
        shoal.anonymize(read(), algorithm="additive-noise", seed=seed)


# -------------------------------------------------------------------------------------------- the command, and jobs


def ran(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


@pytest.mark.parametrize("more", [[], ["--seed", "7"], ["--seed", "7", "--repeatable"]])
@pytest.mark.parametrize("algorithm", ["additive-noise", "mondrian"])
def test_a_saved_job_repeats_a_run_to_the_byte(tmp_path: Path, more: list[str], algorithm: str) -> None:
    table().write_csv(tmp_path / "people.csv")
    model = ["--k", "4"] if algorithm == "mondrian" else []
    common = ["--quasi", "age,wage,town", "--algorithm", algorithm, *model, *more]
    run = ["anonymize", tmp_path / "people.csv", "-o", tmp_path / "out.csv", *common]
    assert ran(*run, "--save-job", tmp_path / "job.toml") == 0
    first = (tmp_path / "out.csv").read_bytes()
    (tmp_path / "out.csv").unlink()
    assert ran("anonymize", "--job", tmp_path / "job.toml", "--overwrite") == 0
    assert (tmp_path / "out.csv").read_bytes() == first
    saved = job.load(tmp_path / "job.toml")
    if algorithm == "additive-noise":
        assert saved.repeatable and (saved.seed == 7) == ("--repeatable" in more)
    else:
        assert not saved.repeatable or more
        assert saved.seed == (7 if more else saved.seed)


def test_the_command_tells_the_seed_that_was_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table().write_csv(tmp_path / "people.csv")
    run = ["anonymize", tmp_path / "people.csv", "-o", tmp_path / "out.csv", "--quasi", "age,wage,town",
           "--algorithm", "rank-swapping", "--overwrite", "--seed", "7"]  # fmt: skip
    assert ran(*run) == 0
    shown = capsys.readouterr().out
    seed = re.search(r"Seed (\d+): keep it to repeat this run with --repeatable", shown)
    assert seed is not None and int(seed[1]) > SHORT
    first = (tmp_path / "out.csv").read_bytes()
    assert ran(*run[:-1], seed[1], "--repeatable", "--json") == 0
    assert (tmp_path / "out.csv").read_bytes() == first
    assert json.loads(capsys.readouterr().out)["seed"] == int(seed[1])


def test_a_job_file_says_that_it_is_repeatable(tmp_path: Path) -> None:
    made = job.parse({"policy": {"seed": 7, "repeatable": True}, "algorithm": "additive-noise"}, tmp_path)
    assert made.repeatable and "repeatable = true" in job.toml(made)
    assert job.parse({"policy": {"seed": 7}}, tmp_path).repeatable is False
    with pytest.raises(InputError, match="repeatable"):
        job.parse({"policy": {"repeatable": "yes"}}, tmp_path)


# --------------------------------------------------------------------------------------------------- runs that go on


def stopped(path: Path, state: Path, **more: object) -> None:
    """A run that decides and is stopped before it publishes."""

    class _StoppedError(Exception):
        pass

    def stop(*_: object, **__: object) -> None:
        raise _StoppedError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("shoal.api.anonymizing.publish", stop)
        data = shoal.read(path, quasi=["age", "wage", "town"], resume_dir=state)
        with pytest.raises(_StoppedError):
            shoal.anonymize(data, algorithm="additive-noise", **more)
    data.checkpoint.close()


@pytest.mark.parametrize("more", [{}, {"seed": 7}, {"seed": 7, "repeatable": True}])
def test_a_run_that_goes_on_keeps_its_noise(tmp_path: Path, more: dict[str, object]) -> None:
    table().write_csv(tmp_path / "people.csv")
    stopped(tmp_path / "people.csv", tmp_path / "state", **more)
    held = json.loads((tmp_path / "state" / "state.json").read_text())
    data = shoal.read(tmp_path / "people.csv", quasi=["age", "wage", "town"], resume_dir=tmp_path / "state")
    release = shoal.anonymize(data, algorithm="additive-noise", **more)
    assert release.policy.seed == held["seed"] and (held["seed"] == 7) == ("repeatable" in more)
    assert held["given"] == more.get("seed")


@pytest.mark.parametrize(
    ("begun", "later"),
    [
        ({"seed": 7}, {"seed": 8}),
        ({"seed": 7}, {"seed": 7, "repeatable": True}),
        ({"seed": 7, "repeatable": True}, {"seed": 7}),
        ({}, {"seed": 7}),
    ],
)
def test_a_run_with_another_seed_does_not_go_on(
    tmp_path: Path, begun: dict[str, object], later: dict[str, object]
) -> None:
    table().write_csv(tmp_path / "people.csv")
    stopped(tmp_path / "people.csv", tmp_path / "state", **begun)
    data = shoal.read(tmp_path / "people.csv", quasi=["age", "wage", "town"], resume_dir=tmp_path / "state")
    with pytest.raises(InputError, match="another seed"):
        shoal.anonymize(data, algorithm="additive-noise", **later)
