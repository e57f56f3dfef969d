"""Hostile directories of models, and the process that loads them: see `test_hostile`."""

import codecs
import json
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

Change = Callable[[Path], None]
EVIL = "evil.py"
_KERNEL = "nobody/nothing:layer"
# Fields that name code, with values of several types.
_CODE: dict[str, list[Any]] = {
    "auto_map": [
        {"AutoConfig": "evil.C", "AutoModel": "evil.M", "AutoTokenizer": ["evil.T", "evil.T"]},
        {"AutoModel": "some-org/some-model--evil.M"},
        ["evil.T", None],
        "evil.M",
    ],
    "auto_mapping": [{"base_model_class": "M", "parent_library": "evil"}],
    "_attn_implementation": [_KERNEL],
    "_attn_implementation_internal": [_KERNEL, {"": _KERNEL}, [_KERNEL]],
    "attn_implementation": [_KERNEL, {"text_config": _KERNEL}],
    "configuration_files": [["config.4.0.0.json"]],
    "custom_pipelines": [{"fever": {"impl": "evil.P", "pt": ["AutoModel"]}}],
    "quantization_config": [{"quant_method": "bitsandbytes", "load_in_8bit": True}, "evil"],
    "trust_remote_code": [True, "yes", 1],
}
_NESTINGS: list[Callable[[str, Any], dict[str, Any]]] = [
    lambda name, value: {name: value},
    lambda name, value: {"text_config": {name: value}},
    lambda name, value: {"encoder": {"layers": [{"own": {name: value}}]}},
]
_FILES = ("config.json", "tokenizer_config.json")
_OTHER_FILES = (
    *("generation_config.json", "preprocessor_config.json", "processor_config.json"),
    *("special_tokens_map.json", "sentence_bert_config.json", "config_sentence_transformers.json"),
)
_TYPES: list[Any] = [
    *("evil", "t5", "gpt2", "llama", "timm_wrapper", "encoder-decoder", "rag", "clip", "BERT"),
    *("os.path", "../evil", "", None, 3, ["bert"], {"bert": 1}, True),
]
_TOKENIZERS: list[Any] = [
    *("AutoModel", "AutoTokenizer", "pipeline", "evil.T", "os", "RagTokenizer", "logging"),
    *("TransfoXLTokenizer", "BertJapaneseTokenizer", "some-org/some-model--evil.T", "Trainer"),
    *(3, True, ["BertTokenizer"], {"BertTokenizer": 1}, "PreTrainedModel", "__builtins__"),
]
_MODULES: list[Any] = [
    *("evil.M", "os.system", "sentence_transformers.models.Dense", "torch.hub.load"),
    *("sentence_transformers.models.evil", "sentence_transformers/../evil.Transformer"),
    *("sentence_transformers.base.modules.router.Router", 3, None, ["evil.M"]),
]
_ODD_VALUES: list[Any] = [3, -1, "evil", ["evil"], {"evil": 1}, True, 10**30, "\ud800"]
_OWN_SETTINGS = ("pooling", "max_length", "adapter_reduction", "projected", "prefix", "lower_case")
_EVENTS = ("socket.", "subprocess.", "os.system", "os.mkdir", "os.rename", "os.exec")
_OTHER_PLACES = ("https://evil.example/vocab", "gs://evil/vocab")


def write_hostile(good: Path, place: Path) -> dict[str, Path]:
    """Write the directories, each a copy of a good one with one change. RETURNS them by name."""
    written = {}
    for number, (name, change) in enumerate(_changes()):
        directory = place / f"{number:03}"
        shutil.copytree(good, directory)
        (directory / EVIL).write_text(
            f"import pathlib\npathlib.Path({str(place / 'ran')!r}).touch()\n"
            "class C: ...\nclass M: ...\nclass T: ...\n"
        )
        change(directory)
        written[f"{number:03} {name}"] = directory
    return written


