"""Warnings point at the user's line: through our functions, through spaCy's, and alone."""

import warnings

import spacy

from spacy_medlink.util.telling import tell


def test_the_line_is_that_of_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tell("straight")
    assert [(str(one.message), one.filename) for one in caught] == [("straight", __file__)]


def test_the_line_is_outside_of_spacy():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nlp = spacy.blank("en")
        nlp.add_pipe("medical_linker")
        nlp.initialize()
    found = [one for one in caught if "[W101]" in str(one.message)]
    assert [one.filename for one in found] == [__file__]


def test_functions_of_ours_are_passed_over():
    names = {"__name__": "spacy_medlink.program", "tell": tell}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec("def run():\n    tell('from within')\nrun()", names)
    assert [(str(one.message), one.filename) for one in caught] == [("from within", __file__)]
