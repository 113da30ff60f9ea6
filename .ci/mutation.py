"""Run mutmut, also on functions with decorators, which it leaves out: every metric has one.

    python .ci/mutation.py run             # all mutants that have no result yet
    python .ci/mutation.py run NAME ...    # these, again
    python .ci/mutation.py results         # the survivors
    python .ci/mutation.py show NAME       # what one of them changes
    python .ci/mutation.py score           # how many were killed
    python .ci/mutation.py short           # one module and few tests: in a minute

mutmut copies a function once for each mutant and passes decorated ones over, since a decorator may
register each copy. Here the copies lose their decorators, and what chooses among them keeps them.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from itertools import accumulate, chain

import click
import libcst as cst
from mutmut.__main__ import cli, collect_source_file_mutation_data, run
from mutmut.configuration import config
from mutmut.mutation import file_mutation
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.stats import status_by_exit_code

DECORATORS = {"cached_property", "metric", "property", "proportion"}
LOADED = (
    *("hypothesis", "mpmath", "narwhals", "pandas", "pointblank", "polars", "pyarrow", "pytest"),
    *("pytest_cov", "rich.console", "scipy.optimize", "scipy.stats", "sklearn.metrics"),
    *("statsmodels.stats.api", "xdist"),
)
LIMIT = float(os.environ.get("MUTATION_SECONDS", "5"))  # of tests for one mutant
OVERHEAD = 0.01  # seconds that pytest adds to a test
KILLED = {"killed", "timeout", "segfault", "check was interrupted by user"}  # by a failing import
AIM = 0.9  # of those that ran
SHORT = {
    "only_mutate": ["balframe/metrics/definitions/macro_averages.py"],
    "pytest_add_cli_args_test_selection": ["tests/numbers/test_metrics_in_fractions.py"],
}

skips = file_mutation.MutationVisitor._skip_node_and_children
arrange = file_mutation.function_trampoline_arrangement
run_tests = PytestRunner.run_tests


def name_of(decorator: cst.Decorator) -> str:
    """Name a decorator, with or without arguments."""
    call = decorator.decorator
    name = call.func if isinstance(call, cst.Call) else call
    return name.value if isinstance(name, cst.Name) else ""


def is_known(node: cst.CSTNode) -> bool:
    """Tell whether a function has the one decorator that its copies can do without."""
    return (
        isinstance(node, cst.FunctionDef)
        and len(node.decorators) == 1
        and name_of(node.decorators[0]) in DECORATORS
    )


def skips_all_but_known(self: file_mutation.MutationVisitor, node: cst.CSTNode) -> bool:
    """Enter the functions whose decorator we know."""
    return not is_known(node) and skips(self, node)


def arrange_without(function: cst.FunctionDef, mutants: Iterable, class_name: str | None) -> tuple:
    """Take the decorator from all copies of a function but the first, which chooses."""
    names, nodes, assignments, mutant_names = arrange(function, mutants, class_name)
    if is_known(function):
        nodes = [nodes[0], *(copy.with_changes(decorators=[]) for copy in nodes[1:])]
    return names, nodes, assignments, mutant_names


def run_nearest(self: PytestRunner, *, mutant_name: str | None, tests: Iterable[str]) -> int:
    """Run the tests of a mutant that reach the fewest other functions, up to a limit of time."""
    reached = Counter(chain.from_iterable(state().tests_by_mangled_function_name.values()))
    seconds = state().duration_by_test
    order = sorted(tests, key=lambda test: (reached[test], seconds[test], test))
    spent = accumulate(seconds[test] + OVERHEAD for test in order)
    chosen = [test for test, until in zip(order, spent, strict=True) if until < LIMIT]
    return run_tests(self, mutant_name=mutant_name, tests=chosen or order[:1])


def load(self: PytestRunner) -> None:
    """Load once what all tests load, but run none: a fork cannot use polars after its parent."""
    for module in LOADED:
        import_module(module)


@cli.command()
def score() -> None:
    """Say for each package how many mutants were killed; fail below the aim."""
    ran, killed = Counter(), Counter()
    for _, name, exit_code in collect_source_file_mutation_data(mutant_names=())[0]:
        if exit_code is not None:
            for package in (name.rpartition(".x")[0].rpartition(".")[0], "all"):
                ran[package] += 1
                killed[package] += status_by_exit_code[exit_code] in KILLED
    for package, n in ran.items():
        click.echo(f"{package}: {killed[package]} of {n} killed, {killed[package] / n:.1%}")
    sys.exit(killed["all"] < AIM * ran["all"])


@cli.command()
@click.pass_context
def short(context: click.Context) -> None:
    """Run the mutants of one module with few tests, and score them."""
    for name, value in SHORT.items():
        setattr(config(), name, value)
    context.invoke(run, mutant_names=(), max_children=None)
    context.invoke(score)


if __name__ == "__main__":
    os.environ["POLARS_MAX_THREADS"] = "1"
    file_mutation.MutationVisitor._skip_node_and_children = skips_all_but_known
    file_mutation.function_trampoline_arrangement = arrange_without
    PytestRunner.run_tests = run_nearest
    PytestRunner.warm_up = load
    sys.exit(cli())
