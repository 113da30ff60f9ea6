"""How often rows passed, overall."""

from balframe.audit_page.document import Fact, Facts, Paragraph, Section
from balframe.audit_page.numbers import PERCENT, percent
from balframe.audit_page.results import Audit, ModelFigures, report_models


def section(audit: Audit) -> Section:
    """State how often rows passed."""
    words, rate = audit.request.words, audit.models[0].rates.main
    blocks, brief = report_models(audit, lambda model: ([_facts(model)], [summary(model)]))
    explanation = (
        f"This share is the {rate.term}. Other {words.plural} of the same kind would not give "
        "exactly the same; the confidence interval shows how far off it may be."
    )
    question = f"What share of the {words.plural} {words.passed}?"
    return Section("passed", question, [*blocks, Paragraph(explanation)], brief)


def summary(model: ModelFigures) -> str:
    """State how often rows passed: `67% (60 to 73) of the runs passed.`."""
    rate = model.rates.main
    return f"{PERCENT.with_limits(model.overall.rates[rate])} of {rate.among} {rate.event}."


def _facts(model: ModelFigures) -> Facts:
    rate = model.rates.main
    estimate = model.overall.rates[rate]
    about = f"of {rate.among} {rate.event}"
    return Facts([Fact(percent(estimate.value), PERCENT.limits(estimate), about)])
