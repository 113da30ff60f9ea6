"""The README's links and its picture."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import vl_convert

import balframe as bf
from tests.support.cases import cases

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([^)#]+)", README)


@cases("link", LINKS)
def test_links_lead_to_files(link):
    assert (ROOT / link).is_file()


def told(svg):
    """List what a picture says, to readers of screens and as text."""
    elements = list(ElementTree.fromstring(svg).iter())
    labels = [one.get("aria-label") for one in elements if one.get("aria-label")]
    return labels + [one.text for one in elements if one.text and one.text.strip()]


def test_picture_equals_the_chart_drawn_by_its_code():
    (call,) = re.findall(r"`(bf\.datasets\.compas\(\)\.bal\.plot\.[^`]+)`", README)
    picture = (ROOT / "docs/pages/images/report.svg").read_text(encoding="utf-8")

    drawn = vl_convert.vegalite_to_svg(eval(call, {"bf": bf}).to_dict())

    assert told(picture) == told(drawn)
    assert any("African-American" in text for text in told(picture))
