"""What one step asks of the memory: every kernel of its products on the simulator, counters added up."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

from course_lib.errors import CourseError
from course_lib.run import LaunchResult, counter_name
from course_lib.training.digits import Digits, digits
from course_lib.training.host import Simulator
from course_lib.training.network import PRODUCTS, Network, Product, Setting


@dataclass(frozen=True)
class StepCost:
    """The launches of one step's products.

    Attributes
    ----------
    products
        "separate" or "fused".
    launches
        In the order of the step; a fused product is one launch, a separate one two to four.
    """

    products: str
    setting: Setting
    launches: tuple[tuple[Product, tuple[LaunchResult, ...]], ...] = field(repr=False)

    @property
    def counters(self) -> dict[str, int]:
        """Return Nsight Compute's names to counts, added up over all launches; simulated."""
        total: Counter[str] = Counter()
        for _, results in self.launches:
            for result in results:
                total.update(result.counters)
        return dict(total)

    def count(self, what: str, kind: str | None = None) -> int:
        """Return a count over all launches: as `LaunchResult.count`, both kinds together when `kind` is None."""
        return sum(self.counters.get(counter_name(what, k), 0) for k in ((kind,) if kind else ("load", "store")))

    @property
    def kernels(self) -> int:
        """Return how many kernels are launched."""
        return sum(len(results) for _, results in self.launches)

    def rows(self) -> tuple[tuple[str, str, int, int], ...]:
        """Return (formula, names of kernels, sectors loaded, sectors stored) of each product."""
        return tuple((p.text, " + ".join(r.kernel.name for r in results), sum(r.count("sectors", "load") for r in results),
                      sum(r.count("sectors", "store") for r in results)) for p, results in self.launches)


def step_cost(products: str, setting: Setting | None = None, data: Digits | None = None) -> StepCost:
    """Run one step with its products on the simulator.

    Parameters
    ----------
    products
        "separate" or "fused".
    setting
        Default 128 hidden neurons, 64 pictures.

    >>> small = Setting(hidden=16, batch=16)
    >>> fused, separate = (step_cost(products, small) for products in ("fused", "separate"))
    >>> fused.kernels, separate.kernels, fused.count("sectors") < separate.count("sectors")
    (5, 16, True)
    """
    if products not in ("separate", "fused"):
        raise CourseError(f"products = {products!r}: the simulator runs 'separate' and 'fused'", products=products)
    setting, data = setting or Setting(), data or digits()
    where = Simulator(products)
    network = Network(setting, where)
    network.load(*next(islice(data.batches(setting.batch, setting.seed), 1)))
    network.step()
    return StepCost(products, setting, tuple((p, results) for p, (_, results) in zip(PRODUCTS, where.launches, strict=True)))
