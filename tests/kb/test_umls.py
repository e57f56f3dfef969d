"""The UMLS reader: what it makes of a release, wherever its files lie, and what it refuses."""

import gzip
import zipfile
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_medlink.errors import MedlinkError
from spacy_medlink.kb import KnowledgeBase, build_kb, build_knowledge_base
from spacy_medlink.kb.filters import Filters
from spacy_medlink.kb.readers import lines, read, umls
from spacy_medlink.kb.readers.umls import conso, release_of, rrf
from spacy_medlink.types import BadLine, Concept, Name, Record
from tests.kb.umls_release import (
    BLOOD_PRESSURE,
    BRAND,
    DRUG,
    HYPERTENSION,
    RXNORM,
    TABLES,
    atom,
    definition,
    history,
    relation,
    write_release,
)
from tests.tables import table

pytestmark = pytest.mark.filterwarnings("ignore:.W110")  # most have no types


def records_of(path: Path, bad_lines: list[BadLine] | None = None) -> list[Record]:
    return list(read("umls", path, bad_lines))


def concepts_of(path: Path) -> dict[str, Concept]:
    return {record.id: record for record in records_of(path) if isinstance(record, Concept)}


def with_table(directory: Path, name: str, rows: list[str]) -> Path:
    return write_release(directory, TABLES | {name: rows})


def test_only_names_are_needed(tmp_path):
    whole = concepts_of(write_release(tmp_path / "whole"))
    bare = concepts_of(write_release(tmp_path / "bare", {"MRCONSO": TABLES["MRCONSO"]}))
    assert whole.keys() == bare.keys()
    assert bare[HYPERTENSION].types == bare[HYPERTENSION].parents == ()
    assert {name.text for name in bare[HYPERTENSION].names} == {
        name.text for name in whole[HYPERTENSION].names
    }


class TestPreferredName:
    def test_rank_decides_among_english_names_in_use(self, tmp_path):
        assert concepts_of(write_release(tmp_path))[BLOOD_PRESSURE].name == "Blood pressure"

    @table(__file__, "without_ranks_the_marks_in_the_row_decide")
    def test_without_ranks_the_marks_in_the_row_decide(self, tmp_path, first, second, preferred):
        rows = [atom("C0000001", "first", **first), atom("C0000001", "second", **second)]
        assert concepts_of(write_release(tmp_path, {"MRCONSO": rows}))["C0000001"].name == preferred

    def test_rank_comes_before_the_marks(self, tmp_path):
        rows = [atom("C0000001", "first"), atom("C0000001", "second", TTY="PT", TS="S")]
        tables = {"MRCONSO": rows, "MRRANK": ["0001|MSH|MH|N|", "0002|MSH|PT|N|"]}
        assert concepts_of(write_release(tmp_path, tables))["C0000001"].name == "second"


VOCABULARIES, TERM_TYPES = ["MSH", "SCTSPA", "SNOMEDCT_US"], ["FN", "PT", "SY"]
some = partial(st.lists, max_size=2, unique=True)
ROWS = st.tuples(
    st.sampled_from(["a", "b", "c", "d", "e"]), st.sampled_from(["ENG", "SPA"]),
    st.sampled_from(VOCABULARIES), st.sampled_from(TERM_TYPES), st.sampled_from("NNO"),
)  # fmt: skip


