from collections.abc import Iterator

import pytest
import spacy


@pytest.fixture(autouse=True)
def _spacy_on_the_processor() -> Iterator[None]:
    """Whatever a test lets spaCy compute on, the next one begins on the processor."""
    yield
    spacy.require_cpu()
