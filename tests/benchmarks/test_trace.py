"""How far a document goes through the package: bounds that may only go down."""

from benchmarks.measured import run_task
from benchmarks.trace import own_calls
from spacy_medlink.text.normalisation import key

# Own calls, functions and files for one document with two mentions, over the starter. Wanted for a
# text that was read before: 300, 100 and 28.
MOST = {"again": (407, 246, 46), "new words": (963, 440, 64)}


def test_a_document_makes_no_more_calls() -> None:
    """In a fresh process, since what other tests have read is remembered."""
    found = run_task("benchmarks.trace.trace")
    for what, most in MOST.items():
        sizes = found[what]
        assert sizes["mentions"] == 2
        counted = (sizes["calls"], sizes["functions"], sizes["files"])
        assert all(one <= bound for one, bound in zip(counted, most, strict=True)), (what, counted)


def test_only_functions_of_the_package_are_counted() -> None:
    calls = own_calls(lambda: [key(text) for text in ("Fevers", "Fevers")])
    assert {code.co_name: number for code, number in calls.items()}["key"] == 2
    assert all("spacy_medlink" in code.co_filename for code in calls)
