"""Anonymizing: a verified release, or the same recoding of new records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import manifest, recodings, registry
from shoal.api.counting_people import check_people
from shoal.api.reading import as_list, check_dataset
from shoal.core import seeds
from shoal.core.contracts.algorithm import Algorithm
from shoal.core.contracts.engine import Engine
from shoal.core.contracts.metric import Metric
from shoal.core.contracts.model import Model
from shoal.core.dataset import Dataset
from shoal.core.policy import Policy
from shoal.core.pseudonyms import Pseudonyms
from shoal.core.read_request import Opening
from shoal.core.recoding import Recoding
from shoal.core.release import Release
from shoal.core.release_history import History
from shoal.core.run import Run
from shoal.diagnosis.plain_columns import check_apart, plain_columns
from shoal.errors import ParameterError, VerificationError, quoted
from shoal.job import plugins
from shoal.job.job import DEFAULT_ALGORITHM
from shoal.notices import tell
from shoal.publishing.household_cells import consistency_notes, with_consistent_households
from shoal.publishing.impossible_policy import explaining
from shoal.publishing.packing import BLOCK, once, read, spelled
from shoal.publishing.publish import published
from shoal.publishing.reusable_recoding import ReusableRecoding
from shoal.publishing.weights import with_weights
from shoal.publishing.writable_release import WritableRelease
from shoal.storage.files import received

if TYPE_CHECKING:
    from shoal.ledger import Ledger

DECIDED = "decided.npz"
"""The part of a run's state that has what the algorithm decided."""

LOOKED, SEARCHED, PUBLISHED, VERIFIED = 0.05, 0.85, 0.95, 0.97
"""The shares of the work that are done once the plain columns are looked at, a plan is found, it is carried out, and
the release is verified where a ledger judges it then."""


