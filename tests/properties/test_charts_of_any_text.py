"""Charts of data with any characters in names, groups and labels: renderers accept them."""

import json
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import balframe as bf
from tests.support.method_arguments import UNTIL, days

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # of small segments
]

ODD = ["\0", "\t", "\n", "\r", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e", "\ufdd0", "\ufffe"]
ODD += ["\uffff", "\U0001fffe", "\U0010ffff", "'", '"', "\\", "</script>", "[0]", ".", "${x}", "é"]
REFUSED = re.compile(
    "[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    "\U0001fffe\U0001ffff\U0010fffe\U0010ffff]|</script"
)
NUMBER_OF_ROWS = re.compile(r"\n\d+ rows?$")  # the second line of a title
TEXTS = st.lists(st.sampled_from(ODD), min_size=1, max_size=4).map("".join) | st.text(max_size=3)
COLUMNS = ["y", "p", "q", "s", "t", "g", "h", "day", "hits"]
LABELS, SCORES = ("y", "p"), ("y", "s")
OF_EVERY_CHART = {
    "report": LABELS,
    "gaps": LABELS,
    "confusion": LABELS,
    "curve": SCORES,
    "roc": SCORES,
    "precision_recall": SCORES,
    "gains": SCORES,
    "lift": SCORES,
    "decision_curve": SCORES,
    "calibration": SCORES,
    "compare": LABELS,
    "impact": ("p",),
    "pass_curve": ("p",),
    "monitor": LABELS,
    "power": LABELS,
    "slices": LABELS,
}
NAMED = {"report", "gaps", "curve", "monitor"}  # whose metrics may have new names
MODELS = {"p": ["p", "q"], "s": ["s", "t"]}
OPTIONS = {
    "impact": {"favourable": "selected"},
    "monitor": {"baseline": UNTIL.isoformat(), "dispersion": None},
    "power": {"rules": "recall >= 0.5", "design": None},
    "slices": {"metrics": "accuracy", "min_support": 1, "level": 1e-9},
}


def distinct(texts, n):
    return st.lists(texts, min_size=n, max_size=n, unique=True)


@st.composite
def charts(draw):
    """Draw a chart, with texts in place of every name and value."""
    kind = draw(st.sampled_from(sorted(OF_EVERY_CHART)))
    new = dict(zip(COLUMNS, draw(distinct(TEXTS, len(COLUMNS))), strict=True))
    groups, labels = draw(distinct(TEXTS, 3)), draw(distinct(TEXTS, 2))
    rng = np.random.default_rng(3)
    n = 60
    y, g, h = rng.integers(0, [[2], [3], [2]], (3, n))
    p, q = np.where((rng.random((2, n)) < 0.8) & (g > 0), y, 1 - y)  # the first group is worst
    columns = {"y": y, "p": p, "q": q, "g": g, "h": h}
    texts = dict.fromkeys("ypq", labels) | {"g": groups, "h": groups[:2]}
    frame = pl.DataFrame(
        {name: [texts[name][code] for code in codes] for name, codes in columns.items()}
        | {"s": np.round(0.5 * y + 0.5 * rng.random(n), 1), "t": rng.random(n), "day": days(n)}
    ).rename({name: text for name, text in new.items() if name != "hits"})
    *truth, column = OF_EVERY_CHART[kind]
    several = kind not in ("slices", "monitor") and draw(st.booleans())
    several = several or kind == "compare"
    models = [new[name] for name in MODELS[column]] if several else new[column]
    by = [new[name] for name in draw(st.sampled_from(["g", "gh"]))]
    how = {
        "over" if kind == "slices" else "by": by,
        "pos_label": labels[1],
        **OPTIONS.get(kind, {}),
    }
    if kind == "monitor":
        how["time"] = bf.period(new["day"], "1w")
    if kind == "pass_curve":
        how |= {"cluster": new["s"], "trials": 2}
    if kind in NAMED and draw(st.booleans()):
        how["metrics"] = {new["hits"] or "hits": "recall"}
    return getattr(bf.plot, kind)(frame, *(new[name] for name in truth), models, **how)


def texts_of(part):
    """List the texts of a specification, keys too."""
    if isinstance(part, dict):
        return [*part, *(text for value in part.values() for text in texts_of(value))]
    if isinstance(part, list):
        return [text for value in part for text in texts_of(value)]
    return [part] if isinstance(part, str) else []


def test_every_chart_is_drawn():
    assert sorted(OF_EVERY_CHART) == dir(bf.plot)


@settings(max_examples=settings().max_examples // 3)
@given(chart=charts())
def test_no_text_of_a_chart_has_a_character_that_renderers_refuse(chart):
    texts = [NUMBER_OF_ROWS.sub("", text) for text in texts_of(chart.to_dict(validate=False))]

    assert [text for text in texts if REFUSED.search(text)] == []


COMPILER = """
import json, sys
import vl_convert
for line in sys.stdin:
    print(len(vl_convert.vegalite_to_svg(json.loads(line))), flush=True)
"""


@pytest.fixture(scope="module")
def compiled():
    """Compile charts in another process, which an abort ends."""
    process = None

    def run(chart):
        nonlocal process
        if process is not None and process.poll() is not None:
            end(process)
            process = None
        if process is None:
            process = subprocess.Popen(
                [sys.executable, "-c", COMPILER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        process.stdin.write(json.dumps(chart.to_dict(validate=False)) + "\n")
        process.stdin.flush()
        return int(process.stdout.readline() or 0)

    yield run
    if process is not None:
        end(process)


def end(process):
    """End a process, and close its pipes."""
    process.kill()
    process.communicate()


@pytest.mark.browser
def test_a_group_called_if_becomes_a_picture(compiled):
    frame = pl.DataFrame({"g": ["if", "else"] * 4, "y": [0, 1] * 4, "s": [0.2, 0.7, 0.6, 0.9] * 2})

    assert compiled(bf.plot.calibration(frame, "y", "s", by="g")) > 0


@pytest.mark.browser
@settings(max_examples=settings().max_examples * 2)
@given(chart=charts())
def test_every_chart_becomes_a_picture(compiled, chart):
    assert compiled(chart) > 0
