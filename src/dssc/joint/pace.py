"""Finding the proximal weight of a splitting by how fast it gets on."""

import math

FACTOR = 4.0  # between one weight and the next one tried
FAST = 5.0  # the fall of the gap, from one look to the next, that is left alone


class Pace:
    """Says what to multiply the weight with, from the gaps it led to.

    While the gap falls fast nothing changes. Else another weight is tried, a smaller one at first,
    and from there on in the same direction for as long as the gap falls faster than before.
    """

    def __init__(self) -> None:
        self.gap = math.inf
        self.fall = 0.0
        self.direction = 1.0 / FACTOR
        self.tried = False

    def factor(self, gap: float) -> float:
        """Return what to multiply with, given the gap that is left."""
        last, self.gap = self.gap, gap
        if not math.isfinite(last):
            return 1.0
        before, self.fall = self.fall, last / gap
        if self.tried and self.fall < before:
            self.direction = 1.0 / self.direction
        self.tried = self.fall <= FAST
        return self.direction if self.tried else 1.0
