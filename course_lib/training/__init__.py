"""A small network trained on scikit-learn's digits, whose matrix products are ours or a library's.

    from course_lib.training import train, step_cost
    train("library", backend="cpu").losses
    step_cost("fused").count("sectors")
"""

from course_lib.training.cost import StepCost, step_cost
from course_lib.training.digits import Digits, digits
from course_lib.training.loop import CLOSE, KINDS, STEP_CLOSE, Speed, Training, apart, place, speed, step_error, train
from course_lib.training.network import LEARNT, PRODUCTS, Network, Product, Setting, accuracy, first_weights, scores

__all__ = ["CLOSE", "KINDS", "LEARNT", "PRODUCTS", "STEP_CLOSE", "Digits", "Network", "Product", "Setting", "Speed", "StepCost", "Training",
           "accuracy", "apart", "digits", "first_weights", "place", "scores", "speed", "step_cost", "step_error", "train"]
