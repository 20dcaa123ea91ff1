"""A check for pandera: a schema that a table of people satisfies only where nobody in it is exposed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shoal.core.contracts.model import Model
from shoal.core.policy import Policy
from shoal.errors import MissingExtraError
from shoal.testing import exposure

try:
    from pandera.api.checks import Check
except ImportError:
    raise MissingExtraError("the check for pandera", "pandera") from None


def satisfies(
    *models: Model | Policy | str,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    person: str | None = None,
    **reading: Any,
) -> Check:
    """A check of a whole frame, for `checks` of a schema of pandera: for pandas, polars or Ibis.

    It takes what `shoal.testing.assert_satisfies` takes. A failure says how many people are exposed by which columns,
    and shows no value. Of a lazy frame of polars, pandera itself checks no rows unless `PANDERA_VALIDATION_DEPTH` is
    `SCHEMA_AND_DATA`: collect it first.

    Example:
        >>> import pandas, pandera.pandas
        >>> from shoal.integrations.pandera import satisfies
        >>> schema = pandera.pandas.DataFrameSchema(checks=satisfies("k-anonymity:k=2", quasi=["age", "sex"]))
        >>> export = pandas.DataFrame({"age": ["20-29"] * 3, "sex": ["f", "f", "m"]})
        >>> _ = schema.validate(export.head(2))
        >>> schema.validate(export)
        Traceback (most recent call last):
        ...
        pandera.errors.SchemaError: DataFrameSchema 'None' failed series or dataframe validator 0: <Check
        satisfies: the table is not 2-anonymous by age and sex: 1 of 3 people are exposed, in 1 of 2 groups; k is 1>
    """
    columns, secrets = tuple([quasi] if isinstance(quasi, str) else quasi), tuple(sensitive)

    def holds(table: Any) -> bool:
        frame = table[0] if isinstance(table, tuple) else table  # all but pandas come with the column that is checked
        measured = exposure(frame, *models, quasi=columns, sensitive=secrets, person=person, **reading)
        check.error = "; ".join(str(each) for each in measured if each.groups) or None
        return check.error is None

    check = Check(holds, name="satisfies")
    return check
