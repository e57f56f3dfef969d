"""How far long work has come: lines that become rarer in a log, a bar on a terminal."""

import io
import sys

import pytest

from spacy_medlink.util import progress
from spacy_medlink.util.progress import Log, in_lines, line, no_progress, show_progress
from tests.tables import table


class Clock:
    """Goes on by some seconds whenever it is looked at."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def lines(count: int, step: float, total: int | None) -> list[str]:
    told: list[str] = []
    items = in_lines(range(count), total, "encoding names", Log(Clock(step), told.append))
    assert list(items) == list(range(count))
    return told


def test_work_of_less_than_a_second_is_silent():
    assert lines(97, 0.01, 97) == []


def test_lines_become_rarer_and_say_total_rate_and_time_left():
    said = lines(200, 1.0, 240)
    assert [text.split()[2] for text in said] == [
        "1", "2", "3", "5", "9", "17", "33", "65", "125", "185",
    ]  # fmt: skip
    assert said[0] == "encoding names: 1 of 240 (0%)"
    assert said[-1] == "encoding names: 185 of 240 (77%), 60.0 a minute, 00:55 left"


def test_the_time_before_the_first_item_says_nothing_of_the_rest():
    told, clock = list[str](), Clock(0.0)

    def items():
        clock.now += 3600
        for _ in range(5):
            yield None
            clock.now += 2

    list(in_lines(items(), 5, "x", Log(clock, told.append)))
    assert told[-1] == "x: 5 of 5 (100%), 30.0 a minute, 00:00 left"


def test_slow_items_get_a_line_each_and_fast_ones_do_not():
    assert len(lines(3, 600.0, 3)) == 3
    assert len(lines(100_000, 0.001, 100_000)) == 7


def test_without_a_total_there_is_no_time_left():
    assert lines(2, 60.0, None) == ["encoding names: 1", "encoding names: 2, 1.0 a minute"]


@table(__file__, "what_a_line_says")
def test_what_a_line_says(number, total, seconds, said):
    assert line("x", number, total, seconds) == said


def test_a_log_gets_lines_and_a_terminal_a_bar(monkeypatch):
    for terminal in (False, True):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda terminal=terminal: terminal, raising=False)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(progress, "FIRST", 0.0)
        monkeypatch.setattr(progress, "MOST", 0.0)
        assert list(show_progress(range(3), 3, "reading")) == [0, 1, 2]
        said = stream.getvalue()
        assert ("\r" in said) is terminal and "reading" in said
        if not terminal:
            assert said.count("\n") == 3 and "3 of 3 (100%)" in said


def test_what_stops_the_work_passes_through():
    def items():
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_lines(items(), 2, "x"))
    assert list(no_progress([1, 2], 2, "x")) == [1, 2]
