"""The terms of a page: which are listed, in which words, and where they are linked."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

from balframe.audit_page.document import Code, Definition, Document, Glossary, Paragraph, Section
from balframe.audit_page.glossary import TERMS, add_terms, term_linker
from balframe.audit_page.page import Page
from balframe.audit_page.text import isolate
from balframe.frames.query import ExpectedOutcome
from tests.support.audits import figures
from tests.support.audits.figures import plain
from tests.support.audits.small_audits import audit_of
from tests.support.cases import cases

TWO_LABELS = figures.audit(figures.model())
SENTENCES = {"p", "li", "caption", "figcaption"}  # elements of running text
OTHERS = {"bdi", "nav", "footer", "dl", "b"}  # in which nothing is linked
OUTCOMES = figures.audit(figures.model(), y_true=ExpectedOutcome("y"))
THREE_LABELS = figures.audit(figures.model(cells=figures.THREE))


def document_of(*blocks, brief=()):
    section = Section("right", "How often?", [*blocks], [*brief])
    return Document("Title", "", [], [section], "", "")


def listed(document, audit=TWO_LABELS):
    """Return the terms at the end of a document, with their meanings."""
    *_, section = add_terms(document, audit).sections
    return {
        item.term: plain(item.meaning)
        for block in section.blocks
        if isinstance(block, Glossary)
        for item in block.items
    }


def linked(document, *texts):
    """Write texts with terms in brackets, behind their key."""
    write = term_linker(document, lambda term, key: f"{key}[{term}]", lambda text: f"<{text}>")
    return [write(text) for text in texts]


def glossary(**forms):
    return document_of(Glossary([Definition(key, key, "", each) for key, each in forms.items()]))


@cases(
    ("text", "terms"),
    [
        ("It is 3 points lower.", ["Percentage point"]),
        ("False positive rates, and p-values.", ["False positive rate", "P-value"]),
        ("p is .03.", []),
        ("No difference is established.", ["Established"]),
        ("The impact ratio; the four-fifths rule.", ["Four-fifths rule", "Impact ratio"]),
        ("area under the ROC curve (a slice)", ["Area under the curve", "Combination of groups"]),
        ("recalls, callous, pointless and p is unadjusted", []),
        (f"{isolate('confidence interval')} and {isolate('slice')}s", []),
        (f"false {isolate('x')} positive rate", []),
    ],
)
def test_terms_that_texts_of_the_page_have_are_listed_in_alphabetical_order(text, terms):
    assert list(listed(document_of(Paragraph(text)))) == terms


def test_terms_of_all_parts_of_a_page_are_listed_but_not_those_of_code():
    document = document_of(Code("threshold=1"), brief=["3 points."])
    document = replace(document, caution="The confidence interval.")

    assert list(listed(document)) == ["Confidence interval", "Percentage point"]


def test_document_without_terms_stays_as_it_is():
    document = document_of(Paragraph("Nothing."))

    assert add_terms(document, TWO_LABELS) == document


def test_glossary_is_the_last_section_and_not_in_brief():
    *_, last = add_terms(document_of(Paragraph("3 points")), TWO_LABELS).sections

    assert (last.key, last.question, last.brief) == ("terms", "Terms used on this page", [])


def test_meanings_have_the_words_of_the_page():
    text = "false positive rate, false negative rate, predictions, thresholds"

    meanings = listed(document_of(Paragraph(text)))

    assert meanings["False positive rate"] == (
        "Of those not re-arrested, the share that had been called high risk."
    )
    assert meanings["False negative rate"] == (
        "Of those re-arrested, the share that had not been called high risk."
    )
    assert meanings["Prediction"].startswith("What was predicted or decided for one person, ")
    assert (
        "people with this score or a higher one would be called high risk"
        in (meanings["Threshold"])
    )


def test_terms_of_two_labels_are_not_explained_with_more():
    document = document_of(Paragraph("false positive rate and balanced accuracy"))

    assert list(listed(document, THREE_LABELS)) == ["Balanced accuracy"]


def test_every_term_is_listed_where_its_own_name_stands_and_has_plain_short_sentences():
    words = {"row": "person", "rows": "people", "happened": "x", "predicted": "y", "passed": "z"}
    for term in TERMS:
        name = term.name.format(prediction="prediction", **words)
        audit = OUTCOMES if "passed" in term.words else TWO_LABELS
        terms = listed(document_of(Paragraph(f"Of {name} (of x).")), audit)
        assert name in [text[:1].lower() + text[1:] for text in terms]

        meaning = term.meaning.format(prediction="prediction", **words)
        sentences = re.split(r"(?<=[.:]) ", meaning)
        assert max(len(sentence.split()) for sentence in sentences) <= 25, term.key
        assert len(sentences) <= 3, term.key


def test_terms_of_predictions_are_not_explained_where_there_are_none():
    document = document_of(Paragraph("The pass rate, a prediction and a false positive rate."))

    assert listed(document, OUTCOMES) == {
        "Pass rate": "The share of the people examined that re-arrested."
    }
    assert "Pass rate" not in listed(document)


def test_only_the_first_of_all_forms_of_a_term_is_linked():
    document = glossary(rate=["rate", "rates"], chance=["by chance"])

    assert linked(document, "Rates and a rate, by chance", "rate", "By chance") == [
        "<>rate[Rates]< and a rate, >chance[by chance]<>",
        "<rate>",
        "<By chance>",
    ]


def test_longest_of_several_terms_at_a_place_is_linked():
    document = glossary(rate=["error"], long=["error rate"])

    assert linked(document, "error rate, error") == ["<>long[error rate]<, >rate[error]<>"]


def test_terms_are_linked_as_whole_words():
    document = glossary(rate=["rate"])

    assert linked(document, "pirate, rates, pro-rate, rate-like; rate.") == [
        "<pirate, rates, pro-rate, rate-like; >rate[rate]<.>"
    ]


def test_without_a_glossary_nothing_is_linked():
    assert linked(document_of(Paragraph("rate")), "rate") == ["<rate>"]


class RunningText(HTMLParser):
    """The running text of a page, in which links to terms are marked by braces."""

    def __init__(self, text):
        super().__init__()
        self.open, self.parts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        is_term = dict(attributes).get("class") == "term"
        self.open.append(f"{tag} term" if is_term else tag)
        if is_term:
            self.parts.append("{" + dict(attributes)["href"].removeprefix("#term-") + "}")

    def handle_endtag(self, tag):
        while self.open and self.open.pop().split()[0] != tag:
            pass

    def handle_data(self, data):
        if SENTENCES & {*self.open} and not OTHERS & {*self.open}:
            self.parts.append(data)


def test_terms_of_an_audit_are_linked_at_the_first_of_their_forms(compas_audit, random_audits):
    pytest.importorskip("jinja2")
    for audited in (compas_audit, *random_audits[:6]):
        text = "".join(RunningText(Page(audited.document).html()).parts)
        (glossary,) = audited.document.sections[-1].blocks
        for item in glossary.items:
            marks = [match.start() for match in re.finditer(f"{{{item.key}}}", text)]
            forms = "|".join(map(re.escape, item.forms))
            first = re.search(rf"(?<![\w{{-])({forms})(?![\w}}-])", text, re.IGNORECASE)
            if first is None:  # it stands in tables or headings only
                assert marks == []
            else:
                assert marks == [first.start() - len(item.key) - 2], item.key


def test_audit_without_scores_has_no_term_of_scores(compas_audit):
    glossary = compas_audit.document.sections[-1].blocks[0]

    keys = {item.key for item in glossary.items}
    assert {"prediction", "interval", "balanced-accuracy", "fingerprint"} <= keys
    assert not keys & {"area", "calibration"}
    assert len(keys) <= 13


def test_markdown_ends_with_the_terms():
    frame = pl.DataFrame({"y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10})
    markdown = Page(audit_of(frame, by=()).document).markdown()

    end = markdown[markdown.index("Terms used on this page") :]
    assert "\n- **Confidence interval**: A range around an estimate" in end
