"""A reader of finished pages of audit, who finds statements that contradict each other.

It knows the document only: it reads decisions and numbers back from sentences, tables and marks,
and compares those about the same quantity. A sentence on what is established that it cannot read
is reported too, so that no new statement escapes it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from balframe.audit_page.document import Document, Heading, Paragraph, SideBySide, Table

NAME = "[“]?\u2068([^\u2069]*)\u2069[”]?"
NUMBER = "[+\N{MINUS SIGN}]?[\\d.,]*\\d"
LIMITS = rf"\(({NUMBER}) to ({NUMBER})\)"
POINTS = rf"({NUMBER}) points?(?: {LIMITS})?"
ALPHA = 0.05
PASSED = "Passed"  # the caption of the only rate of outcomes, in the default words

DEFINITIONS = [  # sentences that explain the word, and state nothing
    r"^This page calls a difference established",
    r"^It calls the difference established",
    r"^The confidence intervals of differences are widened",
    r"^That a difference is not established",
    r"^An established difference need not matter",
    r"^(Dashed line: 0\.8\. )?Diamonds, or bold: established to differ from the highest rate",
    r"^Where no difference is established, the confidence interval",
    r"^A difference is established where chance alone",
    r"means that no difference is established\.$",
]


class Claim(NamedTuple):
    """What a place on a page says of a quantity."""

    quantity: tuple[Any, ...]
    what: Any
    place: str


class Reader:
    """The claims of a document, and what could not be read."""

    def __init__(self, document: Document):
        self.document = document
        self.claims: list[Claim] = []
        self.problems: list[str] = []
        self.models = _model_names(document)
        self.captions: dict[str, str] = {}  # of error rates, by what they are shares of
        self.sides: list[tuple[Any, ...]] = []  # of impact ratios beside 0.8, with their table
        self.has_favourable = any(
            "The favourable result for a " in text for _, text, _ in self.sentences()
        )

    def sentences(self) -> Iterator[tuple[str, str, str]]:
        """Iterate over (section, text, model) of all running text."""
        for section in self.document.sections:
            for text in section.brief:
                yield (f"{section.key} in brief", *self._split_model(text))
            model = ""
            for block in section.blocks:
                if isinstance(block, Heading) and block.text in self.models:
                    model = block.text
                if isinstance(block, Paragraph):
                    yield section.key, block.text, model

    def _split_model(self, text: str) -> tuple[str, str]:
        for name in self.models:
            if text.startswith(f"{name}: "):
                return text.removeprefix(f"{name}: "), name
        return text, ""

    def tables(self, key: str) -> Iterator[tuple[Table, str]]:
        """Iterate over the tables of a section, each with its model."""
        for section in self.document.sections:
            if section.key != key:
                continue
            model = ""
            for block in section.blocks:
                if isinstance(block, Heading) and block.text in self.models:
                    model = block.text
                for inner in block.blocks if isinstance(block, SideBySide) else [block]:
                    if isinstance(inner, Table):
                        yield inner, model

    def claim(self, place: str, what: Any, *quantity: Any) -> None:
        self.claims.append(Claim(quantity, what, place))

    def decide(self, place: str, what: bool, *quantity: Any) -> None:
        self.claim(place, what, *quantity, "is established")


def _model_names(document: Document) -> list[str]:
    rates = [section for section in document.sections if section.key in ("errors", "passed")]
    return [block.text for block in rates[0].blocks if isinstance(block, Heading)]


def find_contradictions(document: Document) -> list[str]:
    """Return what a reader would stumble over; empty if no two statements disagree."""
    reader = Reader(document)
    for read in (
        _read_rate_tables,
        _read_difference_tables,
        _read_criteria,
        _read_ratio_tables,
        _read_sentences,
    ):
        read(reader)
    return [*reader.problems, *_disagreements(reader.claims), *_impossible(reader.claims)]


def _disagreements(claims: list[Claim]) -> Iterator[str]:
    by_quantity = defaultdict(list)
    for claim in claims:
        by_quantity[claim.quantity].append(claim)
    for quantity, some in by_quantity.items():
        if len({str(claim.what) for claim in some}) > 1:
            said = "; ".join(f"{claim.place}: {claim.what}" for claim in some)
            yield f"{' / '.join(map(str, quantity))}: {said}"


def _impossible(claims: list[Claim]) -> Iterator[str]:
    """Find decisions that cannot both be: a group differs from all others, and no two differ."""
    decisions = {
        claim.quantity: claim.what for claim in claims if claim.quantity[-1] == "is established"
    }
    for quantity, is_established in decisions.items():
        if quantity[0] == "gap" and is_established:
            _, model, caption, column, group, _ = quantity
            spread = ("spread", model, caption, column, "is established")
            if decisions.get(spread) is False:
                yield f"{group} differs in {caption}, but by {column} no two groups do"


# Tables


def _read_rate_tables(reader: Reader) -> None:
    for table, model in reader.tables("errors"):
        match = re.match(r"Share of (.*?)\. [A-Z][a-z ]*\.$", table.note)
        if match is not None:
            reader.captions[match.group(1)] = table.caption
            _read_rates(reader, table, model, table.caption)
    for table, model in reader.tables("whom"):
        if table.caption == "Pass rate of each group":
            reader.captions["all rows"] = PASSED
            _read_rates(reader, table, model, PASSED)


def _read_rates(reader: Reader, table: Table, model: str, caption: str) -> None:
    for group in table.groups:
        for row in group.rows:
            reader.claim(
                "table of rates",
                _whole(row.cells[1].text),
                "rate", model, caption, group.heading.lower(), row.heading,
            )  # fmt: skip


def _whole(text: str) -> int | None:
    """Read a share to the whole percent, as sentences and tables may round differently."""
    match = re.search(r"[\d.]+", text)
    return None if match is None else round(float(match.group()))


def _read_difference_tables(reader: Reader) -> None:
    """Compare p-value, limits and mark of each row, and claim the decision."""
    for key, kind in (("chance", "gap"), ("calibrated", "same scores"), ("models", "models")):
        for table, model in reader.tables(key):
            heads = [head.text for head in table.heads for _ in range(head.span)]
            if heads[-1] != "p":
                continue
            at = next(i for i, text in enumerate(heads) if "adjusted interval" in text)
            for group in table.groups:
                for row in group.rows:
                    estimate, p = row.cells[at - 1], row.cells[-1].text
                    if not _number(p):
                        continue
                    quantity = _row_quantity(kind, model, table.caption, group.heading, row.heading)
                    place = f"table of {key}"
                    reader.decide(f"{place}, p", _p(p) < ALPHA, *quantity)
                    reader.decide(f"{place}, mark", row.differs, *quantity)
                    if estimate.limits and " to " in estimate.limits:
                        lower, upper = map(_float, estimate.limits.split(" to "))
                        excludes = lower > 0 or upper < 0
                        reader.decide(f"{place}, interval", excludes, *quantity)
                        reader.claim(place, estimate.limits, *quantity, "interval")
                    reader.claim(place, estimate.text, *quantity, "estimate")


def _row_quantity(
    kind: str, model: str, caption: str, column: str, heading: str
) -> tuple[str, ...]:
    if kind == "models":
        return kind, caption, heading
    if kind == "same scores":
        caption = ""
    return kind, model, caption, column.lower(), heading.partition(" less ")[0]


def _number(text: str) -> bool:
    return re.search(r"\d", text) is not None


def _float(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace(",", "").replace("+", ""))


def _p(text: str) -> float:
    """Read a p-value; one that is below a number lies below alpha."""
    return 0.0 if text.startswith("<") else _float(f"0{text}" if text[0] == "." else text)


def _read_criteria(reader: Reader) -> None:
    for table, model in reader.tables("criteria"):
        captions = list(reader.captions.values())
        for group in table.groups:
            rows = {row.heading: row.cells[0] for row in group.rows}
            column = group.heading.lower()
            # Of one true label, there is one error rate, and every criterion is about it.
            false_positives, false_negatives = captions[0], captions[-1]
            for name, caption in (
                ("Equal opportunity", false_negatives),
                ("Predictive parity", "precision"),
            ):
                cell = rows.get(name)
                if cell is None or not cell.limits:
                    continue
                quantity = "spread", model, caption, column
                place = f"criteria, {name}"
                reader.decide(place, _float(cell.limits.split(" to ")[0]) > 0, *quantity)
                reader.claim(place, cell.limits.split(" to ")[1], *quantity, "upper limit")
            odds = rows.get("Equalized odds")
            if odds is not None and odds.limits:
                is_established = _float(odds.limits.split(" to ")[0]) > 0
                reader.claim("criteria", is_established, "odds", model, column)
                either = [
                    claim.what
                    for claim in reader.claims
                    if claim.quantity[:2] == ("gap", model)
                    and claim.quantity[2] in (false_positives, false_negatives)
                    and claim.quantity[3] == column
                    and claim.quantity[-1] == "is established"
                ]
                if any(either) and not is_established:
                    reader.problems.append(f"equalized odds by {column} beside {either}")


def _read_ratio_tables(reader: Reader) -> None:
    """Compare p-value, interval and mark of each impact ratio; count those beside 0.8."""
    for table, model in reader.tables("selections"):
        heads = [head.text for head in table.heads]
        at, at_p = heads.index("Impact ratio (adjusted interval)") - 1, heads.index("p") - 1
        kind, _, columns = table.caption.rpartition(" by ")
        is_scoring = kind.startswith("Scoring rates") or "at or below the median" in kind
        for group in table.groups:
            for row in group.rows:
                if len(row.cells) <= at_p or not _number(row.cells[at_p].text):
                    continue
                limits = row.cells[at].limits
                lower, upper = map(_float, limits.split(" to "))
                quantity = "ratio", model, is_scoring, columns, row.heading
                reader.decide("table of ratios, p", _p(row.cells[at_p].text) < ALPHA, *quantity)
                reader.decide("table of ratios, mark", row.differs, *quantity)
                reader.decide("table of ratios, interval", upper < 1, *quantity)
                reader.claim("table of ratios", limits, *quantity, "interval")
                if not row.is_small:
                    side = "below" if upper < 0.8 else "above" if lower > 0.8 else "open"
                    reader.sides.append((model, is_scoring, columns, side))


# Sentences


def _read_sentences(reader: Reader) -> None:
    counts = _count_rows(reader)
    for place, text, model in reader.sentences():
        reading = _READERS.get(place.split()[0])
        is_read = reading is not None and reading(reader, place, text, model, counts)
        if "establish" in text and not is_read:
            others = [
                sentence
                for sentence in re.split(r"(?<=[.?]) ", text)
                if "establish" in sentence and not re.search("|".join(DEFINITIONS), sentence)
            ]
            if others:
                reader.problems.append(f"{place}: not read: {text}")
        if not reader.has_favourable and re.search(r"\b(worse|worst|better off|fares?)\b", text):
            reader.problems.append(f"{place}: worse without what is favourable: {text}")


def _count_rows(reader: Reader) -> dict[str, tuple[int, int]]:
    """Count the rows of the tables of differences, and those with a mark, by model."""
    counts: dict[str, tuple[int, int]] = {}
    for table, model in reader.tables("chance"):
        rows = [row for group in table.groups for row in group.rows if _number(row.cells[-1].text)]
        n, n_marked = counts.get(model, (0, 0))
        counts[model] = n + len(rows), n_marked + sum(row.differs for row in rows)
    return counts


def _read_errors(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    """Read how far apart the groups of a column are, in brief and by error."""
    if "in brief" in place:
        title, _, rest = text.partition(": ")
        return _read_errors_in_brief(reader, place, title.lower(), rest, model)
    match = re.match(r"How far apart are the groups in “(.*?)”\? (.*)$", text)
    if match is None:
        return False
    caption, rest = _capitalized(match.group(1)), match.group(2)
    for column, sentence in re.findall(rf"By {NAME}, (.*?)\.(?= By |$)", rest):
        _read_spread(reader, place, sentence, model, caption, _mark(column.lower()))
    return True


def _read_errors_in_brief(reader: Reader, place: str, column: str, text: str, model: str) -> bool:
    whole = re.match(r"no difference in these errors is established; it may be up to (.*)\.$", text)
    if whole is not None:
        numbers = re.findall(NUMBER, whole.group(1))
        captions = list(reader.captions.values())
        for i, caption in enumerate(captions):
            quantity = "spread", model, caption, column
            reader.decide(place, False, *quantity)
            if len(numbers) == len(captions):
                reader.claim(place, numbers[i], *quantity, "upper limit")
        return True
    named = []
    for part in text.removesuffix(".").split("; of "):
        for among, caption in reader.captions.items():
            if part.removeprefix("of ").startswith(f"{among}, "):
                sentence = part.removeprefix("of ").removeprefix(f"{among}, ")
                _read_spread(reader, place, sentence, model, caption, column)
                named.append(caption)
    return bool(named)


def _read_spread(
    reader: Reader, place: str, text: str, model: str, caption: str, column: str
) -> None:
    quantity = "spread", model, caption, column
    if "fewer than two groups" in text:
        reader.claim(place, "too few", *quantity, "state")
        return
    match = re.search(
        rf"no difference(?: in pass rate)? is established; it may be up to ({NUMBER})", text
    )
    if match is not None:
        reader.decide(place, False, *quantity)
        reader.claim(place, match.group(1), *quantity, "upper limit")
        return
    distance = re.search(rf"({NUMBER}) points?(?: apart)? {LIMITS}", text)
    between = re.search(rf"from ({NUMBER})% for {NAME} to ({NUMBER})% for {NAME}", text)
    if distance is None or between is None:
        reader.problems.append(f"{place}: not read: {text}")
        return
    reader.decide(place, _float(distance.group(2)) > 0, *quantity)
    reader.decide(place, True, *quantity)
    reader.claim(place, distance.group(1), *quantity, "distance")
    reader.claim(place, distance.group(3), *quantity, "upper limit")
    if caption == "precision":
        return
    for share, group in (between.groups()[:2], between.groups()[2:]):
        reader.claim(place, _whole(share), "rate", model, caption, column, _mark(group))


def _read_chance(reader: Reader, place: str, text: str, model: str, counts: Any) -> bool:
    """Read which groups differ from all others, and how many do."""
    match = re.match(
        r"Of ([\d,]+) comparisons of a group with all others in (?:an error|the pass) rate, (\w+)",
        text,
    )
    if match is not None:
        n, n_marked = counts[model]
        reader.claim(place, int(_float(match.group(1))), "comparisons", model)
        reader.claim("tables of chance", n, "comparisons", model)
        reader.claim(place, _spelled(match.group(2)), "established comparisons", model)
        reader.claim("tables of chance", n_marked, "established comparisons", model)
        return True
    if re.match("The only comparison of groups in (an error|the pass) rate", text):
        n, n_marked = counts[model]
        reader.claim(place, 1, "comparisons", model)
        reader.claim("tables of chance", n, "comparisons", model)
        reader.claim(place, int("not" not in text), "established comparisons", model)
        reader.claim("tables of chance", n_marked, "established comparisons", model)
        return True
    if text.startswith("No group could be compared"):
        reader.claim(place, 0, "comparisons", model)
        reader.claim("tables of chance", counts.get(model, (0, 0))[0], "comparisons", model)
        return True
    harm = re.match(r"For whom is it worse\? In “(.*?)”, (.*)$", text)
    caption, rest = harm.groups() if harm else (text.partition(": ")[0], text.partition(": ")[2])
    caption = _capitalized(caption)
    if caption not in reader.captions.values():
        return False
    _read_named_groups(reader, place, rest, model, caption)
    return True


def _read_named_groups(reader: Reader, place: str, text: str, model: str, caption: str) -> None:
    """Claim that the groups named are established, and no others."""
    named = re.findall(rf"{NAME} \({NAME}\), {POINTS}", text)
    for group, column, estimate, lower, upper in named:
        quantity = "gap", model, caption, _mark(column.lower()), _mark(group)
        reader.decide(place, True, *quantity)
        reader.claim(place, estimate, *quantity, "estimate")
        if lower:
            reader.claim(place, f"{lower} to {upper}", *quantity, "interval")
    if "more group" in text:
        return
    known = {
        claim.quantity
        for claim in reader.claims
        if claim.quantity[:3] == ("gap", model, caption) and claim.quantity[-1] == "is established"
    }
    keys = {("gap", model, caption, _mark(b.lower()), _mark(a)) for a, b, *_ in named}
    for quantity in known:
        reader.decide(place, quantity[:-1] in keys, *quantity[:-1])


def _read_calibrated(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    """Read which groups differ from others at the same scores."""
    known = {
        claim.quantity[:-1]
        for claim in reader.claims
        if claim.quantity[:2] == ("same scores", model) and claim.quantity[-1] == "is established"
    }
    if "in brief" in place:
        if not text.startswith("At the same score"):
            return _read_probabilities(reader, place, text, model)
        named = re.findall(rf"{NAME} \({NAME}\) by {POINTS}", text)
        keys = [_same_scores(model, column, group) for group, column, *_ in named]
    else:
        differing = re.search(r"as is established by (.*?), error rates", text)
        if differing is not None:
            reader.claim(place, differing.group(1), "differing", model)
            return True
        if "than others with the same score?" not in text:
            return _read_probabilities(reader, place, text, model)
        named, keys = [], []
        rest = text.partition("same score? ")[2]
        for column, sentence in re.findall(rf"By {NAME}, (.*?\.)(?= By |$)", rest):
            some = re.findall(rf"{NAME}, {POINTS}", sentence)
            named += [(group, column, *numbers) for group, *numbers in some]
            keys += [_same_scores(model, column, group) for group, *_ in some]
    for key, (_, _, estimate, lower, upper) in zip(keys, named, strict=True):
        reader.decide(place, True, *key)
        reader.claim(place, estimate, *key, "estimate")
        reader.claim(place, f"{lower} to {upper}", *key, "interval")
    if "more group" not in text:
        for quantity in known:
            reader.decide(place, quantity in keys, *quantity)
    return True


def _same_scores(model: str, column: str, group: str) -> tuple[str, ...]:
    return "same scores", model, "", _mark(column.lower()), _mark(group)


def _read_probabilities(reader: Reader, place: str, text: str, model: str) -> bool:
    """Read whether scores are too high or too low as probabilities, and too far apart."""
    is_read = False
    for pattern, name in (
        (
            rf"were .*?, ({NUMBER}) {LIMITS} times as many as the scores add up to: "
            r"(.*?)(?:\.|;|$)",
            "level",
        ),
        (rf"calibration slope is ({NUMBER}) {LIMITS}, where 1 is right: (.*)$", "slope"),
    ):
        match = re.search(pattern, text)
        if match is not None:
            _, lower, upper, words = match.groups()
            excludes = _float(lower) > 1 or _float(upper) < 1
            reader.decide(place, excludes, name, model)
            reader.decide(place, "not established" not in words, name, model)
            is_read = True
    return is_read


def _read_criteria_text(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    if "in brief" in place:
        rest = text.partition("? ")[2].removesuffix(".")
        for part in re.split(r"; (?=by \u2068)", rest):
            column = re.match(rf"[Bb]y {NAME}, ", part)
            assert column is not None, text
            sentence = part[column.end() :]
            _read_spread(
                reader, place, sentence, model, "precision", _mark(column.group(1).lower())
            )
        return True
    differing = re.search(r"differs between groups \((.*?)\), equal precision", text)
    undecided = re.search(r"In the share .*?, (by .*), so it is not decided whether", text)
    if differing is None and undecided is None:
        return False
    if differing is not None:
        columns = re.findall(rf"by {NAME}, from", differing.group(1))
        names = [_mark(name) for name in columns]
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        reader.claim(place, listed, "differing", model)
        both = set(columns) & set(
            re.findall(rf"by {NAME}, no", undecided.group(1) if undecided else "")
        )
        if both:
            reader.problems.append(f"{place}: both established and not: {both}")
    return True


def _read_models(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    title = "Pass rate" if PASSED in reader.captions.values() else "Accuracy"
    none = re.match(rf"{NAME} and {NAME}: no difference in {title.lower()} is established", text)
    some = re.match(rf"{NAME} (?:is right|passed) (more|less) often than {NAME}: {POINTS}", text)
    if none is not None:
        first, second = none.groups()
        reader.decide(place, False, "models", title, f"{_mark(first)} less {_mark(second)}")
        return True
    if some is None:
        return False
    first, word, second, estimate, *limits = some.groups()
    quantity = "models", title, f"{_mark(first)} less {_mark(second)}"
    reader.decide(place, True, *quantity)
    reader.claim(place, estimate, *quantity, "estimate")
    reader.claim(place, f"{limits[0]} to {limits[1]}", *quantity, "interval")
    if (word == "more") != estimate.startswith("+"):
        reader.problems.append(f"{place}: {text}")
    return True


def _read_threshold(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    match = re.search(rf"in ({NUMBER})% {LIMITS} of pairs(.*)$", text)
    if match is None:
        return False
    _, lower, upper, rest = match.groups()
    reader.decide(place, _float(lower) > 50 or _float(upper) < 50, "area", model)
    reader.decide(place, "not established" not in rest, "area", model)
    return True


def _read_right(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    return "not established to be" in text or "than guessing is not established" in text


def _read_whom(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    """Read which groups differ from all others in the balanced accuracy, or in the pass rate."""
    if PASSED in reader.captions.values():
        return _read_pass_rates(reader, place, text, model)
    for group, column, estimate, lower, upper in re.findall(
        rf"{NAME} \({NAME}\) by {POINTS}", text
    ):
        if lower and _float(lower) <= 0 <= _float(upper):
            reader.problems.append(f"{place}: {group} ({column}) {estimate} ({lower} to {upper})")
    return True


def _read_pass_rates(reader: Reader, place: str, text: str, model: str) -> bool:
    """Read how far apart groups are, in brief and by column, and which differ from all others."""
    if "in brief" in place:
        title, _, rest = text.partition(": ")
        _read_spread(reader, place, rest, model, PASSED, title.lower())
        return True
    apart = re.match(r"How far apart are the groups in pass rate\? (.*)$", text)
    if apart is not None:
        for column, sentence in re.findall(rf"By {NAME}, (.*?)\.(?= By |$)", apart.group(1)):
            _read_spread(reader, place, sentence, model, PASSED, _mark(column.lower()))
        return True
    if not text.startswith("Among the "):
        return False
    named = re.sub(rf"({NAME} \({NAME}\)) by (?={NUMBER} point)", r"\1, ", text)
    _read_named_groups(reader, place, named, model, PASSED)
    return True


def _read_worst(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    """Compare the searches in brief with the tables of combinations."""
    tables = [table for table, own in reader.tables("worst") if own == model]
    if "in brief" in place:
        reader.claim(place, "none is established" not in text, "combinations", model)
        reader.claim("tables of combinations", bool(tables), "combinations", model)
        for table in tables:
            for group in table.groups:
                for row in group.rows:
                    lower, upper = map(_float, row.cells[4].limits.split(" to "))
                    place = f"combination {row.heading}"
                    excludes = upper < 0 if table.caption == PASSED else lower > 0
                    reader.decide(place, excludes, "combination", model, table.caption, row.heading)
                    reader.decide(
                        place,
                        _p(row.cells[5].text) < ALPHA,
                        "combination",
                        model,
                        table.caption,
                        row.heading,
                    )
    return True


def _read_selections(reader: Reader, place: str, text: str, model: str, _: Any) -> bool:
    """Compare ratios in sentences with those of tables, and counts of those beside 0.8."""
    lowest = re.match(
        rf"The lowest ratio: {NAME} \({NAME}\) had been .* ({NUMBER}) {LIMITS} times as often", text
    )
    if lowest is not None:
        group, column, _, lower, upper = lowest.groups()
        quantity = "ratio", model, False, _mark(column), _mark(group)
        reader.claim(place, f"{lower} to {upper}", *quantity, "interval")
        reader.decide(place, "no difference is established" not in text, *quantity)
        return True
    columns = re.match(r"By (.*?), the highest rate is that of ", text)
    if columns is not None:
        table = columns.group(1)
        rest = text.partition(". ")[2]
        if "By the four-fifths rule" not in text:
            _read_sides(reader, place, rest, model, table)
            _read_named_ratios(reader, place, text, model, table)
        return True
    if not text.startswith("By the four-fifths rule, "):
        return False
    is_scoring = "on scores relative to" in text or "in brief" not in place
    for table, sentence in re.findall(r"By (\S+), (compared with .*?\.)(?= By | Of |$)", text):
        _read_sides(reader, place, sentence, model, table)
    _read_counts(reader, place, text, model, is_scoring)
    return True


def _read_sides(reader: Reader, place: str, text: str, model: str, table: str) -> None:
    """Claim the intervals and the sides of the ratios that the sentence of a table names."""
    known = [side for *key, side in reader.sides if key == [model, False, table]]
    for words, side in (("below 0.8", "below"), ("not decided", "open"), ("above 0.8", "above")):
        part = re.search(rf"[,;] {re.escape(words)}: (.*?)(?=; |\.(?: |$)|$)", text)
        named = (
            []
            if part is None
            else re.findall(rf"((?:{NAME}(?:, )?)+) ({NUMBER}) {LIMITS}", part.group(1))
        )
        for names, _, *rest in [(found[0], None, *found[-2:]) for found in named]:
            heading = ", ".join(map(_mark, re.findall(NAME, names)))
            quantity = "ratio", model, False, table, heading
            reader.claim(place, f"{rest[0]} to {rest[1]}", *quantity, "interval")
        if "ompared with" in text and (part is None or " more" not in part.group(1)):
            reader.claim(place, len(named), "sides", model, table, side)
            reader.claim("tables of ratios", known.count(side), "sides", model, table, side)


def _read_named_ratios(reader: Reader, place: str, text: str, model: str, table: str) -> None:
    """Claim the intervals of the groups that a neutral sentence names, and its decisions."""
    if "less often" not in text:
        return
    inside = text[text.index("less often (") :].partition("(")[2]
    for found in re.findall(rf"((?:{NAME}(?:, )?)+) {NUMBER} {LIMITS}", inside):
        heading = ", ".join(map(_mark, re.findall(NAME, found[0])))
        quantity = "ratio", model, False, table, heading
        reader.claim(place, f"{found[-2]} to {found[-1]}", *quantity, "interval")
        reader.decide(place, True, *quantity)


def _read_counts(reader: Reader, place: str, text: str, model: str, is_scoring: bool) -> None:
    """Claim how many ratios lie below 0.8, above it, and on both sides."""
    match = re.search(
        r"[Oo]f (\d+) (combinations of groups|groups and combinations), (\d+) below 0\.8, "
        r"(\d+) not decided, (\d+) above 0\.8",
        text,
    )
    if match is None:
        return
    least = 2 if match.group(2) == "combinations of groups" else 1
    sides = [
        side
        for own, scoring, columns, side in reader.sides
        if (own, scoring) == (model, is_scoring) and 1 + columns.count(" and ") >= least
    ]
    numbers = [int(match.group(i)) for i in (1, 3, 4, 5)]
    expected = [len(sides), *(sides.count(side) for side in ("below", "open", "above"))]
    quantity = "sides", model, is_scoring, least
    reader.claim(place, numbers, *quantity)
    reader.claim("tables of ratios", expected, *quantity)


def _mark(name: str) -> str:
    return f"\u2068{name}\u2069"


def _capitalized(text: str) -> str:
    at = next(i for i, character in enumerate(text) if character not in "\u2068\u2069")
    return text[:at] + text[at].upper() + text[at + 1 :]


def _spelled(word: str) -> int:
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words.index(word) if word in words else int(_float(word))


_READERS = {
    "right": _read_right,
    "whom": _read_whom,
    "errors": _read_errors,
    "chance": _read_chance,
    "worst": _read_worst,
    "threshold": _read_threshold,
    "calibrated": _read_calibrated,
    "criteria": _read_criteria_text,
    "selections": _read_selections,
    "models": _read_models,
}
