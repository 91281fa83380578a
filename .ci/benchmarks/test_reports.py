"""Tests of the benchmark's output: parsed reports, tables, charts and pages."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.load import Load, LoadFailed, Request, _script, read_report
from benchmarks.page import filled
from benchmarks.plot import draw
from benchmarks.report import Figure, markdown, render, summary

MET = Figure("reads", "10/s", "12/s bare", 0.83, bar=0.6, part="calls")
MISSED = Figure("writes <new>", "3/s", "10/s bare", 0.3, bar=0.4, part="calls")
MOST = Figure("memory", "90 MB", "100 MB", 0.9, bar=1, at_most=True, part="memory")
PLAIN = Figure("fork", "1 ms", "2 ms", 0.5, part="memory")
FIGURES = [MET, MISSED, MOST, PLAIN]

WRK = """Running 2s test @ http://127.0.0.1:4620
  1 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.18ms  611.12us  10.36ms   96.33%
  Latency Distribution
     50%  902.00us
     75%    1.22ms
     90%    1.50ms
     99%    4.02ms
  27823 requests in 2.00s, 5.12MB read
Requests/sec:  13887.31
"""


def test_a_report_of_wrk_is_read():
    assert read_report(WRK) == Load(rate=13887.31, answered=27823, p50_ms=0.902, p99_ms=4.02)


def test_a_report_without_latencies_is_refused():
    with pytest.raises(LoadFailed):
        read_report("27823 requests in 2.00s\nRequests/sec: 1\n")


def test_a_request_becomes_a_table_of_wrks_language():
    script = _script([Request("PUT", "/a", {"Content-Type": "x"}, '{"b":1}', fresh="k-")])

    assert '["headers"] = { ["Content-Type"] = "x" }' in script
    assert '["body"] = "{\\"b\\":1}"' in script


def test_bars_are_kept_from_below_or_above():
    assert [figure.holds for figure in FIGURES] == [True, False, True, True]


def test_the_summary_counts_the_bars_and_leaves_out_figures_without_one():
    assert summary(FIGURES) == "This run met 2 of its bars and missed 1."


def test_a_missed_bar_is_said_in_text_and_in_markdown():
    text, page = render(FIGURES).splitlines(), markdown(FIGURES).splitlines()

    assert [line.split()[-1] for line in text if "writes" in line] == ["FAIL"]
    assert page[3] == "|  | writes <new> | 3/s | 10/s bare | 0.30 | ≥ 0.4 | **no** |"
    assert page[4] == "| memory | memory | 90 MB | 100 MB | 0.90 | ≤ 1 | yes |"


def test_a_bar_missed_by_little_does_not_look_met():
    barely = Figure("reads", "", "", 0.5996, bar=0.6)

    assert "0.600" in render([barely])
    assert "FAIL" in render([barely])


def test_the_picture_is_an_svg_of_all_figures_and_says_what_is_missed():
    picture = ElementTree.fromstring(draw({"of calls": [MET, MISSED], "nothing": []}))

    texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [
        "of calls",
        "reads",
        "0.83 (bar ≥ 0.6)",
        "writes <new>",
        "0.30 (bar ≥ 0.4) missed",
    ]


def test_figures_go_to_their_place_and_nowhere_else():
    page = "before\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n"

    assert filled(page, r"new \1") == (
        "before\n<!-- measured -->\nnew \\1\n<!-- end of measured -->\nafter\n"
    )


def test_a_page_without_a_place_is_refused():
    with pytest.raises(ValueError, match="one place"):
        filled("nothing here", "new")
