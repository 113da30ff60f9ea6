"""Damaged files and rules: a result, or one line of error; never a traceback, no half files."""

import csv
import errno
import io
import os
import re
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import balframe as bf
from balframe.cli.files import formats
from balframe.cli.main import main
from balframe.methods.gates.rules import read_rules
from tests.support.strategies.damaged_files import (
    COMMANDS,
    KINDS,
    LABELS,
    RULES,
    files,
    rule_files,
    texts_with_separators,
    written,
)

pytestmark = pytest.mark.any_version

FEW = settings(
    max_examples=1_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 12,
    deadline=timedelta(seconds=10),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)


@pytest.fixture
def judged(capfd, monkeypatch):
    """Run a command: it answers, or says in one line what is wrong, below Python too."""

    def started(*arguments):
        monkeypatch.setattr(sys, "argv", ["balframe", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        code, (out, err) = end.value.code or 0, capfd.readouterr()
        if code == 2:
            (line,) = err.splitlines()
            assert (out, line[:10], len(line) < 5_000) == ("", "balframe: ", True)
        else:
            assert code in (0, 1, 3)
            assert out
            n_rows = out.count("\n") - 1
            assert err.splitlines() == (_verdicts(n_rows, err) if arguments[0] == "check" else [])
        return code

    return started


def _verdicts(n_rows, said):
    """Return the line of `check` that counts so many verdicts, or that there are none."""
    if n_rows == 0:
        return ["balframe: there is no row to judge, so no rule can pass."]
    counts = [int(text) for text in re.findall(r"\d+", said)]
    assert sum(counts) == n_rows
    return ["{} pass, {} fail, {} inconclusive".format(*counts)]


@pytest.mark.thorough
def test_text_with_separators_is_refused_where_a_line_has_too_many_fields(judged, tmp_path):
    numbers = iter(range(10**9))

    @settings(FEW, max_examples=4 * FEW.max_examples)
    @given(texts_with_separators(), st.sampled_from(COMMANDS[:1]))
    def check(drawn, command):
        content, separator, names = drawn
        lines = [*csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator)]
        is_repeated = len({*names}) < len(names)
        path = tmp_path / f"{next(numbers)}.csv"
        path.write_bytes(content)

        code = judged(command[0], path, *command[1:])

        has_too_many = any(len(line) > len(names) for line in lines)
        group = names.index("g")
        amounts = [line for line in lines[1:] if line[group : group + 1] == ["1,250"]]
        if has_too_many or is_repeated:
            assert code == 2
        else:  # the comma of an amount in the by-column may separate thousands or decimals
            assert code in ((0, 2) if amounts and separator != "," else (0,))

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_read_or_refused_and_no_output_is_changed(judged, tmp_path, kind):
    numbers = iter(range(10**9))

    @FEW
    @given(files(kind), st.sampled_from(COMMANDS))
    def check(content, command):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        path, out = folder / f"in.{kind}", folder / "out.csv"
        path.write_bytes(content)
        out.write_text("before")
        name, *arguments = command
        if judged(name, path, *arguments) == 2:
            assert judged(name, path, *arguments, "--out", out) == 2
        assert out.read_text() == "before"
        assert {one.name for one in folder.iterdir()} == {path.name, out.name}

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_standard_input_is_read_or_refused(judged, monkeypatch, kind):
    @FEW
    @given(files(kind))
    def check(content):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        judged("report", "-", *LABELS)

    check()


def test_a_panic_of_polars_is_reported_in_a_single_line(judged, monkeypatch, tmp_path):
    def panics(*_):
        os.write(2, b"thread 'worker' panicked at buffer.rs\nstack backtrace:\n")
        raise pl.exceptions.PanicException("index out of range")

    arrow = replace(formats.FORMATS["arrow"], scan=panics)
    monkeypatch.setitem(formats.FORMATS, "arrow", arrow)
    monkeypatch.setitem(formats._ENDINGS, ".arrow", arrow)
    path = tmp_path / "in.arrow"
    path.write_bytes(written("arrow"))

    assert judged("report", path, *LABELS) == 2


@pytest.mark.parametrize("error", [bf.InvalidInputError("told"), None])
def test_native_stderr_output_is_suppressed_only_if_an_error_is_raised(capfd, error):
    from balframe.cli.files.read_errors import without_panic_output

    with suppress(bf.InvalidInputError), without_panic_output():
        os.write(2, b"from below\n")
        print("from Python", file=sys.stderr)
        if error is not None:
            raise error

    lines = capfd.readouterr().err.splitlines()
    assert sorted(lines) == (["from Python"] if error else ["from Python", "from below"])


@pytest.mark.parametrize(
    "step", ["os.umask", "tempfile.NamedTemporaryFile", "os.chmod", "os.replace"]
)
@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_a_file_survives_a_fault_at_every_step_of_replacing_it(
    judged, people, tmp_path, monkeypatch, step, kind
):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / f"out.{kind}"
    out.write_text("before")
    monkeypatch.setattr(f"balframe._atomic_write.{step}", full)

    assert judged("report", people, *LABELS, "--out", out) == 2
    assert out.read_text() == "before"
    assert {one.name for one in tmp_path.iterdir()} == {out.name, people.name}


@pytest.mark.parametrize("method", ["write", "close"])
def test_a_file_survives_a_disk_that_is_full(judged, people, tmp_path, monkeypatch, method):
    from balframe import _atomic_write

    make = _atomic_write.tempfile.NamedTemporaryFile

    def made(**options):
        part = make(**options)
        original = getattr(part, method)

        def full(*arguments):
            monkeypatch.setattr(part, method, original)
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(part, method, full)
        return part

    out = tmp_path / "out.csv"
    out.write_text("before")
    monkeypatch.setattr(_atomic_write.tempfile, "NamedTemporaryFile", made)

    assert judged("report", people, *LABELS, "--out", out) == 2
    assert out.read_text() == "before"
    assert {one.name for one in tmp_path.iterdir()} == {out.name, people.name}


@FEW
@given(RULES)
def test_the_text_of_a_rule_is_read_or_refused(text):
    try:
        (rule,) = read_rules([text])
    except bf.BalframeError as error:
        found = str(error)
    else:
        found = "" if read_rules([rule.text]) == [rule] else "read back as another"
    assert not found or found.startswith(f"the rule {' '.join(text.split())!r} cannot be read at")


def test_a_file_of_rules_is_read_or_refused(tmp_path):
    @FEW
    @given(rule_files())
    def check(drawn):
        ending, content = drawn
        path = tmp_path / f"gate.{ending}"
        path.write_bytes(content)
        try:
            texts = {rule.text for rule in read_rules(path)}
        except bf.BalframeError as error:
            is_right = str(error).startswith(f"{path}: ")
        else:
            is_right = {rule.text for rule in read_rules(sorted(texts))} == texts
        assert is_right

    check()
