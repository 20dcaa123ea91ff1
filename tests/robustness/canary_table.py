"""A small table with canaries in its cells: no command may ever print one."""

from __future__ import annotations

CANARY = "Quetzal7319"
NUMERIC_CANARY = "48151623"
HEADER = "name,age,sex,zip,disease\n"
ROLES = ("--quasi", "age,sex,zip", "--sensitive", "disease", "--identifiers", "name")


def rows(count: int = 60) -> list[str]:
    """Records without their line ends."""
    sexes, diseases = ("F", "M", "M"), ("flu", "cough", CANARY, "cold")
    return [
        f"{CANARY} {row},{20 + row * 7 % 50},{sexes[row % 3]},0{4000 + row * 13 % 90},{diseases[row % 4]}"
        for row in range(count)
    ]


BODY = "\n".join(rows()) + "\n"
