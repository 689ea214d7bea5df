"""Numbers in text, with a decimal point or a decimal comma."""

from collections.abc import Sequence

# Makes a point of a comma, and what is not a number of a point.
POINT_FOR_COMMA = str.maketrans(",.", ".?")


class Numbers:
    """How the numbers of a table are written.

    Parameters
    ----------
    decimal : {".", ","} or None
        The decimal point. None takes the first one that occurs.
    """

    def __init__(self, decimal: str | None = ".") -> None:
        self.decimal = decimal

    def parse(self, cells: Sequence[str | float]) -> list[float]:
        """Return the numbers in cells; raise ValueError if one is not a number."""
        if self.decimal is None:
            self.decimal = _decimal_in(cells)
        if self.decimal == ",":
            return [float(str(cell).translate(POINT_FOR_COMMA)) for cell in cells]
        return list(map(float, cells))

    def is_number(self, cell: str | float) -> bool:
        """Return whether a cell is a number."""
        try:
            Numbers(self.decimal).parse([cell])
        except (ValueError, OverflowError):
            return False
        return True

    def hint(self, cell: str) -> str:
        """Return what to do if a cell is a number after all, for an error about it."""
        other = {".": ",", ",": "."}.get(self.decimal or "")
        if other is None or not Numbers(other).is_number(cell):
            return ""
        return f"; if {other!r} is the decimal point, add --decimal {other}"


def _decimal_in(cells: Sequence[str | float]) -> str | None:
    """Return the decimal point that cells have; None if they are integers."""
    text = " ".join(map(str, cells))
    return "." if "." in text else "," if "," in text else None


# Numbers with a decimal point, as Python writes them, and with a decimal comma.
POINT, COMMA = Numbers("."), Numbers(",")
