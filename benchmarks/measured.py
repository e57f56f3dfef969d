"""Time and peak memory of a piece of work, measured in a fresh process."""

import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spacy_medlink.util.files import save_text
from spacy_medlink.util.outputs import FileKind

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_RESULTS = FileKind("results of a benchmark")  # may be overwritten: git keeps the old ones
# Processor features that speed up products of matrices.
_TOLD = {"avx2", "avx512f", "avx512_bf16", "avx512_vnni", "avx_vnni", "amx_bf16", "amx_int8"}
_EVERY = 0.05  # seconds between two samples of the memory


def run_task(function: str, **arguments: Any) -> dict[str, Any]:
    """Call a function in a fresh process.

    function (str): such as "benchmarks.kb_tasks.open_kb"; it takes the arguments (JSON) and
        returns a dict.
    RETURNS (Dict[str, Any]): the function's dict, with `wall_s` and `cpu_s` of the whole process,
        and `peak_rss_mb`, the peak resident memory of the process and its children together.
    RAISES (RuntimeError): with the output of the process, when it failed.
    """
    command = [sys.executable, "-m", __name__, function, json.dumps(arguments)]
    return _run(command)


def run_command(*command: str) -> dict[str, Any]:
    """Run the command `medlink`. RETURNS `wall_s`, `cpu_s`, `peak_rss_mb`, and its `output`."""
    code = "from spacy_medlink.cli import main; main()"
    return _run([sys.executable, "-c", code, *command])


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
    found: dict[str, Any] = json.loads(text) if text.startswith("{") else {"output": text}
    return {
        **found,
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
        """Sample until stopped."""
        while (now := sum(map(resident, family(self._pid)))) or Path(f"/proc/{self._pid}").exists():
            self.peak = max(self.peak, now)
            time.sleep(_EVERY)
            if not now:
                return


def family(pid: int) -> list[int]:
    """List a process and its descendants; empty where there is no /proc."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        try:
            for children in Path(f"/proc/{one}/task").glob("*/children"):
                waiting += map(int, children.read_text().split())
        except OSError:  # it has just ended
            continue
    return found


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


def write_results(output: Path, results: dict[str, Any], table: str) -> None:
    """Write results as JSON and their table beside it as Markdown, and print the table."""
    output.parent.mkdir(parents=True, exist_ok=True)
    texts = {output: json.dumps(results, indent=2), output.with_suffix(".md"): table}
    for path, text in texts.items():
        save_text(path, _RESULTS, text.rstrip("\n") + "\n", overwrite=True)
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
        **{library: version(library) for library in ("spacy-medlink", *libraries)},
    }


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
    found = getattr(importlib.import_module(module), function)(**json.loads(sys.argv[2]))
    print(json.dumps(found))


if __name__ == "__main__":
    _main()
