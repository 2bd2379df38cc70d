"""Training: recipes, contrastive divergence, convergence, checkpoints."""

from thermorbm.training.loop import TrainingResult, train
from thermorbm.training.recipe import RECIPES, Recipe

__all__ = ["RECIPES", "Recipe", "TrainingResult", "train"]
