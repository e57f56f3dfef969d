"""Starting a second Python process, for work beside a build."""

import os
import subprocess
import sys

# The second process gets the list of paths, so that it finds the same package.
_CODE = (
    "import sys; sys.path[:] = {paths!r}; "
    "from {module} import {function}; {function}(*{arguments!r})"
)


def start(
    module: str, function: str, *arguments: object, stdin: int | None = None,
    stdout: int | None = None,
) -> "subprocess.Popen[bytes] | None":  # fmt: skip
    """Call a function in a new Python process, whose standard error is a pipe.

    multiprocessing is not used, because its fork is unsafe beside threads, and its spawn runs the
    user's script again.

    module, function (str): what to call; it may not need `__main__`.
    arguments (object): literals.
    stdin, stdout (Optional[int]): as in subprocess.Popen.
    RETURNS (Optional[Popen]): None where Python cannot be started again or has only one core.
    """
    if not sys.executable or getattr(sys, "frozen", False) or (os.cpu_count() or 1) < 2:
        return None
    code = _CODE.format(paths=sys.path, module=module, function=function, arguments=arguments)
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE
    )


def last_words(problem: bytes) -> str:
    """Extract the reason of a failure from a process's standard error."""
    lines = problem.decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it was killed")
