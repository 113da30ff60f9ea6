"""The exit codes of the program: a verdict has its own, which no error ever shares."""

from enum import IntEnum


class ExitCode(IntEnum):
    """An exit code, with its meaning as the docs have it."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> "ExitCode":
        """Make a code that knows its meaning."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    OK = (0, "the result is complete; every rule passes, no segment alarms in the last period")
    FAIL = (
        1,
        "a rule of `check` or `require` fails, a segment of `monitor` alarms in the last period, "
        "or a verdict of `diff` is worse, with `--fail-on-worse`",
    )
    ERROR = (
        2,
        "there is no result: wrong usage, wrong input, a missing package, not enough memory, or an "
        "internal error",
    )
    INCONCLUSIVE = (
        3,
        "no rule of `check` or `require` fails, but one is inconclusive, or no segment of "
        "`monitor` alarms in the last period, but one has no rows there (0 with "
        "`--allow-inconclusive`); or there is no row to judge",
    )
    INTERRUPTED = (130, "Ctrl-C")
