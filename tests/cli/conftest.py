import re
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from spacy_medlink.cli.app import app

Run = Callable[..., Any]
Fail = Callable[..., str]


@pytest.fixture
def run() -> Run:
    """Run `medlink` with arguments; the result has exit_code, stdout and stderr."""

    def run(*arguments: object, expect: int = 0, **settings: Any) -> Any:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], **settings)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == expect, result.output
        return result

    return run


@pytest.fixture
def fail(run: Run) -> Fail:
    """Run `medlink`, which must end with exit code 1 and a coded message, and give the message."""

    def fail(code: str, *arguments: object) -> str:
        result = run(*arguments, expect=1)
        assert result.stdout == ""
        message = str(result.stderr).strip().splitlines()[-1]
        assert re.match(rf"\[{code}\] ", message), message
        return message

    return fail
