"""MeSH documents of a few records, for tests of the reader."""


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


def supplement(ui: str, name: str, concepts: str, headings: tuple[str, ...], note: str) -> str:
    """Write a supplementary record of class 1."""
    mapped = "".join(
        f"<HeadingMappedTo><DescriptorReferredTo><DescriptorUI>{heading}</DescriptorUI>"
        "<DescriptorName><String>Any</String></DescriptorName></DescriptorReferredTo>"
        "</HeadingMappedTo>\n"
        for heading in headings
    )
    return (
        f'<SupplementalRecord SCRClass="1">\n<SupplementalRecordUI>{ui}</SupplementalRecordUI>\n'
        f"<SupplementalRecordName><String>{name}</String></SupplementalRecordName>\n"
        f"<Note>{note}\n</Note><HeadingMappedToList>{mapped}</HeadingMappedToList>\n"
        f"<ConceptList>\n{concepts}</ConceptList></SupplementalRecord>\n"
    )


def document(records: str, kind: str = "DescriptorRecordSet", lang: str = "eng") -> str:
    """Write a document; the first record begins on line 3."""
    return (
        f'<?xml version="1.0"?>\n<!DOCTYPE {kind} SYSTEM "nlm.dtd">'
        f'<{kind} LanguageCode = "{lang}">\n{records}</{kind}>\n'
    )


DESCRIPTORS = document(
    descriptor(
        "D014652", "Vascular Diseases", concept(term("Vascular Diseases", "Y"), "Y"), ("C14.907",)
    )
    + descriptor(
        "D006973",
        "Hypertension",
        concept(
            term("Hypertension", "Y")
            + term("Blood Pressure, High")
            + term("Pressure, High Blood", permuted="Y"),
            "Y",
            "<RegistryNumber>0</RegistryNumber>"
            "<ScopeNote>Persistently high systemic\n    arterial BLOOD PRESSURE.</ScopeNote>",
        )
        + concept(
            term("Hypertension, Mild &amp; Moderate", "Y"),
            more="<RegistryNumber>11-22-3</RegistryNumber><ScopeNote>Other.</ScopeNote>",
        ),
        ("C14.907.489", "C14.907.489", "G09.330"),
    )
)
SUPPLEMENTS = document(
    supplement(
        "C000002",
        "bevonium",
        concept(
            term("bevonium", "Y") + term("bevonium methyl sulfate"),
            "Y",
            "<RegistryNumberList><RegistryNumber>34B0471E08</RegistryNumber>"
            "<RegistryNumber>5205-82-3</RegistryNumber><RegistryNumber>EC 3.4.21.-</RegistryNumber>"
            "</RegistryNumberList>",
        ),
        ("*D001561", "D010880"),
        "structure given in first source",
    ),
    "SupplementalRecordSet",
)
