"""SNOMED CT identifiers: an item number, a partition, and a Verhoeff check digit."""

import numpy as np

from benchmarks.synthetic.draws import Ints

CONCEPT, DESCRIPTION, RELATIONSHIP = 0, 1, 2  # partitions
PERMUTATION = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)


def _product(a: int, b: int) -> int:
    """Multiply in the symmetries of a pentagon: 0 to 4 turn it, 5 to 9 turn it over."""
    if a < 5:
        return (a + b) % 5 if b < 5 else (a + b) % 5 + 5
    return (a - b) % 5 + 5 if b < 5 else (a - b) % 5


def _powers() -> list[list[int]]:
    """Apply the permutation no times, once, ... seven times."""
    rows = [list(range(10))]
    for _ in range(7):
        rows.append([rows[-1][digit] for digit in PERMUTATION])
    return rows


PRODUCTS = np.array([[_product(a, b) for b in range(10)] for a in range(10)])
POWERS = np.array(_powers())
INVERSES = np.argmin(PRODUCTS, axis=1)  # the product with it is 0


def check_digits(numbers: Ints) -> Ints:
    """Compute the check digits that numbers need at their end.

    numbers (Ints): positive, below 10**17, (n,).
    RETURNS (Ints): 0 to 9, (n,).
    """
    check = np.zeros_like(numbers)
    place = 1
    while (live := numbers > 0).any():
        step = PRODUCTS[check, POWERS[place % 8, numbers % 10]]
        check = np.where(live, step, check)
        numbers = numbers // 10
        place += 1
    out: Ints = INVERSES[check]
    return out


def sctids(items: Ints, partition: int) -> Ints:
    """Make identifiers.

    items (Ints): item numbers, (n,). partition (int): CONCEPT, DESCRIPTION or RELATIONSHIP.
    RETURNS (Ints): identifiers, (n,).
    """
    numbers = items * 100 + partition
    return numbers * 10 + check_digits(numbers)
