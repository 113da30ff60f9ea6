"""The terms of a page, explained at its end for readers who are not statisticians.

A term is listed where a text of the page has it. The renderer of HTML links it where it first
stands in a sentence.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from string import Formatter

from balframe.audit_page.document import Definition, Document, Glossary, Section, document_texts
from balframe.audit_page.request import Words
from balframe.audit_page.results import Audit
from balframe.audit_page.text import capitalize, render_isolates

KEY, QUESTION = "terms", "Terms used on this page"
_A_NAME = "\0"  # in place of a name of the data, in which no term is looked for


@dataclass(frozen=True, slots=True)
class Term:
    """A term, the regular expression of how texts write it, and its meaning.

    They may hold the words of the page: `{row}` and `{rows}`, `{prediction}`, and of the positive
    label of two `{happened}` and `{predicted}`; and `{passed}` of outcomes. A page has the terms
    whose words it has.
    """

    key: str
    name: str
    pattern: str
    meaning: str

    @property
    def words(self) -> set[str]:
        """Return the words of the page that its name and its meaning have."""
        texts = (self.name, self.meaning)
        return {name for text in texts for _, name, _, _ in Formatter().parse(text) if name}


TERMS = (
    Term(
        "prediction",
        "{prediction}",
        "{prediction}",
        "What was predicted or decided for one {row}, as the data have it. It is right where it "
        "agrees with the outcome that was recorded.",
    ),
    Term(
        "pass-rate",
        "pass rate",
        "pass rates?",
        "The share of the {rows} examined that {passed}.",
    ),
    Term(
        "point",
        "percentage point",
        "(?:percentage )?points?",
        "A difference between two percentages. From 30% to 40% it is 10 percentage points, or "
        "10 points for short.",
    ),
    Term(
        "interval",
        "confidence interval",
        "(?:confidence |adjusted )?intervals?",
        "A range around an estimate, from its lower to its upper limit. If such data were "
        "collected many times, about 95 of 100 intervals at the level 95% would contain the true "
        "value.",
    ),
    Term(
        "established",
        "established",
        "established|establish(?:es)?",
        "A difference is established where chance alone would rarely produce one as large, even "
        "though many comparisons are made. Statisticians call it statistically "
        "significant. It need not be large or important.",
    ),
    Term(
        "p-value",
        "p-value",
        "(?:adjusted )?p-values?",
        "How often chance alone would produce a difference at least this large. It is adjusted, "
        "that is raised, where many comparisons are made, because some of them look large by luck.",
    ),
    Term(
        "false-positive-rate",
        "false positive rate",
        "false positive rates?",
        "Of those not {happened}, the share that had been {predicted}.",
    ),
    Term(
        "false-negative-rate",
        "false negative rate",
        "false negative rates?",
        "Of those {happened}, the share that had not been {predicted}.",
    ),
    Term(
        "balanced-accuracy",
        "balanced accuracy",
        "balanced accurac(?:y|ies)",
        "The share that is right, computed for each outcome on its own and then averaged. A rare "
        "outcome counts as much as a frequent one.",
    ),
    Term(
        "combination",
        "combination of groups",
        "combinations?(?: of groups)?|slices?",
        "Those who belong to several groups at once, such as women under 25 where there are groups "
        "of sex and of age.",
    ),
    Term(
        "threshold",
        "threshold",
        "thresholds?",
        "A score that separates: if it were the rule, {rows} with this score or a higher one would "
        "be {predicted}, and others would not.",
    ),
    Term(
        "area",
        "area under the curve",
        "area under the (?:ROC )?curve",
        "Take two, one {happened} and one not. The area under the ROC curve is how often the score "
        "of the first is higher: 50% is guessing, and 100% ranks every pair rightly.",
    ),
    Term(
        "calibration",
        "calibration",
        "(?:mis|well-)?calibrat(?:ion|ed)",
        "Whether scores mean what they say: of those with a score of 0.3, about 30% should be "
        "{happened}.",
    ),
    Term(
        "impact-ratio",
        "impact ratio",
        "impact ratios?",
        "How often a group is selected, or has the favourable result where one is stated, divided "
        "by the highest such rate of the groups compared. 1 means equally often.",
    ),
    Term(
        "four-fifths",
        "four-fifths rule",
        "four[- ]fifths(?: rule)?",
        "A rule of thumb of United States agencies for hiring (29 CFR 1607.4(D)): an impact ratio "
        "below 0.8 is generally taken as evidence of adverse impact.",
    ),
    Term(
        "weight",
        "weight of a {row}",
        "weights? of a {row}|weighted by|weighted shares",
        "How much a {row} counts in a rate. A {row} of weight 2 counts as much as two of weight 1.",
    ),
    Term(
        "cluster",
        "cluster",
        r"clusters?(?= \()",
        "A set of {rows} that belong together, such as those about the same person. They may be "
        "similar.",
    ),
    Term(
        "baseline",
        "baseline",
        "baselines?",
        "Earlier data, which the data of this page are compared with.",
    ),
    Term(
        "fingerprint",
        "fingerprint",
        "fingerprints?",
        "Letters and digits computed from the counts. Two pages with the same fingerprint are "
        "about the same counts.",
    ),
)


def add_terms(document: Document, audit: Audit) -> Document:
    """Add a section that explains the terms of the other texts, in the order of the alphabet."""
    texts = dict.fromkeys(document_texts(document))
    text = "\n".join(render_isolates(text, lambda _: _A_NAME) for text in texts)
    words = _page_words(audit)
    definitions = [
        Definition(
            term.key,
            capitalize(term.name.format(**words)),
            term.meaning.format(**words),
            _forms(term, text, audit.request.words),
        )
        for term in TERMS
        if term.words <= words.keys()
    ]
    used = [item for item in definitions if item.forms]
    if not used:
        return document
    used.sort(key=lambda item: item.term.casefold())
    section = Section(KEY, QUESTION, [Glossary(used)])
    return replace(document, sections=[*document.sections, section])


def _page_words(audit: Audit) -> Mapping[str, str]:
    model, words = audit.models[0], audit.request.words
    page_words = {"row": words.singular, "rows": words.plural}
    if model.request.is_of_outcomes:
        return page_words | {"passed": words.passed}
    page_words["prediction"] = words.prediction
    if model.cells.is_binary:
        page_words |= {"happened": model.happened, "predicted": model.predicted}
    return page_words


def _forms(term: Term, text: str, words: Words) -> list[str]:
    """Return the forms of a term that occur in a text."""
    nouns = "|".join(map(re.escape, (words.prediction, words.predictions)))
    with_nouns = term.pattern.replace("{prediction}", nouns)
    pattern = _whole_words(with_nouns.replace("{row}", re.escape(words.singular)))
    return sorted({match.casefold() for match in pattern.findall(text)})


def _whole_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE)


def term_linker(
    document: Document, link: Callable[[str, str], str], write: Callable[[str], str]
) -> Callable[[str], str]:
    """Return a function that writes a text, and links the terms which stand there first.

    `link` writes a term and its key, `write` writes other text. The function has to be called in
    the order of the page, with texts that hold no name of the data.
    """
    keys = {
        form: item.key
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Glossary)
        for item in block.items
        for form in item.forms
    }
    if not keys:
        return write
    longest_first = sorted(keys, key=lambda form: -len(form))
    pattern, linked = _whole_words("|".join(map(re.escape, longest_first))), set[str]()

    def write_linked(text: str) -> str:
        parts, end = [], 0
        for match in pattern.finditer(text):
            key = keys[match[0].casefold()]
            if key not in linked:
                linked.add(key)
                parts += [write(text[end : match.start()]), link(match[0], key)]
                end = match.end()
        return "".join([*parts, write(text[end:])])

    return write_linked
