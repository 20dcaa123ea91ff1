"""C4.5 classification trees, as WEKA's J48."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.core.hierarchy import Floats
from shoal.utility.examples import Examples
from shoal.utility.learning import Learner
from shoal.utility.tree_nodes import Node, probabilities
from shoal.utility.trees import Grower


@dataclass
class C45(Learner):
    """A tree that splits by gain ratio among the splits of at least average gain: a branch a name, two at a threshold.

    A threshold pays for its choice among many (MDL). Missing values go down every branch in proportion. The tree is
    pruned by pessimistic errors at the `confidence`, with the largest branch raised where that is as good.

    Reference: J. R. Quinlan, C4.5: Programs for Machine Learning, 1993 (WEKA's J48).

    Example:
        >>> import polars
        >>> table = polars.DataFrame({"age": [20, 25, 30, 60, 65, 70], "sex": list("fmfmfm")})
        >>> tree = C45().fit(table, ["no", "no", "no", "yes", "yes", "yes"])
        >>> tree.rules()
        ['age <= 30: no (3)', 'age > 30: yes (3)']
    """

    smallest: float = 2
    confidence: float = 0.25
    prune: bool = True
    raising: bool = True

    def learn(self, examples: Examples) -> None:
        grower = Grower(
            examples.attributes, examples.rows, examples.labels, len(examples.classes),
            smallest=self.smallest, confidence=self.confidence, prune=self.prune, raising=self.raising,
        )  # fmt: skip
        self.tree_ = grower.grow()

    def shares(self, rows: Floats) -> Floats:
        return probabilities(self.tree_, rows)

    def rules(self) -> list[str]:
        """One rule a leaf: the conditions on the way to it, its class, its training records and those that are wrong.

        They show values of the table, as the tree itself does."""
        return [self._rule(node, way) for node, way in self.tree_.leaves()]

    def _rule(self, leaf: Node, way: tuple[tuple[Node, int], ...]) -> str:
        conditions = " and ".join(self.condition(node, place) for node, place in way) or "always"
        wrong = f"/{leaf.wrong:g}" if leaf.wrong > 0 else ""
        return f"{conditions}: {self.classes_[leaf.classes.argmax()]} ({leaf.total:g}{wrong})"

    def condition(self, node: Node, branch: int) -> str:
        """What a branch of a node asks of a record."""
        assert node.attribute is not None
        attribute = self.attributes_[node.attribute]
        if attribute.values is not None:
            return f"{attribute.name} = {attribute.values[branch]}"
        return f"{attribute.name} {'>' if branch else '<='} {node.threshold:g}"