def anonymize(
    data: Dataset,
    *models: Model | str,
    algorithm: Algorithm | str = DEFAULT_ALGORITHM,
    suppression: float = 0.0,
    objective: Metric | str | None = None,
    seed: int | None = None,
    repeatable: bool = False,
    pseudonyms: Pseudonyms | None = None,
    allow_unverified: bool = False,
    rows_are_people: bool = False,
    allow_plain: Iterable[str] = (),
    publish_weights: str | None = None,
    ledger: Ledger | str | Path | None = None,
    allow_unjudged: Iterable[str] = (),
    history: History | None = None,
    run: Run | None = None,
) -> WritableRelease:
    """A release that satisfies every model; it is read back from its published values before it is handed out.

    Identifiers are dropped, or replaced when `pseudonyms` are given. The order of the published rows follows from what
    they say, so it tells nothing. The same records (in any order), policy, algorithm and seed give the same release,
    random pseudonyms apart, and perturbations that are not `repeatable`.

    Columns without a role are published as they are. One that names people, or tells a quasi-identifier or an
    identifier, stops the run; `release.notes` says what else there is to know of them.

    Args:
        data: the table.
        models: what must hold, as models or as text such as `"k-anonymity:k=5"`. A perturbation needs none.
        algorithm: the anonymizer, or a perturbation; by default several are tried and the least loss is taken.
        suppression: the share of the records that may be left out.
        objective: the loss to minimize, where the algorithm takes one.
        seed: decides what is chosen at random. It is the holder's secret, and is in no manifest; by default it is drawn
            from the operating system, and `release.policy.seed` tells it.
        repeatable: takes the seed as it is also where whoever finds it could undo what was done, as a perturbation.
            Otherwise it is mixed there with randomness of the operating system; to make such a release again, give
            the `release.policy.seed` of the first one, and say this.
        pseudonyms: what stands in the place of identifiers.
        allow_unverified: allow a release that is not checked against the policy. Its manifest then claims no model,
            and states the k that the release has.
        rows_are_people: treat every record as a separate person, even where an identifier repeats.
        allow_plain: columns without a role that may be published whatever they hold.
        publish_weights: publish survey weights as `"means"` of the classes, or `"scaled"` to the table's total; with
            `":10"`, rounded to multiples of 10. By default they are dropped.
        ledger: the file with the earlier releases of this data set, which is made when there is none. A release that
            would break what they promise together is refused, and so is one that cannot be judged; any other one is
            entered when it is handed out.
        allow_unjudged: what may stay unjudged by the ledger: sensitive attributes by the names of their columns,
            earlier releases as `release:1`, and this one as `release:this`.
        history: what was published before, for whoever enters the release elsewhere; a ledger tells it by itself.
        run: receives progress, and can stop the work.

    If the table was read with a `resume_dir`, the algorithm's decision is saved there. A resumed run takes it from
    there; everything after it is done and verified again.

    Raises:
        DisclosureError: with the earlier releases of the ledger, this one would tell more than they promise.
        PlainColumnError: a column without a role names people, or tells what another column hides.
        InfeasibleError: no release satisfies the policy.
        VerificationError: the release that was made breaks the policy; it is not handed out.
        CancelledError: the run was stopped.

    Example:
        >>> import shoal
        >>> data = shoal.read(shoal.samples.adult(), quasi=["age", "sex", "race"])
        >>> release = shoal.anonymize(data, shoal.KAnonymity(k=5))
        >>> release.verify(release.policy)["k"].holds
        True
    """
    check_dataset(data)
    run = run or Run()
    unjudged = as_list(allow_unjudged)
    if unjudged and ledger is None:
        raise ParameterError("allow_unjudged needs a ledger: it lists what the ledger cannot judge")
    if pseudonyms is not None and not isinstance(pseudonyms, Pseudonyms):
        raise ParameterError(
            "pseudonyms must be shoal.Pseudonyms() for random ones, or shoal.Pseudonyms(key=…) for keyed ones"
        )
    method = plugins.plugin("algorithms", algorithm)
    policy = Policy(
        models=tuple(plugins.plugin("models", model) for model in models),
        suppression=suppression,
        objective=None if objective is None else plugins.plugin("metrics", objective),
        seed=_seed(data, seed, method, repeatable),
        history=history if ledger is None else _open_ledger(ledger).history(data),
    )
    plugins.check_policy(policy, method, allow_unverified=allow_unverified)
    if policy.models:
        check_people(data, policy, method, rows_are_people)
    for model in policy.models:
        model.check_attributes(data.schema.quasi)
    method, cut = _in_blocks(data, method.simplified(policy), method)
    run.report(0.0, "looking at the plain columns")
    ghosts = method.ghosts(data.schema)
    data, partly_hidden = _with_plain_ghosts(data, ghosts, policy)
    plain = plain_columns(data, as_list(allow_plain), ghosts, run=run.part(between=(0.0, LOOKED)))
    plain.check()
    if policy.history is not None:
        data = replace(method.remembering(data, policy.history), checkpoint=data.checkpoint)
    run.report(LOOKED, "searching")
    with explaining(data, policy):
        recoding = _search(data, method, method.simplified(policy), pseudonyms, run.part(between=(LOOKED, SEARCHED)))
    recoding = with_consistent_households(data, recoding, policy.seed)
    if method.unverified:
        policy = replace(policy, models=())
    run.report(SEARCHED, "publishing")
    end = 1.0 if ledger is None else VERIFIED
    recoding = with_weights(data, recoding, publish_weights, policy.seed)
    publishing, verifying = run.part(between=(SEARCHED, PUBLISHED)), run.part(between=(PUBLISHED, end))
    release = publish(data, recoding, policy, pseudonyms=pseudonyms, run=publishing)
    check_apart(data, release.view.linked(), plain.allowed, publishing)
    stated = manifest.provenance(policy, method, release.form, pseudonyms, data.schema)
    stated["plain"] = plain.as_dict()
    if recoding.counterfeits is not None:
        stated["counterfeits"] = len(recoding.counterfeits)
    stated["hulls"] = dict(recoding.hulls)
    if recoding.ghosts:
        stated["ghosts"] = {name: list(keys) for name, keys in recoding.ghosts.items()}
    if recoding.changed:
        stated["changed"] = sorted(recoding.changed)
    if method.unverified:
        heads = release.in_people(release.view.people()).headcounts
        stated["unverified"] = {"k": int(heads.min(initial=release.records))}
    release = replace(release, method=method, provenance=stated)
    risk = release.plain_risk
    told = plain.sentence(warned=risk is not None and risk.above)
    notes = (cut, partly_hidden, told, *_deviations(recoding), *consistency_notes(recoding))
    release = replace(release, notes=tuple(filter(None, notes)))
    run.report(PUBLISHED, "verifying")
    with data.engine.watch(verifying, "verifying"):
        release.view.check(data, recoding)
        broken = [finding.name for finding in release.verify(policy) if finding.holds is False]
    if broken:
        raise VerificationError(
            f"the release that {registry.name_of(method)} made breaks its policy ({', '.join(broken)}), so it was not "
            "handed out"
        )
    if ledger is None:
        return release
    with _open_ledger(ledger).publishing(data, release, run.part(between=(VERIFIED, 1.0)), unjudged) as publication:
        publication.enter(release.manifest([""] * len(release.tables)), None)
    return replace(release, notes=(*release.notes, *publication.notes))


