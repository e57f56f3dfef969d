"""PartSource: the parts of an input as a source of Ray Data."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow
from ray.data import Datasource, ReadTask
from ray.data.block import BlockMetadata

from .inputs import PartStream


class PartSource(Datasource):
    """An input, read as a stream in one task: a block with one row for each part.

    One reader feeds hundreds of linkers, and the parts are the same as in the local engine.
    """

    def __init__(self, parts: PartStream) -> None:
        self._parts = parts

    def estimate_inmemory_data_size(self) -> int | None:
        """Return None, since the size is not known."""
        return None

    def get_read_tasks(self, *_: Any, **__: Any) -> list[ReadTask]:
        """Make the one task."""
        unknown = BlockMetadata(num_rows=None, size_bytes=None, input_files=None, exec_stats=None)
        parts = self._parts
        return [ReadTask(lambda: _blocks(parts), unknown)]


def _blocks(parts: PartStream) -> Iterator[Any]:
    for part in parts:
        documents = json.dumps(part.documents, ensure_ascii=False)
        yield pyarrow.table({"number": [part.number], "documents": [documents]})
