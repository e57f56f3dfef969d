"""tell: shows a warning at the line of the user's own code, not at a line of a library."""

import sys
import warnings

# A component is made, initialised and run by these.
_BETWEEN = frozenset({__name__.partition(".")[0], "spacy", "thinc", "confection", "catalogue"})


def tell(message: str) -> None:
    """Warn with the innermost line that is neither in this package nor in spaCy."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in _BETWEEN:
            break
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