def _seed(data: Dataset, seed: int | None, method: Algorithm, repeatable: bool) -> int:
    """The seed that is given, mixed where it protects and need not be repeatable; or the one of the run that goes on,
    or one that is drawn."""
    mixed = method.seed_protects and not repeatable and seed is not None

    def fresh() -> int:
        if seed is None:
            return seeds.drawn()
        checked = seeds.checked(seed)
        return seeds.mixed(checked) if mixed else seeds.warned(checked) if method.seed_protects else checked

    result = fresh() if data.checkpoint is None else data.checkpoint.seed(seed, fresh, mixed=mixed)
    if mixed:
        tell(
            "your seed was mixed with random bits from the operating system, so that nobody can guess it; "
            "repeatable (--repeatable) uses it as given"
        )
    return result


def _search(data: Dataset, method: Algorithm, policy: Policy, pseudonyms: Pseudonyms | None, run: Run) -> Recoding:
    """What the algorithm decides, or decided already in a run that goes on."""
    checkpoint, history = data.checkpoint, policy.history
    if checkpoint is None:
        return method.search(data, policy, run)
    stated = [plugins.spelled(model) for model in policy.models]
    objective = None if policy.objective is None else plugins.spelled(policy.objective)
    earlier = (
        [] if history is None else [part for release in history.releases for part in (release.ids, release.groups)]
    )
    checkpoint.bind(
        "policy", stated, policy.suppression, objective, plugins.spelled(method), policy.seed,
        None if pseudonyms is None else pseudonyms.told_apart,
        *(part.tobytes() for part in earlier),
    )  # fmt: skip
    recoding = once(
        checkpoint, DECIDED, lambda: method.search(data, policy, run),
        lambda decision: spelled(decision, data.summary.keys if "summary" in vars(data) else None),
        lambda spelling, arrays: read(spelling, arrays, None if "keys" in arrays else data.summary.keys),
    )  # fmt: skip
    checkpoint.drop(BLOCK)  # all of them are in it
    return recoding


def _with_plain_ghosts(data: Dataset, ghosts: Collection[str], policy: Policy) -> tuple[Dataset, str]:
    """The table in which sensitive columns that are hidden here and there are plain, and a sentence that says so. No
    model can judge such a column."""
    names = [name for name in data.schema.sensitive if name in ghosts]
    if not names:
        return data, ""
    for model in policy.models:
        looks = getattr(model, "column", None)
        if model.needs_sensitive and (looks is None or looks in names):
            raise ParameterError(
                f"linked: {type(model).__name__} looks at column {names[0]!r}, and some of its cells would be hidden; "
                "name another column in the model, or do not link this one"
            )
    several = len(names) > 1
    sentence = (
        f"{', '.join(map(quoted, names))} {'are' if several else 'is'} hidden together with linked columns, so the "
        f"release lists {'them' if several else 'it'} as {'columns' if several else 'a column'} without a role."
    )
    return data.without_role(names), sentence


def _in_blocks(data: Dataset, policy: Policy, method: Algorithm) -> tuple[Algorithm, str]:
    """The algorithm, or, where the table has more records than it is given at a time on this engine, the same in blocks
    and a sentence that says so. What cannot be done in blocks is done as it is."""
    most = data.engine.block_size
    if most is None or data.records <= most or not (method.by_record and method.in_blocks):
        return method, ""
    if any(model.whole_table or not model.merge_monotone for model in policy.models):
        return method, ""
    cut: Algorithm = registry.make("algorithms", "in-blocks", {"base": method, "records": most})
    name = registry.name_of(method)
    return cut, (
        f"The table has {data.records:,} records, and {name} takes at most {most:,} at a time on this engine. So the "
        f"table was cut into blocks (algorithm in-blocks:base={name},records={most}); no group spans two blocks."
    )


