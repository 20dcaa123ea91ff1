"""Parameters of plug-ins: declared once as annotated fields, used everywhere.

From a field's annotation come its validation, its command-line spelling, its key in the job file and its
line on the reference page.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints

from annotated_types import Ge, Le
from typing_extensions import Doc

from shoal.core.validation import demand
from shoal.errors import ParameterError, alternatives, quoted


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One field of a plug-in, as documentation and front ends need it."""

    name: str
    kind: str
    default: object
    required: bool
    bounds: str
    help: str


def _described(hint: Any) -> tuple[str, str, str]:
    metadata: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        metadata = tuple(rest)
    text = next((entry.documentation for entry in metadata if isinstance(entry, Doc)), "")
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    bounds = ", ".join(
        f"{sign} {getattr(entry, name)}" for entry in metadata for name, sign in signs.items() if hasattr(entry, name)
    )
    kind = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint).replace("typing.", "")
    return kind, bounds, text


@cache
def _hints(plugin: type) -> dict[str, Any]:
    return get_type_hints(plugin, include_extras=True)


@cache
def _adapter(plugin: Any, name: str) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(_hints(plugin)[name])


def parameters(plugin: type) -> tuple[Parameter, ...]:
    """The parameters of a plug-in class, in the order they are declared, those without a default first."""
    return _parameters(plugin)


@cache
def _parameters(plugin: type) -> tuple[Parameter, ...]:
    parameters = []
    for field in dataclasses.fields(plugin):
        kind, bounds, text = _described(_hints(plugin)[field.name])
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        default = None if required else field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        parameters.append(Parameter(field.name, kind, default, required, bounds, text))
    return tuple(sorted(parameters, key=lambda parameter: not parameter.required))


def parameter_schema(plugin: type) -> dict[str, Any]:
    """The JSON schema of a plug-in's parameters, as a job file or a manifest holds them.

    Example:
        >>> from shoal.models.k_anonymity import KAnonymity
        >>> parameter_schema(KAnonymity)["properties"]["k"]
        {'minimum': 1, 'type': 'integer'}
    """
    known = parameters(plugin)
    return {
        "type": "object",
        "properties": {entry.name: _adapter(plugin, entry.name).json_schema() for entry in known},
        "required": [entry.name for entry in known if entry.required],
        "additionalProperties": False,
    }


def build(plugin: type, name: str, values: Mapping[str, Any]) -> Any:
    """An instance of a plug-in from named values; unknown and lacking names are errors that say so."""
    _check_names(plugin, name, values)
    return plugin(**values)


def _check_names(plugin: type, name: str, values: Mapping[str, Any]) -> None:
    known = {parameter.name: parameter for parameter in parameters(plugin)}
    unknown = [key for key in values if key not in known]
    if unknown:
        raise ParameterError(
            f"{name} has no parameter {quoted(unknown[0])}; {alternatives(unknown[0], known, 'it has')}"
        )
    lacking = [key for key, parameter in known.items() if parameter.required and key not in values]
    if lacking:
        raise ParameterError(f"{name} needs {', '.join(lacking)}")


def example(plugin: Any) -> str:
    """How a plug-in is made, such as `KAnonymity(k=4)`."""
    return f"{plugin.__name__}({', '.join(f'{key}={value!r}' for key, value in plugin.examples[0].items())})"


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, (tuple, list)) or all(map(_is_finite, value))


Examples = tuple[Mapping[str, Any], ...]
"""Parameters of a plug-in, one mapping a way to make it."""
Share = Annotated[float, Ge(0), Le(1)]
"""A parameter from 0 to 1."""


class Parametrized:
    """Base of every plug-in: validates its fields when it is made."""

    examples: ClassVar[Examples] = ({},)
    """Parameters with which it is tried: a plug-in that needs some shows here how it is meant to be used."""

    def __new__(cls, *given: Any, **values: Any) -> Self:
        """Explains what is given by place or by a wrong name, which a dataclass answers with a bare TypeError."""
        if given:
            raise ParameterError(f"{cls.__name__} takes its parameters by name, as in {example(cls)}")
        if values and dataclasses.is_dataclass(cls):
            _check_names(cls, cls.__name__, values)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        from pydantic import ValidationError

        plugin: Any = type(self)
        for field in dataclasses.fields(plugin):
            try:
                value = _adapter(plugin, field.name).validate_python(getattr(self, field.name))
            except ValidationError as error:
                raise ParameterError(f"{type(self).__name__}: {field.name} {demand(error.errors())}") from None
            except TypeError:  # from a validator of its own, which was made for other types
                raise ParameterError(f"{type(self).__name__}: {field.name}: the value has the wrong type") from None
            if not _is_finite(value):
                raise ParameterError(f"{type(self).__name__}: {field.name}: a number must be finite")
            object.__setattr__(self, field.name, value)

    def parameters(self) -> dict[str, Any]:
        """Field names and values, as a job file or a manifest holds them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
