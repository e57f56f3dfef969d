from spacy_medlink.evaluation.protocols import split_composite
from tests.tables import table


@table(__file__, "split_composite")
def test_split_composite(text: str, n_ids: int, parts: list[str]) -> None:
    assert split_composite(text, n_ids) == parts
