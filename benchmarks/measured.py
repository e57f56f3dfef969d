"""What all benchmarks share: time and peak memory of work in a fresh process, machine, tables."""

import gzip
import importlib
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
DATA = Path(os.environ.get("MEDLINK_DATA", Path(__file__).parents[2] / "shared" / "data"))
CORPORA = ("ncbi_disease", "bc5cdr")  # with diseases
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
# Processor features that speed up products of matrices.
_TOLD = {"avx2", "avx512f", "avx512_bf16", "avx512_vnni", "avx_vnni", "amx_bf16", "amx_int8"}
_EVERY = 0.05  # seconds between two samples of the memory


def run_task(function: str, **arguments: Any) -> dict[str, Any]:
    """Call a function in a fresh process.

    function (str): such as "benchmarks.kb_tasks.read"; it takes the arguments (JSON) and returns a
        dict.
    RETURNS (Dict[str, Any]): the function's dict, with `wall_s` and `cpu_s` of the whole process,
        and `peak_rss_mb`, the peak resident memory of the process and its children together.
    RAISES (RuntimeError): with the output of the process, when it failed.
    """
    return _run([sys.executable, "-m", __name__, function, json.dumps(arguments)])


def run_command(*command: object, module: str = "spacy_medlink.cli") -> dict[str, Any]:
    """Run a verb of `medlink`, or `python -m module`.

    RETURNS: `wall_s`, `cpu_s`, `peak_rss_mb`, and its `output`.
    """
    return _run([sys.executable, "-m", module, *map(str, command)])


def _run(command: list[str]) -> dict[str, Any]:
    start, before = time.perf_counter(), _used()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    watch = _Watch(process.pid)
    watch.start()
    output, problems = process.communicate()
    seconds = time.perf_counter() - start
    watch.join()
    if process.returncode != 0:
        raise RuntimeError(problems.decode(errors="replace"))
    text = output.decode()
    figures: dict[str, Any] = json.loads(text) if text.startswith("{") else {"output": text}
    return {
        **figures,
        "wall_s": round(seconds, 3),
        "cpu_s": round(_used() - before, 3),
        "peak_rss_mb": round(watch.peak / 1e6, 1),
    }


def _used() -> float:
    """Read the processor time of the processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Watch(threading.Thread):
    """A thread that samples the memory of a process and its children until the process ends."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.peak = 0

    def run(self) -> None:
        """Sample until the process ends."""
        while (now := sum(map(resident, family(self._pid)))) or Path(f"/proc/{self._pid}").exists():
            self.peak = max(self.peak, now)
            time.sleep(_EVERY)
            if not now:
                return


def family(pid: int) -> list[int]:
    """List a process and its descendants; empty where there is no /proc."""
    members, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        members.append(parent)
        try:
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                waiting += map(int, children.read_text().split())
        except OSError:  # it has just ended
            continue
    return members


def resident(pid: int | str = "self") -> int:
    """Read the resident memory of a process, in bytes; 0 when it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def private() -> int:
    """Read the memory of this process without the files that it maps, in bytes; 0 without /proc."""
    try:
        fields = Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0
    return (int(fields[1]) - int(fields[2])) * _PAGE


def diseases(corpus: str, part: str, workplace: Path) -> Path:
    """Write the mentions of a part of a corpus, without chemicals: MEDIC has only diseases."""
    with gzip.open(DATA / f"{corpus}.{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    path = workplace / f"{corpus}.{part}.jsonl"
    for document in documents:
        document["mentions"] = [
            mention for mention in document["mentions"] if mention["type"] != "Chemical"
        ]
    path.write_text(
        "".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8"
    )
    return path


def seconds_of(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile of several times, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100)
    return {"p50": round(1000 * cuts[49], 2), "p99": round(1000 * cuts[98], 2)}


def as_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Write rows as a Markdown table, with a column for each key of any row."""
    heads = list(dict.fromkeys(head for row in rows for head in row))
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += [f"| {' | '.join(_shown(row.get(head, '')) for head in heads)} |" for row in rows]
    return "\n".join(lines)


def _shown(value: object) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 3}f}"


def report(output: Path, rows: Sequence[Mapping[str, object]], note: str = "") -> None:
    """Write rows with the command and the machine: JSON, and a table beside it; print the table."""
    options = re.sub(r"[^ =]*/", "", " ".join(sys.argv[1:]))  # names, not whole paths
    about: dict[str, Any] = {"note": note, "options": options, "machine": machine()}
    told = ", ".join(f"{key} {value}" for key, value in about["machine"].items())
    lines = [as_table(rows), *([note] if note else []), f"Options `{options}`; {told}."]
    write_results(output, {"rows": list(rows), **about}, "\n\n".join(lines))


def write_results(output: Path, results: Mapping[str, Any], table: str) -> None:
    """Write results as JSON and their table beside it as Markdown, and print the table."""
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    output.with_suffix(".md").write_text(table.rstrip("\n") + "\n", encoding="utf-8")
    print(table)


def machine() -> dict[str, Any]:
    """Describe the machine and the versions."""
    libraries = ("numpy", "spacy", "torch", "faiss-cpu", "transformers")
    return {
        "processor": _of_processor("model name") or platform.processor(),
        "instructions": " ".join(sorted(_TOLD & {*_of_processor("flags").split()})),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * _PAGE / 1e9) if _PAGE else None,
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        **dict(_versions("spacy-medlink", *libraries)),
    }


def _versions(*libraries: str) -> Iterator[tuple[str, str]]:
    """List the versions of libraries that are installed."""
    for library in libraries:
        with suppress(PackageNotFoundError):
            yield library, version(library)


def _of_processor(fact: str) -> str:
    """Read a fact about the first processor from Linux; "" where it is not known."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(fact)), "")


def _main() -> None:
    """Run the function of `run_task` in the fresh process."""
    module, _, function = sys.argv[1].rpartition(".")
    figures = getattr(importlib.import_module(module), function)(**json.loads(sys.argv[2]))
    print(json.dumps(figures))


if __name__ == "__main__":
    _main()
