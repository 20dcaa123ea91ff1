"""Rotation and translation of numeric columns (Chen and Liu, 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from shoal.core.parameters import Examples
from shoal.core.run import Run
from shoal.perturbation._numeric import Floats, NumericPerturbation, varying


@dataclass(frozen=True, kw_only=True)
class Rotation(NumericPerturbation):
    """Standardizes the columns, turns all records together by a random rotation, maybe with a reflection, and moves
    them together by a random vector; each column shows one coordinate of the result, on the scale that it had.

    Distances between standardized records are kept exactly, so clusterings and nearest neighbours are what they were,
    while no column means what its name says. A record with a missing value in one of the columns loses all of them.

    Does not protect against: whoever knows the values of a few people. One more than there are columns is enough to
    undo the rotation for everybody, to the last digit, and nobody has to say which records these people are: the
    distances between them tell (`known-records`). A single column is only moved and maybe turned round. It claims no
    privacy model, and the values of a record are not true of it. The rotation follows from the seed, which stays
    secret. Publish it only to people who can know nobody's values; `random-projection` with fewer directions than
    columns cannot be undone exactly.

    Reference: K. Chen, L. Liu, Privacy preserving data classification with rotation perturbation, 2005.

    Example:
        >>> import numpy, polars, shoal
        >>> table = polars.DataFrame({"x": [1.0, 2.0, 5.0, 6.0], "y": [2.0, 0.0, 1.0, 9.0]})
        >>> data = shoal.read(table, quasi=["x", "y"])
        >>> release = shoal.anonymize(data, algorithm=Rotation())
        >>> spread = (release.frame.to_numpy() / table.to_numpy().std(axis=0)).var(axis=0)
        >>> round(float(spread.sum()), 6)  # what the two standardized columns have together
        2.0
    """

    translation: Annotated[
        float, Ge(0), Doc("standard deviation of the vector that all records are moved by, in standard deviations")
    ] = 1.0

    examples: ClassVar[Examples] = ({}, {"translation": 0.0})

    def changed(self, values: Floats, names: tuple[str, ...], generator: np.random.Generator, run: Run) -> Floats:
        means, deviations = np.nanmean(values, axis=0), varying(values, names)
        turned: Floats = (values - means) / deviations @ random_rotation(len(names), generator)
        moved: Floats = means + deviations * (turned + self.translation * generator.standard_normal(len(names)))
        return moved


def random_rotation(columns: int, generator: np.random.Generator) -> Floats:
    """A rotation or reflection, all of them equally likely.

    Example:
        >>> turn = random_rotation(3, np.random.default_rng(1))
        >>> bool(np.allclose(turn @ turn.T, np.eye(3)))
        True
    """
    square, upper = np.linalg.qr(generator.standard_normal((columns, columns)))
    rotation: Floats = square * np.sign(np.diag(upper))
    return rotation
