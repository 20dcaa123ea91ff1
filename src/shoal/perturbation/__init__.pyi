# Made from the code by `make docs`.
from shoal.perturbation.additive_noise import AdditiveNoise as AdditiveNoise
from shoal.perturbation.condensation import Condensation as Condensation
from shoal.perturbation.distortion import Distortion as Distortion
from shoal.perturbation.microaggregation import Microaggregation as Microaggregation
from shoal.perturbation.multiplicative_noise import MultiplicativeNoise as MultiplicativeNoise
from shoal.perturbation.pram import Pram as Pram
from shoal.perturbation.random_projection import RandomProjection as RandomProjection
from shoal.perturbation.rank_swapping import RankSwapping as RankSwapping
from shoal.perturbation.resampling import Resampling as Resampling
from shoal.perturbation.rotation import Rotation as Rotation
from shoal.perturbation.rounding import Rounding as Rounding
from shoal.perturbation.shuffling import Shuffling as Shuffling
from shoal.perturbation.targeted_swapping import TargetedSwapping as TargetedSwapping
from shoal.perturbation.top_bottom_coding import TopBottomCoding as TopBottomCoding
