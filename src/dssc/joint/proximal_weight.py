"""The choice of a splitting's proximal weight by how fast the duality gap falls."""

import math
from dataclasses import dataclass

# Ratio of one weight to the next one tried.
FACTOR = 4.0
# The weight stays as it is while the gap falls by more than this from one check to the next.
FAST = 5.0


@dataclass
class WeightSearch:
    """Returns the factor by which to change the weight, from the gaps that it led to.

    While the gap falls fast, the weight does not change. Otherwise another weight is tried, first a
    smaller one, and further ones in the same direction as long as the gap falls faster than before.
    """

    gap: float = math.inf
    fall: float = 0.0
    direction: float = 1.0 / FACTOR
    changed: bool = False

    def factor(self, gap: float) -> float:
        """Return the factor for the weight, given the current gap."""
        last, self.gap = self.gap, gap
        if not math.isfinite(last):
            return 1.0
        before, self.fall = self.fall, last / gap
        if self.changed and self.fall < before:
            self.direction = 1.0 / self.direction
        self.changed = self.fall <= FAST
        return self.direction if self.changed else 1.0
