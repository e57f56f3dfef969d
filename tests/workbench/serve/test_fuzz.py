"""Requests of all sorts, made from the OpenAPI document, are never a fault of the service."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings

pytest.importorskip("fastapi")
from spacy_medlink.workbench.serve import CorrectionFile, Desk, make_app  # imports fastapi

EACH = 20  # requests of an operation
QUICK = settings(
    max_examples=EACH, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("is_valid", [False, True])
@pytest.mark.filterwarnings("ignore:.*W102")  # most texts have no mention
def test_no_request_is_a_fault(tiny_assets, tmp_path, is_valid):
    """More than 200 malformed requests, and as many that the document allows."""
    # Here, since it takes as long to import as all else of this room, for a test that few run.
    schemathesis = pytest.importorskip("schemathesis")
    file = CorrectionFile(tmp_path / "corrections.jsonl")
    desk = Desk("tiny", str(tiny_assets.path), device="cpu", corrections=file)
    schema = schemathesis.openapi.from_asgi("/openapi.json", make_app([desk], hosts=["*"]))
    mode = schemathesis.GenerationMode["POSITIVE" if is_valid else "NEGATIVE"]
    found: Counter[int] = Counter()
    for operation in (result.ok() for result in schema.get_all_operations()):
        if not (is_valid or operation.body or operation.query or operation.path_parameters):
            continue  # nothing of it can be malformed

        @QUICK
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case):
            answer = case.call()
            found[answer.status_code] += 1
            assert answer.status_code < 500, case.as_curl_command()

        ask()
    desk.close()
    assert is_valid or sum(found[one] for one in found if one >= 400) >= 200, found