def write_kernels(place: Path) -> None:
    """Write a package `kernels` that fetches nothing and tells that it was asked to."""
    (place / "kernels").mkdir(parents=True)
    (place / "kernels" / "__init__.py").write_text(
        "class Device:\n    def __init__(self, *given, **settings): ...\n"
        "LayerRepository = Device\n"
        "def register_kernel_mapping(*given, **settings): ...\n"
        "def use_kernel_forward_from_hub(name):\n    return lambda layer: layer\n"
        "replace_kernel_forward_from_hub = use_kernel_forward_from_hub\n"
        "def get_kernel(*given, **settings):\n"
        f"    open({str(place / 'asked')!r}, 'w')\n    raise ValueError('asked')\n"
    )
    facts = place / "kernels-0.9.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: kernels\nVersion: 0.9.0\n")


def _changes() -> Iterator[tuple[str, Change]]:
    for file, nest, (field, values) in product(_FILES, _NESTINGS, _CODE.items()):
        for value in values:
            yield f"{file} {field} {value!r}", _with(file, nest(field, value))
    for file in _OTHER_FILES:
        yield f"{file} auto_map", _with(file, {"auto_map": _CODE["auto_map"][0]})
        yield f"{file} is a list", _bytes(file, b'[{"auto_map": {"AutoModel": "evil.M"}}]')
    for value in _TYPES:
        for code in (None, _CODE["auto_map"][0]):
            change = {"model_type": value, "auto_map": code, "architectures": ["evil.M"]}
            yield f"model_type {value!r} {code!r}", _with("config.json", change)
    for value in _TOKENIZERS:
        for file in _FILES:
            yield f"{file} tokenizer_class {value!r}", _tokenizer_class(file, value)
    for value in _MODULES:
        modules = [{"idx": 0, "path": "", "type": value}, {"idx": 1, "path": "..", "type": value}]
        yield f"modules.json {value!r}", _bytes("modules.json", json.dumps(modules).encode())
    for setting, value in product(_OWN_SETTINGS, _ODD_VALUES):
        text = json.dumps({setting: value}).encode()
        yield f"medlink_encoder.json {setting} {value!r}", _bytes("medlink_encoder.json", text)
    for key, value in product(("vocab_file", "tokenizer_file"), _OTHER_PLACES):
        yield f"{key} {value}", _with("tokenizer_config.json", {key: value})
    for name, odd in {"to_dict": 1, "__class__": "evil", "return_dict": False}.items():
        yield f"config.json {name}", _with("config.json", {name: odd, "torchscript": True})
    for encoding, file in product(("utf-8-sig", "utf-16", "latin-1"), _FILES):
        yield f"{file} in {encoding}", _encoded(file, encoding)
    yield "escaped name", _escaped
    yield "two fields of one name", _twice
    yield "adapter", _with("adapter_config.json", {"base_model_name_or_path": "some-org/model"})
    yield "deep", _bytes("config.json", b'{"a":' * 100_000)
    yield "pickle", _pickle(beside=False)
    yield "pickle beside weights", _pickle(beside=True)
    yield "shards", _shards
    yield "many layers", _with("config.json", {"num_hidden_layers": 10**9})
    yield "many labels", _with("config.json", {"num_labels": 10**9})


def _with(file: str, change: dict[str, Any]) -> Change:
    def change_in(directory: Path) -> None:
        path = directory / file
        content = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**content, **change}))
        if "configuration_files" in str(change):
            other = {**content, "auto_map": _CODE["auto_map"][0]}
            (directory / "config.4.0.0.json").write_text(json.dumps(other))

    return change_in


def _tokenizer_class(file: str, value: Any) -> Change:
    def change_in(directory: Path) -> None:
        _with("tokenizer_config.json", {"tokenizer_class": None})(directory)
        _with(file, {"tokenizer_class": value})(directory)

    return change_in


def _bytes(file: str, content: bytes) -> Change:
    return lambda directory: (directory / file).write_bytes(content) and None  # type: ignore[func-returns-value]


