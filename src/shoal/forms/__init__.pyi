# Made from the code by `make docs`.
from shoal.forms.counterfeited import Counterfeited as Counterfeited
from shoal.forms.generalized import Generalized as Generalized
from shoal.forms.multisets import Multisets as Multisets
from shoal.forms.perturbed import Perturbed as Perturbed
from shoal.forms.sliced import Sliced as Sliced
from shoal.forms.two_table import TwoTable as TwoTable
