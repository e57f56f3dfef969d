"""The protocol of the papers: ranks count names, not concepts.

"Each name once" means each string once after what BioSyn's preprocessing does to it; a name that
several concepts share is right if any of them is gold.
"""

import re
import string

_PUNCTUATION = re.compile(f"[\\s{re.escape(string.punctuation)}]+")


def paper_key(text: str) -> str:
    """Make what two names share that the papers take for one: lower case, no punctuation."""
    return _PUNCTUATION.sub(" ", text.lower()).strip()
