"""A small network trained on scikit-learn's digits, whose matrix products are ours or a library's.

    from course_lib.training import train, step_cost
    train("library", backend="cpu").losses
    step_cost("fused").count("sectors")
"""

from course_lib.training.cost import StepCost, step_cost
from course_lib.training.digits import Digits, digits
from course_lib.training.gradient import Slope, check_gradient
from course_lib.training.loop import CLOSE, KINDS, STEP_CLOSE, Speed, Training, loss_distance, place, speed, step_error, train
from course_lib.training.network import LEARNT, PRODUCTS, Network, Product, Setting, accuracy, first_weights, scores
from course_lib.training.parts import Gemm, Parts, gemms, parts, rates

__all__ = [
    "CLOSE", "Digits", "Gemm", "KINDS", "LEARNT", "Network", "PRODUCTS", "Parts", "Product", "STEP_CLOSE", "Setting", "Slope",
    "Speed", "StepCost", "Training", "accuracy", "check_gradient", "digits", "first_weights", "gemms", "loss_distance", "parts",
    "place", "rates", "scores", "speed", "step_cost", "step_error", "train",
]
