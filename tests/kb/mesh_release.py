"""MeSH documents of a few records, for tests of the reader."""

from pathlib import Path


def term(text: str, preferred: str = "N", permuted: str = "N") -> str:
    """Write a term."""
    return (
        f'<Term ConceptPreferredTermYN="{preferred}" IsPermutedTermYN="{permuted}" '
        'LexicalTag="NON" RecordPreferredTermYN="N">\n'
        f"<TermUI>T000001</TermUI><String>{text}</String>\n"
        "<ThesaurusIDlist><ThesaurusID>NLM (1999)</ThesaurusID></ThesaurusIDlist></Term>\n"
    )


def concept(terms: str, preferred: str = "N", more: str = "") -> str:
    """Write a concept of a record."""
    return (
        f'<Concept PreferredConceptYN="{preferred}"><ConceptUI>M0000001</ConceptUI>\n'
        f"<ConceptName><String>Any</String></ConceptName>{more}\n"
        f"<TermList>\n{terms}</TermList></Concept>\n"
    )


def descriptor(ui: str, name: str, concepts: str = "", trees: tuple[str, ...] = ()) -> str:
    """Write a descriptor, with parts that the reader must not take for its own."""
    numbers = "".join(f"<TreeNumber>{tree}</TreeNumber>\n" for tree in trees)
    return (
        f'<DescriptorRecord DescriptorClass="1">\n<DescriptorUI>{ui}</DescriptorUI>\n'
        f"<DescriptorName><String>{name}</String></DescriptorName>\n"
        "<AllowableQualifiersList><AllowableQualifier><QualifierReferredTo>"
        "<QualifierUI>Q000031</QualifierUI><QualifierName><String>analogs</String></QualifierName>"
        "</QualifierReferredTo></AllowableQualifier></AllowableQualifiersList>\n"
        "<PharmacologicalActionList><PharmacologicalAction><DescriptorReferredTo>"
        "<DescriptorUI>D000900</DescriptorUI></DescriptorReferredTo></PharmacologicalAction>"
        f"</PharmacologicalActionList>\n<TreeNumberList>{numbers}</TreeNumberList>\n"
        f"<ConceptList>\n{concepts}</ConceptList></DescriptorRecord>\n"
    )


def document(records: str, kind: str = "DescriptorRecordSet", lang: str = "eng") -> str:
    """Write a document; the first record begins on line 3."""
    return (
        f'<?xml version="1.0"?>\n<!DOCTYPE {kind} SYSTEM "nlm.dtd">'
        f'<{kind} LanguageCode = "{lang}">\n{records}</{kind}>\n'
    )


_FILES = Path(__file__).with_name("sample_files")
DESCRIPTORS = (_FILES / "mesh_descriptors.xml").read_text("utf-8")
SUPPLEMENTS = (_FILES / "mesh_supplements.xml").read_text("utf-8")
