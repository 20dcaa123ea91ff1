# Made from the code by `make docs`.
from shoal.models.alpha_k_anonymity import AlphaKAnonymity as AlphaKAnonymity
from shoal.models.beta_likeness import BetaLikeness as BetaLikeness
from shoal.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
from shoal.models.delta_presence import DeltaPresence as DeltaPresence
from shoal.models.disclosure_bounds import DisclosureBounds as DisclosureBounds
from shoal.models.distinct_l_diversity import DistinctLDiversity as DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity as EntropyLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity as FrequencyLDiversity
from shoal.models.inference_l import InferenceL as InferenceL
from shoal.models.k_anonymity import KAnonymity as KAnonymity
from shoal.models.k_combinations import KCombinations as KCombinations
from shoal.models.k_households import KHouseholds as KHouseholds
from shoal.models.k_map import KMap as KMap
from shoal.models.p_sensitive_k_anonymity import PSensitiveKAnonymity as PSensitiveKAnonymity
from shoal.models.recursive_l_diversity import RecursiveLDiversity as RecursiveLDiversity
from shoal.models.rho_privacy import RhoPrivacy as RhoPrivacy
from shoal.models.t_closeness import TCloseness as TCloseness
