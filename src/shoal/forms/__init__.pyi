# Made from the code by `make docs`.
from shoal.forms.counterfeited import CounterfeitedForm as CounterfeitedForm
from shoal.forms.generalized import GeneralizedForm as GeneralizedForm
from shoal.forms.multisets import MultisetsForm as MultisetsForm
from shoal.forms.perturbed import PerturbedForm as PerturbedForm
from shoal.forms.sliced import SlicedForm as SlicedForm
from shoal.forms.two_table import TwoTableForm as TwoTableForm