def _encoded(file: str, encoding: str) -> Change:
    def change_in(directory: Path) -> None:
        _with(file, {"auto_map": _CODE["auto_map"][0], "note": "é"})(directory)
        text = json.dumps(json.loads((directory / file).read_text()), ensure_ascii=False)
        (directory / file).write_bytes(codecs.encode(text, encoding))

    return change_in


def _escaped(directory: Path) -> None:
    _with("config.json", {"auto_map": {"AutoModel": "evil.M"}})(directory)
    path = directory / "config.json"
    path.write_text(path.read_text().replace('"auto_map"', r'"\u0061uto\u005fmap"'))


def _twice(directory: Path) -> None:
    path = directory / "config.json"
    kernel = f'"_attn_implementation_internal": "{_KERNEL}"'
    path.write_text(path.read_text().strip()[:-1] + f", {kernel.replace(_KERNEL, '')}, {kernel}}}")


class _Runs:
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return os.mkdir, (str(Path(self.place)),)  # type: ignore[attr-defined]


def _pickle(beside: bool) -> Change:
    def change_in(directory: Path) -> None:
        runs = _Runs()
        runs.place = directory.parent / "ran"  # type: ignore[attr-defined]
        (directory / "pytorch_model.bin").write_bytes(pickle.dumps(runs))
        if not beside:
            (directory / "model.safetensors").unlink()

    return change_in


def _shards(directory: Path) -> None:
    (directory / "model.safetensors").rename(directory / "elsewhere.safetensors")
    index = {"metadata": {}, "weight_map": {"pooler": f"../{directory.name}/elsewhere.safetensors"}}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))


def main(good: str, place: str, work: str) -> None:
    """Load every directory in each way, and write what happened into `work`/told.json."""
    from spacy_medlink.encoders.bi_encoder import BiEncoder
    from spacy_medlink.encoders.cross_encoder import CrossEncoder
    from spacy_medlink.encoders.loading import load_transformer
    from spacy_medlink.encoders.opening import open_to_encode
    from spacy_medlink.errors import MedlinkError

    ways: dict[str, Callable[[Path], Any]] = {
        "bi-encoder": lambda path: BiEncoder.load(path).encode(["fever"]),
        "reranker": CrossEncoder.load,
        "assets": lambda path: open_to_encode(path)[0].encode(["fever"]),
        "transformer": lambda path: load_transformer(path, attention=None),
    }
    for load in (ways["bi-encoder"], ways["assets"], ways["transformer"]):
        load(Path(good))  # imports what loading needs
    watched: list[str] = []
    sys.addaudithook(lambda event, given: _watch(watched, place, event, given))
    told: dict[str, dict[str, Any]] = {}
    for name, directory in json.loads(Path(work, "directories.json").read_text()).items():
        for way, load in ways.items():
            watched.clear()
            try:
                load(Path(directory))
                ended = "loaded"
            except MedlinkError as error:
                ended = error.code
            except BaseException as error:  # what no caller expects
                ended = f"{type(error).__name__}: {error}"
            told[f"{name}, {way}"] = {"ended": ended, "watched": list(watched)}
    watched.append("the end")
    Path(work, "told.json").write_text(json.dumps(told))


def _watch(watched: list[str], place: str, event: str, given: Any) -> None:
    """Note what a directory must not do. The hook stays to the end of the process."""
    if "the end" in watched:
        return
    if event == "open":
        path, mode, flags = given
        writes = any(letter in (mode or "") for letter in "wax+")
        writes = writes or bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if (writes and path != os.devnull) or str(path).endswith((EVIL, ".bin")):
            watched.append(f"open {path} {mode}")
    elif event in ("exec", "compile"):
        own = getattr(given[0], "co_filename", "") if event == "exec" else given[1]
        if place in str(own):
            watched.append(f"{event} {own}")
    elif event == "import":
        if given[0].startswith(("kernels", "evil", "transformers_modules")):
            watched.append(f"import {given[0]}")
    elif event.startswith(_EVENTS) and event != "socket.__new__":
        watched.append(f"{event} {given!r:.100}")


if __name__ == "__main__":
    main(*sys.argv[1:])
