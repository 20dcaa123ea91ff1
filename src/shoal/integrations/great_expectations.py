"""An expectation for Great Expectations: nobody in a batch is exposed."""

from __future__ import annotations

from typing import Any, ClassVar

from shoal.errors import MissingExtraError
from shoal.testing import exposure

try:
    from great_expectations.core.metric_domain_types import MetricDomainTypes
    from great_expectations.execution_engine.pandas_execution_engine import PandasExecutionEngine
    from great_expectations.execution_engine.sparkdf_execution_engine import SparkDFExecutionEngine
    from great_expectations.expectations.expectation import BatchExpectation
    from great_expectations.expectations.metrics.metric_provider import metric_value
    from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider
except ImportError:
    raise MissingExtraError("the expectation for Great Expectations", "expectations") from None

METRIC = "table.shoal.exposure"
ASKED = ("models", "quasi", "sensitive", "person")


class TableExposure(TableMetricProvider):
    """Whom privacy models leave exposed in a batch; a table of a database is not loaded for it: dbt checks it there."""

    metric_name = METRIC
    value_keys = ASKED

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, execution_engine: Any, metric_domain_kwargs: Any, metric_value_kwargs: Any, **_: Any) -> Any:  # noqa: N805
        return _measured(execution_engine, metric_domain_kwargs, metric_value_kwargs)

    @metric_value(engine=SparkDFExecutionEngine)
    def _spark(cls, execution_engine: Any, metric_domain_kwargs: Any, metric_value_kwargs: Any, **_: Any) -> Any:  # noqa: N805
        return _measured(execution_engine, metric_domain_kwargs, metric_value_kwargs)


def _measured(engine: Any, domain: Any, asked: Any) -> dict[str, Any]:
    """The most people that a model leaves exposed, and what is to be said of each that is broken."""
    frame, *_ = engine.get_compute_domain(domain, domain_type=MetricDomainTypes.TABLE)
    measured = exposure(frame, *asked["models"], **{name: asked[name] for name in ASKED[1:]})
    return {
        "exposed": max(each.people for each in measured),
        "people": measured[0].everybody,
        "details": [str(each) for each in measured if each.groups],
    }


class ExpectTableToSatisfyPrivacyModels(BatchExpectation):
    """Expect that a table satisfies privacy models by its quasi-identifiers.

    `models` are written as on the command line (`k-anonymity:k=5`); `quasi`, `sensitive` and `person` name columns, as
    in `shoal.testing.assert_satisfies`. The result counts people and shows no value.

    Example:
        >>> import great_expectations, pandas
        >>> from shoal.integrations.great_expectations import ExpectTableToSatisfyPrivacyModels
        >>> export = pandas.DataFrame({"age": ["20-29"] * 3, "sex": ["f", "f", "m"]})
        >>> context = great_expectations.get_context(mode="ephemeral")
        >>> context.variables.progress_bars = {"globally": False}
        >>> batch = context.data_sources.pandas_default.read_dataframe(export)
        >>> told = batch.validate(ExpectTableToSatisfyPrivacyModels(models=["k-anonymity:k=2"], quasi=["age", "sex"]))
        >>> told.success, told.result["observed_value"]
        (False, '1 of 3 people are exposed')
    """

    models: list[str]
    quasi: list[str]
    sensitive: list[str] = []  # noqa: RUF012
    person: str | None = None

    metric_dependencies: ClassVar[tuple[str, ...]] = (METRIC,)
    success_keys: ClassVar[tuple[str, ...]] = ASKED
    args_keys: ClassVar[tuple[str, ...]] = ASKED

    def _validate(
        self, metrics: dict[str, Any], runtime_configuration: Any = None, execution_engine: Any = None
    ) -> dict[str, Any]:
        told = metrics[METRIC]
        observed = f"{told['exposed']:,} of {told['people']:,} people are exposed"
        return {
            "success": not told["details"],
            "result": {"observed_value": observed, "details": {"broken": told["details"]}},
        }
