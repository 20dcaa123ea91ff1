"""Makes the list of names that detection ships, `src/shoal/diagnosis/person_names.txt.gz`, from Faker's locales (MIT).

`pip install faker`, then `python -m benchmarks.name_list`. Words that mean something else as well are left out:
colours, trades, countries, states, capitals, months, titles, and the words of ordinary answers.
"""

from __future__ import annotations

import gzip
import importlib
import pkgutil
import re
from collections.abc import Iterable
from pathlib import Path

from shoal.diagnosis.person_names import LIST, plain

_ORDINARY = """
    in the of and for other none yes no not male female high low good bad poor fair young old new may april june august
    summer winter spring fall king bishop page cook baker mason carpenter hunter fisher porter sexton farmer major minor
    long short small large big single married active left right free hope faith joy grace rich love art day star rose
    lily daisy heather ivy ginger basil sandy sunny misty rainy stormy cash bond price french english german spanish
    northern southern eastern western north south east west central city county state island islands lake mountain hill
    valley river wood woods field fields stone ford bank banks church cross temple rice berry cherry apple lemon grey
    control normal medium case cases dead death all man men max min total one two three four five six seven eight nine
    ten gold silver ruby diamond pearl amber crystal jewel sky ocean rain cloud land street road avenue lane place court
    square park america asia europe africa pacific atlantic chicago phoenix denver houston boston
"""
_ALSO_NAMES = """
    george john louis lucia mark marshall sofia victoria vincent violet virginia carolina salvador santiago domingo
    solomon marino leone olive lia brown ina
"""


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"[^\W\d_]+", plain(text))}


def names() -> list[str]:
    """Every given name and family name of every locale, in small letters and without accents, word by word."""
    from faker.providers import address, color, date_time, job, person

    every: set[str] = set()
    for locale in pkgutil.iter_modules(person.__path__):
        provider = importlib.import_module(f"{person.__name__}.{locale.name}").Provider
        for attribute in dir(provider):
            values = getattr(provider, attribute)
            if attribute.startswith(("first_name", "last_name")) and isinstance(values, (tuple, list, dict)):
                every |= _words(value for value in values if isinstance(value, str))
    american = importlib.import_module(f"{address.__name__}.en_US").Provider
    countries = date_time.Provider.countries
    ordinary = _words(
        (*color.Provider.all_colors, *job.Provider.jobs, *american.states, *(country.name for country in countries))
    ) | _words(country.capital for country in countries)
    left_out = (ordinary - set(_ALSO_NAMES.split())) | set(_ORDINARY.split())
    return sorted(word for word in every - left_out if len(word) > 1 or ord(word) > 0x2E80)


if __name__ == "__main__":
    words = names()
    Path(LIST).write_bytes(gzip.compress("\n".join(words).encode(), 9, mtime=0))
    print(f"{len(words):,} words, {Path(LIST).stat().st_size:,} bytes")
