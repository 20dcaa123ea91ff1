# Made from the code by `make docs`.
from shoal.perturbation.additive_noise import AdditiveNoise as AdditiveNoise
from shoal.perturbation.distortion import Distortion as Distortion
from shoal.perturbation.multiplicative_noise import MultiplicativeNoise as MultiplicativeNoise
from shoal.perturbation.pram import Pram as Pram
from shoal.perturbation.random_projection import RandomProjection as RandomProjection
from shoal.perturbation.rank_swapping import RankSwapping as RankSwapping
from shoal.perturbation.resampling import Resampling as Resampling
