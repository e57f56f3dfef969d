"""What measuring took: time and memory."""

import sys
from typing import Any


def peak_memory() -> int:
    """Tell the most memory this process has had resident, in bytes; 0 where that is not known."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def speed(count: int, what: str, seconds: float) -> dict[str, Any]:
    """Report how fast a number of things was done: "seconds", "{what}_per_s", "peak_rss_mb"."""
    return {
        "seconds": round(seconds, 3),
        f"{what}_per_s": round(count / seconds, 1) if seconds else None,
        "peak_rss_mb": round(peak_memory() / 1e6, 1),
    }
