"""What `shoal diagnose` is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.job.lists import split_names

if TYPE_CHECKING:
    from shoal.core.contracts.model import Model
    from shoal.core.dataset import Dataset
    from shoal.core.run import Run
    from shoal.diagnosis.questions import Answer

UNASKED = 10
"""Attributes up to which every set is looked at without having been asked for (question 4)."""
PATIENCE = 20.0
"""Seconds for a question that was not asked for."""


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """One of the twelve questions; which one follows from what is given."""

    k: Annotated[
        int | None, typer.Option("--k", help="Smallest group size that you require; exit code 1 if a group is smaller.")
    ] = None
    attributes: Annotated[
        str | None, typer.Option("--attributes", help="Only use these columns, separated by commas.")
    ] = None
    ask: Annotated[
        int | None,
        typer.Option(
            "--ask", help="Number of the question to answer, 1 to 12; options that it does not need are ignored."
        ),
    ] = None
    l: Annotated[float | None, typer.Option("--l", help="Diversity that you require (l-diversity).")] = None  # noqa: E741
    t: Annotated[float | None, typer.Option("--t", help="Closeness that you require (t-closeness).")] = None
    delta: Annotated[
        str | None, typer.Option("--delta", help="Share of the records that may be left out; ask computes it.")
    ] = None
    notion: Annotated[
        str | None,
        typer.Option(
            "--notion",
            help="What to measure: k, distinct-l, entropy-l, frequency-l, recursive-l, t, or the name of a model.",
        ),
    ] = None
    bound: Annotated[
        float | None, typer.Option("--bound", help="Bound that you require, for any other model named with --notion.")
    ] = None
    c: Annotated[float | None, typer.Option("--c", help="Parameter c of recursive-l.")] = None
    distance: Annotated[
        str, typer.Option("--distance", help="Distance of t-closeness: equal, ordered or hierarchical.")
    ] = "equal"
    about: Annotated[
        str | None, typer.Option("--about", help="Sensitive column to ask about, if there are several.")
    ] = None
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", help="Seconds after which to stop, and report what is proven by then."),
    ] = None

    @property
    def columns(self) -> list[str] | None:
        """The columns that are named; None when none are."""
        return split_names(self.attributes or "") or None

    @property
    def explicit(self) -> bool:
        """Whether more is given than exposure alone would need."""
        settings = (self.ask, self.l, self.t, self.bound, self.delta, self.notion, self.time_limit)
        return any(value is not None for value in settings)

    def models(self) -> list[Model]:
        """The model whose bound is given, to be measured beside the question."""
        from shoal import registry

        if self.t is not None:
            return [self._model("t-closeness", t=self.t, distance=self.distance)]
        name = f"{self.notion or 'distinct-l'}-diversity"
        if self.l is None or name not in registry.names("models"):
            return []
        ratio = {"c": self.c} if name == "recursive-l-diversity" and self.c is not None else {}
        return [self._model(name, l=self.l, **ratio)]

    def _model(self, name: str, **values: Any) -> Model:
        from shoal import registry

        model: Model = registry.make("models", name, {**values, "column": self.about})
        return model

    def answer(self, data: Dataset, run: Run) -> Answer:
        """The answer to the question that is asked."""
        from shoal import api

        return api.ask(
            data, attributes=self.columns, c=self.c, distance=self.distance, sensitive=self.about, question=self.ask,
            time_limit=self.time_limit, run=run, **self._needed(),
        )  # fmt: skip

    def _needed(self) -> dict[str, Any]:
        """What a question that is asked by its number takes of what is given; everything when none is."""
        from shoal.diagnosis.questions import TABLE

        needed: dict[str, Any] = {
            "k": self.k, "l": self.l, "t": self.t, "bound": self.bound, "delta": self._share(), "notion": self.notion,
        }  # fmt: skip
        if self.ask not in TABLE:
            return needed
        _, by_bound, share = TABLE[self.ask]
        if not by_bound:
            implied = "distinct-l" if self.l is not None else "t" if self.t is not None else None
            needed |= {"k": None, "l": None, "t": None, "bound": None, "notion": self.notion or implied}
        if share != "given":
            needed["delta"] = share
        return needed

    def _share(self) -> Any:
        """What `--delta` says: a share, or `ask`."""
        from shoal.errors import ParameterError

        if self.delta is None or self.delta == "ask":
            return self.delta
        try:
            return float(self.delta)
        except ValueError:
            raise ParameterError("--delta must be a share of the records between 0 and 1, or ask") from None

    def implied(self, data: Dataset, run: Run) -> Answer | None:
        """The answer to what k and attributes ask, or neither of them; None when it would take too long."""
        from shoal import api
        from shoal.diagnosis.families import MOST

        names = self.columns or list(data.schema.quasi)
        if any(name not in data.schema.quasi for name in names):
            return None
        if self.columns is None and len(names) > (UNASKED if self.k is None else MOST):
            return None
        return api.ask(data, k=self.k, attributes=self.columns, time_limit=PATIENCE, run=run)
