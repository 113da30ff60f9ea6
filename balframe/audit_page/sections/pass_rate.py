"""How often rows passed, overall."""

from balframe.audit_page.document import Block, Fact, Facts, Paragraph, Section
from balframe.audit_page.numbers import PERCENT, percent
from balframe.audit_page.results import Audit, ModelFigures, report_models


def section(audit: Audit) -> Section:
    """State how often rows passed."""
    words = audit.request.words
    blocks, brief = report_models(audit, lambda model: (_blocks(model), [summary(model)]))
    question = f"What share of the {words.plural} {words.passed}?"
    return Section("passed", question, blocks, brief)


def summary(model: ModelFigures) -> str:
    """State how often rows passed: `67% (60 to 73) of the runs passed.`."""
    rate = model.rates.main
    return f"{PERCENT.with_limits(model.overall.rates[rate])} of {rate.among} {rate.event}."


def _blocks(model: ModelFigures) -> list[Block]:
    rate, words = model.rates.main, model.words
    estimate = model.overall.rates[rate]
    fact = Fact(percent(estimate.value), PERCENT.limits(estimate), f"of {rate.among} {rate.event}")
    explanation = (
        f"This share is the {rate.term}. Other {words.plural} of the same kind would not give "
        "exactly the same; the confidence interval says how far off it may be."
    )
    return [Facts([fact]), Paragraph(explanation)]
