"""Anonymizer: recoding as a step of a scikit-learn pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal import api
from shoal.core.dataset import Dataset
from shoal.core.date_labels import as_published
from shoal.core.grouping import group
from shoal.core.intervals import Numbers, shown_as
from shoal.core.recoding import Plan
from shoal.core.release import Release
from shoal.core.schema import Kind
from shoal.errors import MissingExtraError
from shoal.publishing.reusable_recoding import ReusableRecoding

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError("a step of a scikit-learn pipeline", "learn") from None


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learns a recoding from a table, and recodes it and other tables by it.

    `fit` makes a release and verifies it; `release_` is what may be published. `fit_transform` gives the same records
    **in the order in which they came**, because the next step of a pipeline needs that; records that are withheld have
    no value in any column. Arrays come back as arrays, frames as frames.

    `transform` shows any number of other records, be it two, as the release would show them: each in the narrowest
    class that holds it, or, where none does, each value as the narrowest that is published of it; a value that nothing
    published stands for is missing, and a column that is published as it is passes through. So `predict` and
    `cross_val_score` work on whatever rows they get.

    Does not protect against: whoever sees what `transform` gives. It is for models that are trained and asked in the
    same hands: nothing counts how many of these records are alike, and two records cannot hide among five. To publish
    other records use `shoal.apply(step.release_, records)`, which verifies them against the policy and refuses what
    breaks it.

    Args:
        quasi: columns that outsiders may know; all columns by default.
        sensitive: columns that nobody should learn about a person.
        models: what must hold, as models or as text.
        algorithm: the anonymizer, which must publish a generalized table. A full-domain one recodes any value that it
            knows; of other records a local one only knows those that lie within its classes.
        suppression: the share of the records that may be left out.
        hierarchies: as for `shoal.read`.
        kinds: as for `shoal.read`.
        numbers: how numeric quasi-identifiers are given: as the `intervals` that are published, as two columns of
            `bounds`, or as their `midpoint`.
        seed: decides what is chosen at random; drawn by default.
        repeatable: takes the seed as it is also where finding it would undo the release, as for `anonymize`.

    Example:
        >>> import shoal
        >>> table = shoal.samples.adult().select("age", "sex").to_pandas()
        >>> step = shoal.Anonymizer(models=["k-anonymity:k=5"], algorithm="optimal", numbers="midpoint", seed=1)
        >>> step.fit_transform(table)["age"].head(3).tolist()
        [34.5, 54.5, 34.5]
    """

    def __init__(
        self,
        *,
        quasi: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        models: Sequence[Any] = ("k-anonymity:k=5",),
        algorithm: Any = "datafly",
        suppression: float = 0.0,
        hierarchies: Any = None,
        kinds: Mapping[str, str] | None = None,
        numbers: Numbers = "intervals",
        seed: int | None = None,
        repeatable: bool = False,
    ) -> None:
        self.quasi = quasi
        self.sensitive = sensitive
        self.models = models
        self.algorithm = algorithm
        self.suppression = suppression
        self.hierarchies = hierarchies
        self.kinds = kinds
        self.numbers = numbers
        self.seed = seed
        self.repeatable = repeatable

    def fit(self, X: Any, y: Any = None) -> Anonymizer:  # noqa: N803 - scikit-learn calls it so
        """Makes a release of a table, and keeps how it was recoded."""
        self._fit(self._as_frame(X, reset=True))
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:  # noqa: N803
        """Makes a release of a table, and gives its records in the order in which they came."""
        frame = self._as_frame(X, reset=True)
        data = self._fit(frame)
        plan = self.release_.plan
        shown = self._transform(frame) if plan is None or plan.by_record else self._align(frame, data, plan)
        return shown if frame is X else _as_array(shown)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Other records, shown as the release would show them, in the order in which they came. Not verified: they are
        for the next step of a pipeline, not for publication."""
        check_is_fitted(self)
        frame = self._as_frame(X, reset=False)
        shown = self._transform(frame)
        return shown if frame is X else _as_array(shown)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The columns that `transform` gives."""
        check_is_fitted(self)
        return np.array(self.names_out_, object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # missing values are values of their own
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _as_frame(self, table: Any, *, reset: bool) -> Any:
        """A frame as it is, an array with its columns called x0, x1, …"""
        if hasattr(table, "columns") or hasattr(table, "column_names"):
            validate_data(self, table, reset=reset, skip_check_array=True)
            return table
        array = validate_data(self, table, reset=reset, dtype=None, ensure_all_finite=False)
        if array.dtype == object and any(isinstance(value, (Mapping, list, tuple, set)) for value in array.flat):
            raise TypeError("argument must be a string or a number in every cell")
        try:
            return pa.table({f"x{place}": array[:, place].tolist() for place in range(array.shape[1])})
        except pa.ArrowException:  # it names a cell
            raise TypeError("each column of an array must be all texts or all numbers") from None

    def _fit(self, frame: Any) -> Dataset:
        names = list(getattr(frame, "column_names", None) or frame.columns)
        quasi = [name for name in names if name not in self.sensitive] if self.quasi is None else self.quasi
        data = api.read(frame, quasi=quasi, sensitive=self.sensitive, hierarchies=self.hierarchies, kinds=self.kinds)
        self.release_: Release = api.anonymize(
            data,
            *self.models,
            algorithm=self.algorithm,
            suppression=self.suppression,
            seed=self.seed,
            repeatable=self.repeatable,
        )
        ReusableRecoding.of(self.release_)  # refuses what cannot be applied to other records
        self.rule_ = replace(ReusableRecoding.shown_by(self.release_), takes_unknown=True)
        self.names_out_ = nw.from_native(self._transform(frame[:1]), eager_only=True).columns
        return data

    def _transform(self, frame: Any) -> Any:
        engine = self.release_.engine
        data = self.rule_.read(engine.open(frame), engine)
        rows = group(
            [data.codes(name) for name in data.schema.quasi], [tree.size for tree in data.hierarchies], index=True
        )
        wrapped = nw.from_native(frame, eager_only=True)
        raw = {book.column for book in self.rule_.codebooks if book.raw}
        recoded = {
            name: self._series(name, labels[rows.index].tolist(), wrapped)
            for name, labels in zip(data.schema.quasi, self.rule_.labels(data, rows.keys), strict=True)
            if name not in raw
        }
        return self._shown(data, {name: recoded.get(name, wrapped[name]) for name in data.schema.names})

    def _align(self, frame: Any, data: Dataset, plan: Plan) -> Any:
        """The records of a frame as a plan publishes them, in their order; what is withheld has no value."""
        quasi, trees = data.schema.quasi, data.hierarchies
        rows = group([data.codes(name) for name in quasi], [tree.size for tree in trees], index=True).index
        owners = plan.owners[rows]
        recoded = {}
        wrapped = nw.from_native(frame, eager_only=True)
        for name, book, cells in zip(quasi, plan.codebooks, plan.cells, strict=True):
            if not book.raw:
                labels = np.array([*book.labels, None], object)[np.where(owners < 0, len(book), cells[owners])]
                recoded[name] = self._series(name, labels.tolist(), wrapped)
        withheld = nw.new_series("withheld", (owners < 0).tolist(), nw.Boolean, backend=wrapped.implementation)
        columns = {name: recoded.get(name, wrapped[name]) for name in data.schema.names}
        if bool((owners < 0).any()):
            emptied = nw.from_dict({**columns, "\0withheld": withheld})
            unhidden = [nw.when(~nw.col("\0withheld")).then(nw.col(name)).alias(name) for name in columns]
            columns = {name: emptied.select(unhidden)[name] for name in columns}
        return self._shown(data, columns)

    def _series(self, name: str, labels: list[str | None], wrapped: Any) -> Any:
        """Labels as a column, as a release has them."""
        texts = as_published(labels, self.rule_.schema.hierarchy_of(name).calendar)
        return nw.new_series(name, texts, nw.String, backend=wrapped.implementation)

    def _shown(self, data: Dataset, columns: Mapping[str, Any]) -> Any:
        numeric = [name for name in data.schema.quasi if data.schema[name].kind is Kind.NUMERIC]
        return shown_as(nw.from_dict(columns).to_native(), numeric, self.numbers)


def _as_array(frame: Any) -> Any:
    """A frame as the array that came in: of numbers where all columns are, else of objects."""
    wrapped = nw.from_native(frame, eager_only=True)
    numeric = all(kind.is_numeric() for kind in wrapped.schema.values())
    array = wrapped.to_numpy()
    return array.astype(float) if numeric else array.astype(object)
