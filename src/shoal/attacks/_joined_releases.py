"""What attacks share that join rows of several releases of the same people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from typing_extensions import Doc

from shoal.adversary.joining import fewest_candidates, linking_columns, newly_exposed, risk
from shoal.core.contracts.attack import Attack, Attempt
from shoal.core.hierarchy import Floats
from shoal.core.parameters import Share
from shoal.core.release_history import AlignedReleases, LocatedRelease


@dataclass(frozen=True, kw_only=True)
class JoinedReleases(Attack):
    """An attack that finds whose rows are whose by the classes of several releases."""

    threshold: Annotated[Share, Doc("the risk above which a record counts as exposed")] = 0.2

    def attempt_joined(
        self,
        people: AlignedReleases,
        releases: Sequence[LocatedRelease],
        together: Floats,
        before: Floats,
        detail: dict[str, Any],
        **facts: Any,
    ) -> Attempt:
        """The attempt by everybody's risk with all releases, `together`, and without the last one, `before`."""
        risks, without = people.by_person(together, people.shown), people.by_person(before, people.shown)
        count = max(len(risks), 1)
        gaining = people.shown & newly_exposed(together, risk(fewest_candidates(people)), self.line)
        return self.attempt_over(
            risks,
            baseline=float(np.maximum(without, 1 / count).sum()) / count,
            detail={
                **detail,
                "k": int(1 / risks.max() + 0.5) if len(risks) else 0,
                "gained": people.people(gaining) / count,
                "joined_by": list(linking_columns(releases)),
            },
            **facts,
        )