@given(
    rows=st.lists(ROWS, min_size=1, max_size=8),
    ranks=st.permutations([*product(VOCABULARIES, TERM_TYPES, "NO")]),
    languages=some(st.sampled_from(["en", "es"])),
    sources=some(st.sampled_from(VOCABULARIES)),
    term_types=some(st.sampled_from(TERM_TYPES)),
    obsolete=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_best_name_left_by_a_filter_is_preferred(
    tmp_path, rows, ranks, languages, sources, term_types, obsolete
):
    """By MRRANK among the rows that the filter leaves, whatever rows their names have besides."""
    conso = [
        atom("C0000001", text, LAT=lat, SAB=sab, TTY=tty, SUPPRESS=suppress)
        for text, lat, sab, tty, suppress in rows
    ]
    lines = [f"{n:04}|{sab}|{tty}|{old}|" for n, (sab, tty, old) in enumerate(ranks, 1)]
    path = write_release(tmp_path, {"MRCONSO": conso, "MRRANK": lines})
    wanted = {"sources": tuple(sources), "term_types": tuple(term_types)}
    filters = Filters(languages=tuple(languages), include_obsolete=obsolete, **wanted)
    in_use = {row[:2] for row in rows if row[4] == "N"}
    left = [
        (suppress == "N", lat == "ENG", ranks.index((sab, tty, suppress)), text)
        for text, lat, sab, tty, suppress in rows
        if (not languages or {"ENG": "en", "SPA": "es"}[lat] in languages)
        and (not sources or sab in sources) and (not term_types or tty in term_types)
        and (obsolete or (text, lat) in in_use)
    ]  # fmt: skip
    kept = [*filters.apply(umls.read(path, **wanted))]
    assert bool(kept) == bool(left)
    for concept in kept:
        assert concept.name in {text for *order, text in left if order == [*max(left)[:3]]}


def test_the_filters_of_a_build_decide_by_which_vocabulary_names_are_ordered(tmp_path):
    """In its own vocabulary "DM" is a synonym, though another has it as its preferred term."""
    rows = [
        atom("C0011849", text, LAT="SPA", SAB=sab, TTY=tty)
        for text, sab, tty in [
            ("DM", "MDRSPA", "PT"), ("DM", "SCTSPA", "SY"), ("diabetes mellitus", "SCTSPA", "PT"),
        ]
    ]  # fmt: skip
    ranks = ["0003|MDRSPA|PT|N|", "0002|SCTSPA|PT|N|", "0001|SCTSPA|SY|N|"]
    path = write_release(tmp_path, {"MRCONSO": rows, "MRRANK": ranks})
    names = [
        build_knowledge_base(
            out=tmp_path / f"{i}.kb", sources=[("umls", path)], filters=filters
        ).kb["C0011849"].name
        for i, filters in enumerate([Filters(), Filters(sources=("SCTSPA",))])
    ]  # fmt: skip
    assert names == ["DM", "diabetes mellitus"]


def test_a_name_is_obsolete_only_if_all_its_sources_say_so(tmp_path):
    rows = [
        atom("C0000001", "both", SUPPRESS="O", TTY="OP"),
        atom("C0000001", "both", SAB="NCI", TTY="PT"),
        atom("C0000001", "old", SUPPRESS="O"),
        atom("C0000001", "old", SAB="NCI", SUPPRESS="Y"),
    ]
    names = concepts_of(write_release(tmp_path, {"MRCONSO": rows}))["C0000001"].names
    assert names == (
        Name("both", "en", "MSH|NCI", "PT"), Name("old", "en", "MSH|NCI", "MH", True),
    )  # fmt: skip


def test_definitions_in_use_and_in_english_come_first(tmp_path):
    rows = [
        definition(HYPERTENSION, "NCI", "Old.", "O"),
        definition(HYPERTENSION, "MSHSPA", "Alta."),
    ]
    assert concepts_of(with_table(tmp_path, "MRDEF", rows))[HYPERTENSION].definition == "Alta."


class TestRelations:
    def test_half_a_hierarchy_is_refused(self, tmp_path):
        rows = [relation(BLOOD_PRESSURE, "CHD", HYPERTENSION, "isa")]
        with pytest.raises(MedlinkError, match="E160"):
            records_of(with_table(tmp_path, "MRREL", rows))

    def test_the_written_hierarchy(self, tmp_path):
        path = tmp_path / "umls.kb"
        report = build_kb(path, read("umls", write_release(tmp_path / "META")))
        kb = KnowledgeBase(path)
        assert report.missing_parents == 0
        assert kb.children(BLOOD_PRESSURE) == [HYPERTENSION, DRUG]
        assert kb.resolve("C0000002") == HYPERTENSION
        assert kb[HYPERTENSION].codes.get("SNOMEDCT_US", ()) == ("38341003", "999")
        assert [concept.id for concept in kb.find("inderal")] == [DRUG, BRAND]


def test_versions(tmp_path):
    assert release_of(write_release(tmp_path)) == "2026AA"


class TestPlaces:
    """The same release, wherever its files lie."""

    @pytest.fixture
    def expected(self, tmp_path):
        return records_of(write_release(tmp_path / "plain"))

    def test_above_the_directory(self, tmp_path, expected):
        write_release(tmp_path / "release" / "2026AA" / "META")
        assert records_of(tmp_path / "release" / "2026AA") == expected
        assert records_of(tmp_path / "release") == expected

    def test_gzip(self, tmp_path, expected):
        for name, rows in TABLES.items():
            (tmp_path / f"{name}.RRF.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
        assert records_of(tmp_path) == expected

    def test_pieces_cut_anywhere(self, tmp_path, expected):
        for name, rows in TABLES.items():
            data = "".join(f"{row}\n" for row in rows).encode()
            for piece, part in zip(("aa", "ab"), (data[:70], data[70:]), strict=True):
                (tmp_path / f"{name}.RRF.{piece}.gz").write_bytes(gzip.compress(part))
        assert records_of(tmp_path) == expected

    @pytest.mark.parametrize("below", ["", "2026AA-full"])
    def test_archives(self, tmp_path, expected, below):
        directory = tmp_path / below
        directory.mkdir(exist_ok=True)
        names = list(TABLES)
        for number, part in ((1, names[:3]), (2, names[3:])):
            with zipfile.ZipFile(directory / f"2026aa-{number}-meta.nlm", "w") as archive:
                for name in part:
                    data = "".join(f"{row}\n" for row in TABLES[name]).encode()
                    archive.writestr(f"2026AA/META/{name}.RRF.aa.gz", gzip.compress(data[:50]))
                    archive.writestr(f"2026AA/META/{name}.RRF.ab.gz", gzip.compress(data[50:]))
        assert records_of(directory) == expected

    def test_one_archive(self, tmp_path, expected):
        path = tmp_path / "umls.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, rows in TABLES.items():
                archive.writestr(f"2026AA/META/{name}.RRF", "".join(f"{row}\n" for row in rows))
        assert records_of(path) == expected

    def test_nowhere(self, tmp_path):
        (tmp_path / "README.txt").write_text("nothing")
        with pytest.raises(MedlinkError, match="E160"):
            records_of(tmp_path)

    @pytest.mark.parametrize("cut", [10, 200])
    def test_damaged_gzip(self, tmp_path, cut):
        data = gzip.compress("\n".join(TABLES["MRCONSO"]).encode())
        (tmp_path / "MRCONSO.RRF.gz").write_bytes(data[:cut])
        with pytest.raises(MedlinkError, match=r"E105.*unreadable or damaged"):
            records_of(tmp_path, [])

    def test_damaged_zip(self, tmp_path):
        (tmp_path / "meta.nlm").write_bytes(b"PK nonsense")
        with pytest.raises(MedlinkError, match=r"E105.*damaged zip"):
            records_of(tmp_path, [])


class TestBlocks:
    """Rows are read in blocks: where a block ends must not matter."""

    @pytest.mark.parametrize("size", [1, 2, 7, 100, 1000])
    def test_any_size(self, tmp_path, monkeypatch, size):
        path = write_release(tmp_path)
        expected = records_of(path)
        monkeypatch.setattr(rrf, "_BLOCK", size)
        assert records_of(path) == expected

    @pytest.mark.parametrize("size", [1, 100, 1 << 16])
    def test_mark_carriage_returns_blank_lines_and_missing_end(self, tmp_path, monkeypatch, size):
        expected = records_of(write_release(tmp_path / "plain"))
        monkeypatch.setattr(rrf, "_BLOCK", size)
        for name, rows in TABLES.items():
            text = "\ufeff" + "\r\n\r\n".join(rows)
            (tmp_path / f"{name}.RRF").write_bytes(text.encode())
        assert records_of(tmp_path) == expected

    def test_a_name_of_a_megabyte(self, tmp_path):
        rows = [*TABLES["MRCONSO"], atom("C0000050", "x" * 1_000_000)]
        assert len(concepts_of(with_table(tmp_path, "MRCONSO", rows))["C0000050"].name) == 1_000_000

    def test_a_file_without_lines(self, tmp_path, monkeypatch):
        monkeypatch.setattr(rrf, "_LONGEST", 1000)
        monkeypatch.setattr(rrf, "_BLOCK", 100)
        with pytest.raises(MedlinkError, match=r"E105.*line 12: a line of over"):
            records_of(with_table(tmp_path, "MRCONSO", [*TABLES["MRCONSO"], "x" * 5000]), [])


GOOD = atom("C0000005", "good")
BAD_ROWS = {
    "truncated": (GOOD[:30], "5 columns"),
    "a column too few": (GOOD.replace("|PF|", "|"), "17 columns"),
    "a column too many": (GOOD + "x|", "19 columns"),
    "two rows in one": (GOOD + GOOD, "36 columns"),
    "text after the last bar": (GOOD + "x", "text after the last bar"),
    "NUL": (GOOD.replace("good", "go\0od"), "a NUL byte"),
    "not UTF-8": (GOOD.encode().replace(b"good", b"g\xffod"), "not UTF-8"),
    "empty CUI": (GOOD.replace("C0000005", ""), "CUI is ''"),
    "blank CUI": (GOOD.replace("C0000005", " "), "CUI is ' '"),
    "CUI with a tab": (GOOD.replace("C0000005", "C00\t05"), "CUI is"),
    "empty name": (GOOD.replace("good", ""), "STR is empty"),
    "blank name": (GOOD.replace("good", " \u00a0 "), "STR is empty"),
}


class TestBadRows:
    @pytest.mark.parametrize(("row", "problem"), BAD_ROWS.values(), ids=BAD_ROWS)
    @pytest.mark.parametrize("size", [50, 1 << 16])
    def test_raised_or_collected_with_their_line(self, tmp_path, monkeypatch, row, problem, size):
        monkeypatch.setattr(rrf, "_BLOCK", size)
        before, after = atom("C0000004", "before"), atom("C0000006", "after")
        raw = row if isinstance(row, bytes) else row.encode()
        path = tmp_path / "MRCONSO.RRF"
        path.write_bytes(b"\n".join([before.encode(), raw, after.encode(), b""]))
        with pytest.raises(MedlinkError, match=f"E105.*MRCONSO.RRF, line 2: .*{problem}"):
            records_of(tmp_path)
        bad_lines: list[BadLine] = []
        assert [record.id for record in records_of(tmp_path, bad_lines)] == ["C0000004", "C0000006"]
        assert len(bad_lines) == 1
        assert bad_lines[0].path == str(path)
        assert bad_lines[0].line == 2
        assert problem in bad_lines[0].problem

    @pytest.mark.parametrize("name", TABLES)
    def test_in_every_table_reported_once(self, tmp_path, name):
        bad_lines: list[BadLine] = []
        rows = [*TABLES[name], "C9999999|nonsense|"]
        with pytest.raises(MedlinkError, match=f"E105.*{name}.RRF, line {len(rows)}"):
            records_of(with_table(tmp_path, name, rows))
        expected = records_of(write_release(tmp_path / "good"))
        assert records_of(tmp_path, bad_lines) == expected
        assert [(Path(bad.path).name, bad.line) for bad in bad_lines] == [
            (f"{name}.RRF", len(rows))
        ]

    @pytest.mark.parametrize("name", ["MRSTY", "MRDEF", "MRREL"])
    def test_after_the_last_concept(self, tmp_path, monkeypatch, name):
        monkeypatch.setattr(rrf, "_BLOCK", 50)
        last = TABLES[name][-1]
        rows = [*TABLES[name], *(last.replace(last[:8], f"D{i:07d}") for i in range(9)), "D1|"]
        with pytest.raises(MedlinkError, match=rf"E105.*{name}.RRF, line {len(rows)}"):
            records_of(with_table(tmp_path, name, rows))

    @pytest.mark.parametrize("rank", ["", "x", "-1", "9" * 10_000])
    def test_ranks_are_numbers(self, tmp_path, rank):
        with pytest.raises(MedlinkError, match=r"E105.*MRRANK.RRF, line 1: RANK"):
            records_of(with_table(tmp_path, "MRRANK", [f"{rank}|MSH|MH|N|"]))


class TestOrder:
    @pytest.mark.parametrize("name", ["MRCONSO", "MRSTY", "MRDEF", "MRREL", "MRCUI"])
    @pytest.mark.parametrize("size", [50, 1 << 16])
    def test_rows_out_of_order_are_refused_even_when_bad_lines_are_skipped(
        self, tmp_path, monkeypatch, name, size
    ):
        monkeypatch.setattr(rrf, "_BLOCK", size)
        extra = {
            "MRDEF": [definition(DRUG, "MSH", "A drug.")],
            "MRCUI": [history("C0000009", "DEL")],
        }
        rows = [*TABLES[name], *extra.get(name, [])][::-1]
        with pytest.raises(MedlinkError, match=rf"E150.*{name}.*LC_ALL=C sort -t'\|' -k1,1"):
            records_of(with_table(tmp_path, name, rows), [])

    def test_ids_of_unequal_length_sort_as_bytes(self, tmp_path):
        ids = ["C1", "C10", "C100", "C11", "C2", "D", "É", "𝒳"]
        rows = [atom(id, f"name of {id}") for id in ids]
        assert list(concepts_of(write_release(tmp_path, {"MRCONSO": rows}))) == ids

    def test_rows_about_unknown_ids_are_passed_over(self, tmp_path):
        rows = [relation("C0000000", "PAR", "C0000001"), *TABLES["MRREL"]]
        rows.append(relation("C9999999", "PAR", "C0000001"))
        assert concepts_of(with_table(tmp_path, "MRREL", rows))[HYPERTENSION].parents == (
            BLOOD_PRESSURE,
        )


def test_without_types_a_warning(tmp_path):
    tables = {name: rows for name, rows in TABLES.items() if name != "MRSTY"}
    with pytest.warns(UserWarning, match=r"W110.*MRSTY.RRF"):
        concepts = concepts_of(write_release(tmp_path, tables))
    assert concepts[HYPERTENSION].types == ()


@pytest.mark.parametrize("place", ["", "rrf"])
def test_rxnorm(tmp_path, place):
    write_release(tmp_path / place, RXNORM)
    assert list(concepts_of(tmp_path)) == ["10", "11", "9"]
    assert release_of(tmp_path) == "2026AA"


def test_a_bad_line_of_rxnorm(tmp_path):
    """It is told by its own file and line, not by those of the sorted copy."""
    rows = [*RXNORM["RXNCONSO"][:2], "12|ENG|", *RXNORM["RXNCONSO"][2:]]
    relations = [*RXNORM["RXNREL"], "8||CUI|RN|"]
    bad: list[BadLine] = []
    write_release(tmp_path, RXNORM | {"RXNCONSO": rows, "RXNREL": relations})
    assert len(records_of(tmp_path, bad)) == 3
    told = {(Path(line.path).parent, Path(line.path).name, line.line) for line in bad}
    assert told == {(tmp_path, "RXNCONSO.RRF", 3), (tmp_path, "RXNREL.RRF", 6)}
    with pytest.raises(MedlinkError, match=rf"E105.*{tmp_path}/RXN[A-Z]+.RRF, line (3|6): "):
        records_of(tmp_path)


def test_meddra_and_loinc_through_rrf(tmp_path):
    rows = [
        atom("C0000010", "Fever", SAB="MDR", TTY="PT", CODE="10016558"),
        atom("C0000010", "Febrile", SAB="MDR", TTY="LLT", CODE="10016286"),
        atom("C0000010", "Fieber", SAB="MDRGER", LAT="GER", TTY="PT", CODE="10016558"),
        atom("C0000010", "Fever:Find:Pt:^Patient:Ord", SAB="LNC", TTY="LN", CODE="45701-0"),
    ]
    concept = concepts_of(with_table(tmp_path, "MRCONSO", rows))["C0000010"]
    assert concept.codes["MEDDRA"] == ("10016558", "10016286")
    assert concept.codes["LNC"] == ("45701-0",)
    assert ("Fieber", "de") in [(name.text, name.lang) for name in concept.names]


@pytest.mark.parametrize("given", ["eng", "ENG", "en"])
def test_languages_as_the_umls_writes_them(tmp_path, given):
    records = Filters(languages=(given,)).apply(read("umls", write_release(tmp_path)))
    names = [name for record in records if isinstance(record, Concept) for name in record.names]
    assert names and {name.lang for name in names} == {"en"}


@pytest.mark.parametrize(
    "content", [b"\n", b"\0", b"C0000001|ENG|P|L1|PF|S1|Y|A1||||MSH|MH||x|0|N||\n"]
)
@pytest.mark.parametrize("packed", ["zip", "gz in zip", "gz"])
def test_a_release_that_is_a_bomb_is_refused(tmp_path, monkeypatch, packed, content):
    """Much comes out of little, in lines or as one: it is refused before all is read."""
    monkeypatch.setattr(lines, "_MUCH", 1 << 16)
    monkeypatch.setattr(lines, "_TIMES", 20)
    data = content * ((4 << 20) // len(content))
    data = gzip.compress(data) if "gz" in packed else data
    name = "MRCONSO.RRF.gz" if "gz" in packed else "MRCONSO.RRF"
    if packed == "gz":
        (tmp_path / name).write_bytes(data)
    else:
        with zipfile.ZipFile(tmp_path / "a.nlm", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"META/{name}", data)
    with pytest.raises(MedlinkError, match=r"E165.*unpacks to too much data"):
        records_of(tmp_path, [])


@pytest.mark.parametrize("case", [str.upper, str.lower])
@pytest.mark.parametrize("place", [0, len(TABLES["MRCONSO"])])
@pytest.mark.parametrize("bar", ["", "|"])
def test_a_line_that_names_the_columns(tmp_path, place, bar, case):
    """`sort` puts it behind all others."""
    rows = [*TABLES["MRCONSO"]]
    rows.insert(place, case("|".join(conso.COLUMNS.split())) + bar)
    types = ["CUI|TUI|STN|STY|ATUI|CVF|", *TABLES["MRSTY"]]
    directory = write_release(tmp_path / "META", {**TABLES, "MRCONSO": rows, "MRSTY": types})
    assert list(read("umls", directory)) == list(read("umls", write_release(tmp_path / "plain")))


@table(__file__, "codes_of_translations_without_mrsab")
def test_codes_of_translations_without_mrsab(tmp_path, sab, vocabulary):
    rows = [atom(HYPERTENSION, "Hipertensión", LAT="SPA", SAB=sab, CODE="X1")]
    tables = {"MRCONSO": rows, "MRSTY": TABLES["MRSTY"]}
    (concept,) = read("umls", write_release(tmp_path / "META", tables))
    assert isinstance(concept, Concept) and concept.codes == {vocabulary: ("X1",)}
