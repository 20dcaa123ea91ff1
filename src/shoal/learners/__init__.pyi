# Made from the code by `make docs`.
from shoal.learners.c45 import C45 as C45
from shoal.learners.decision_stump import DecisionStump as DecisionStump
from shoal.learners.naive_bayes import NaiveBayes as NaiveBayes