def _deviations(recoding: Recoding) -> Iterator[str]:
    """Sentences on what a search did otherwise than its name promises."""
    facts = recoding.facts
    if facts.get("exact") is False:
        yield (
            f"The table is so large that it was clustered in {facts['blocks']} separate blocks, which approximates the "
            "algorithm. The policy holds exactly."
        )
    if facts.get("unswapped"):
        yield (
            f"{facts['unswapped']:,} records at risk have no similar record in another area and stay where they are. "
            "Match on fewer columns, or treat these records otherwise."
        )
    if facts.get("split"):
        yield (
            f"Some households or people ({facts['split']:,}) have records in several areas, so the records of each "
            "area were swapped on their own."
        )
    if facts.get("fitted"):
        fits = (f"{name}: {fit['family']}, off by {fit['distance']:.0%}" for name, fit in facts["fitted"].items())
        yield (
            "New values were drawn from a distribution that was fitted to each column. How far the share of records up "
            f"to any value is off at most: {'; '.join(fits)}. Where that is much, take family=empirical."
        )
    stopped = facts.get("refinement", {}).get("stopped")
    if stopped == "work":
        yield (
            "The refinement stopped at its limit of work. To lose a little less, raise "
            f"{'the budget of auto' if 'chosen' in facts else 'work'}."
        )
    elif stopped == "time":
        yield (
            "The time limit stopped the refinement, so another run may give a different release. To let it finish, "
            "raise time_limit or lower rebuildings."
        )


def _open_ledger(ledger: Ledger | str | Path) -> Ledger:
    from shoal.ledger import open_ledger

    return open_ledger(ledger)


def publish(
    data: Dataset,
    recoding: Recoding,
    policy: Policy | None = None,
    *,
    pseudonyms: Pseudonyms | None = None,
    run: Run | None = None,
) -> WritableRelease:
    """The release that carries a recoding out. Nothing is verified: `anonymize` does that before it hands one out."""
    form = registry.make("forms", recoding.form, dict(recoding.options))
    return published(form, data, recoding, policy, pseudonyms, run or Run())


def save_recoding(release: Release, path: str | Path) -> Path:
    """Saves how a generalized release was recoded, so that `apply` can recode new records in the same way.

    The file has raw values of the table. It is for the holder alone, and only its owner can read it.
    """
    return recodings.save(release, path)


def apply(
    recoding: Release | str | Path,
    source: Any,
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    rename_duplicates: bool = False,
    neutralize_formulas: bool = False,
    engine: Engine | str | None = None,
    run: Run | None = None,
) -> WritableRelease:
    """New records, recoded as those of a release were and verified against its policy on their own.

    Each value goes to the level at which it was published, or each record into the narrowest class that holds it. What
    no class holds, and classes that break the policy, are left out as far as the policy allows it.

    Args:
        recoding: a release, or the file that `save_recoding` wrote, or `anonymize --save-recoding`.
        source: the new records: a path or a frame, with the columns of the table that the release was made from;
            identifiers may be lacking, and are dropped.
        missing, delimiter, encoding, format, sheet, rename_duplicates, neutralize_formulas, engine: as for `read`.
        run: receives progress, and can stop the work.

    Raises:
        SchemaError: the columns are others.
        PlainColumnError: a plain column names people now, or tells another column, and was not allowed to.
        HierarchyError: there are values that the recoding does not know, and that none of its ranges holds.
        VerificationError: what it makes of these records breaks the policy; it is not handed out.

    Example:
        >>> import shoal, tempfile
        >>> table = shoal.samples.adult().select("age", "sex", "occupation")
        >>> data = shoal.read(table[:20000], quasi=["age", "sex"], sensitive=["occupation"])
        >>> release = shoal.anonymize(data, "k-anonymity:k=5", algorithm="optimal", suppression=0.01)
        >>> path = shoal.save_recoding(release, Path(tempfile.mkdtemp()) / "recoding.json")
        >>> shoal.apply(path, table[20000:]).verify(release.policy).holds
        True
    """
    rule = ReusableRecoding.of(recoding) if isinstance(recoding, Release) else recodings.load(recoding)
    engine = recoding.engine if isinstance(recoding, Release) and engine is None else plugins.engine(engine, source)
    opening = Opening(
        delimiter=delimiter, encoding=encoding, missing=missing, format=format, sheet=sheet,
        rename_duplicates=rename_duplicates, neutralize=neutralize_formulas,
    )  # fmt: skip
    data = rule.read(engine.open(received(source), opening), engine)
    # The release was allowed to show these columns; what the others hold now nobody has looked at.
    plain = plain_columns(data, rule.provenance.get("plain", {}).get("allowed", ()), run=run)
    plain.check()
    release = rule.carry_out(data, run)
    return replace(release, provenance={**release.provenance, "plain": plain.as_dict()})
