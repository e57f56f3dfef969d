"""Persons, places, degrees and addresses name no problem; problems beside them stay."""

import pytest

from spacy_medlink.components.finding.settings import LEAVE_OUT
from spacy_medlink.types import Concept, Name
from tests.pipelines import finder
from tests.tiny import assets_of

NAMES = [
    "MI", "MS", "MA", "PA", "PT", "MD", "PE", "DVT", "CAD", "NC", "CT", "III", "PAD", "AIDS", "TIP",
    "ALL", "COPD", "Asthma", "Fever", "Pain", "Bone", "Graves", "Gout", "Stroke", "Heart", "Lung",
    "Diabetes", "Hypertension", "Rash", "Lesion", "Sepsis", "Berry", "Cough", "Foot", "Addison",
    "Parkinson", "Headache", "Chest Pain", "Back Pain",
]  # fmt: skip


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    directory = tmp_path_factory.mktemp("others")
    return assets_of(directory, (Concept(text, text, (Name(text),)) for text in NAMES))


@pytest.fixture(scope="module")
def nlp(assets):
    return finder(assets)


@pytest.mark.parametrize(
    "text",
    [
        # Addresses: a zip code, a telephone, a city of a street, an institution or a preposition.
        "Toledo, MI 48201", "Toledo, MI 48201-1234", "Salem MA, 775-555-0134", "Lives in Flint, MI",
        "Moved here from Flint MI", "Ann Arbor, MI", "Nurse Rash called",
        "12 Oak Street, Salem, MA", "Salem University, Durham, NC.",
        "Salem CT (860) 555-0134", "License: MA S12345678", "Pharmacy: Corner #11, Lansing MI",
        # Degrees behind a person.
        "Jane Roe, RN, MS, PT", "R. Shah MD, MS", "Kim Lee, MS, CCC-A", "Mary Smith, PA-C",
        "Nina Lund, PA", "Sharon Poe, B.S., MS, RDN", "Lund Ekman, DPT, MS",
        # Titles, roles and relations.
        "MS Jones is here", "He saw Ms. Pain.", "HE SAW MS JONES.", "MS. LUND WAS SEEN",
        "Dr. Graves", "Dr Karen Graves", "Mr. Rash called", "Prof. Addison", "Mrs. Pain called",
        "PCP: Berry, Andrea", "Patient name: Berry, Harold", "Surgeon: Bone, Michael",
        "Referring physician: Pain, Thomas", "Interpreter: J. Lung", "Signed: M. Parkinson, MD",
        "His cousin, Jill Addison, drove", "Seen by M. Parkinson, MD",
        # Streets, institutions, departments.
        "Fell on Rash Avenue", "12 Bone Ct", "Heart and Lung Institute", "Pain Clinic",
        "Center for Asthma and Cough", "Gout & Pain Society", "Asthma and Immunology will follow",
        "Department of Headache",
        # Addresses of the web and of e-mail.
        "www.stroke.org", "see asthma.org today", "fever@hospital.org", "https://x.net/gout",
        # Ordinary words in capitals, numerals and litres.
        "SHE USES HEARING AIDS", "THE TIP OF THE CATHETER", "ALL LABS WERE DRAWN", "NEW PAD GIVEN",
        "GRADE III/VI", "On 2 L NC", "On 3L NC", "QTc 450 MS.",
        # Numbers of things, names of users and files, and what is called so.
        "Accession: MI-22-1182", "Badge MS 3310", "user gout99", "Handle @asthma_mum",
        "gout_final.docx", "C:\\scans\\stroke\\day2", "A dog named Rash", "His nickname is Fever.",
        # States with labels and of residents, roles, and names in lists.
        "State: MA   Zip: 02139", "Fargo/MI.", "Lives in MS.", "A MI resident", "MA: Tina R. came",
        "Pt. Rash, Omar", "Daughter Gout is here", "MS Young has it", "cc: Sam Brook, MD",
    ],
)  # fmt: skip
def test_other_names_are_no_mentions(nlp, text):
    assert [ent.text for ent in nlp(text).ents] == []


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("CAD, MI.", "CAD MI"), ("Acute MI", "MI"), ("Inferior MI in 2010", "MI"),
        ("Hypertension, MI, stroke", "Hypertension MI stroke"), ("Gout, MI, 2004", "Gout MI"),
        ("Smoker, MI.", "MI"), ("Retired, MI.", "MI"), ("Presented with MI", "MI"),
        ("He had MI 10000 units were given", "MI"), ("PMH: MS, PE, DVT", "MS PE DVT"),
        ("MS LESIONS", "MS LESIONS"), ("MS Lesions", "MS Lesions"), ("MS relapse", "MS"),
        ("MS Plaques", "MS"), ("He has MS. Stable.", "MS"), ("MS PAIN", "MS PAIN"),
        ("Medical History, MS, PE", "MS PE"), ("Jane has MS, PE", "MS PE"),
        ("ALLERGIES: ASTHMA", "ASTHMA"), ("SHE HAS A RASH ON THE ARM", "RASH"),
        ("FEVER WORSE TODAY", "FEVER"), ("HX OF PAD, CAD", "PAD CAD"), ("HISTORY OF AIDS", "AIDS"),
        ("HE HAS COPD WITH COUGH", "COPD COUGH"), ("CT OF THE LUNG", "CT LUNG"),
        ("Dr. Jones. Asthma stable", "Asthma"), ("Dr. Jones\nAsthma", "Asthma"),
        ("He saw Dr. C. Stroke was discussed", "Stroke"), ("Mother: Stroke", "Stroke"),
        ("Mother, Ovarian Pain", "Pain"),
        ("Brother with Asthma", "Asthma"), ("Patient: Asthma stable", "Asthma"),
        ("Consultant: Pain, chronic", "Pain"), ("Reason: Asthma", "Asthma"),
        ("fever.asthma", "fever asthma"), ("fever/asthma", "fever asthma"),
        ("Admitted to Hospital for Asthma", "Asthma"), ("Asthma, seen at Salem Hospital", "Asthma"),
        ("Asthma and Rash", "Asthma Rash"), ("Mr. Lund has Gout", "Gout"),
        ("Gout\nTroy MI, old", "Gout MI"), ("Badge 12, MI 2010", "MI"), ("Mother Gout", "Gout"),
        ("a disease of MS patients", "MS"), ("MI-2 weeks ago", "MI"), ("He has Rash", "Rash"),
    ],
)  # fmt: skip
def test_problems_stay(nlp, text, mentions):
    assert [ent.text for ent in nlp(text).ents] == mentions.split()


def test_all_are_found_where_they_are_wanted(assets):
    nlp = finder(assets, leave_out=[rule for rule in LEAVE_OUT if rule != "parts"])
    assert [ent.text for ent in nlp("Dr. Graves").ents] == ["Graves"]
