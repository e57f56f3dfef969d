"""Figures as they are written: fractions with 6 digits."""

DIGITS = 6


def rounded(value: float | None) -> float | None:
    """Round a fraction; None stays what cannot be computed."""
    return None if value is None else round(float(value), DIGITS)


def fraction(part: float, whole: float) -> float | None:
    """Divide and round; None of nothing."""
    return rounded(part / whole) if whole else None
