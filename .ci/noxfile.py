"""What is run, and in which environment: `nox -f .ci/noxfile.py --list`.

Sessions without an environment of their own run in the one that nox is installed in.
"""

import shutil
import sys
import sysconfig
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import nox
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
(EVERYTHING,) = map(Requirement, EXTRAS["all"])  # that users install
PYTHONS = nox.project.python_versions(PYPROJECT)
EVAL_LOGS = "tests/eval_logs/*/generate.py"  # which make the logs beside them
MUTMUT = "mutmut==3.8.1"  # whose inside .ci/mutation.py reaches into

nox.options.envdir = str(ROOT / ".nox")
nox.options.sessions = ["lint", "docs"]


def install(session: nox.Session, *arguments: str) -> None:
    """Install the project with what its tests need, and see that all versions agree."""
    session.chdir(ROOT)
    # Byte code is made of what is imported, not of all that is installed.
    session.install("--no-compile", "--editable", ".[dev]", *arguments)
    session.run_install("python", "-m", "pip", "check")


def run(session: nox.Session, program: str, *arguments: str, **environment: str) -> None:
    """Run a program of the environment that nox is installed in, from the project's root."""
    session.chdir(ROOT)
    session.run(str(Path(sysconfig.get_path("scripts"), program)), *arguments, env=environment)


def lower_bounds() -> dict[str, str]:
    """Map what users install to the oldest versions that are supported."""
    lists = [PROJECT["dependencies"], *(EXTRAS[extra] for extra in EVERYTHING.extras)]
    bounds = {
        requirement.name: version.version
        for requirement in map(Requirement, chain.from_iterable(lists))
        for version in requirement.specifier
        if version.operator == ">="
    }
    return bounds | {"distributed": bounds["dask"]}  # which Dask's extra asks for


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """Run the lane `fast`, or what follows `--`, with the newest versions of all dependencies."""
    install(session)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """Run the lanes `fast` and `engines` with the oldest versions, less what depends on none."""
    with TemporaryDirectory() as folder:
        constraints = Path(folder, "oldest.txt")
        pins = (f"{name}=={version}\n" for name, version in lower_bounds().items())
        constraints.write_text("".join(pins), encoding="utf-8")
        install(session, "--constraint", str(constraints))
    lane = ("-m", "not any_version and not simulation and not browser and not thorough")
    session.run("python", "-m", "pytest", "-q", *lane, *session.posargs)


@nox.session(python=False)
def lint(session: nox.Session) -> None:
    """Check style, format, types and who imports whom."""
    run(session, "ruff", "check", ".")
    run(session, "ruff", "format", "--check", ".")
    run(session, "mypy")
    run(session, "lint-imports")


@nox.session(python=False)
def docs(session: nox.Session) -> None:
    """Build the site into `.site`; warnings are errors."""
    build = ("build", "--quiet", "--strict", "-f", "docs/mkdocs.yml")
    run(session, "mkdocs", *build, NO_MKDOCS_2_WARNING="1")


@nox.session(python=False)
def coverage(session: nox.Session) -> None:
    """Measure which lines and branches the lane `fast` runs; too few are an error."""
    run(session, "python", "-m", "pytest", "-q", "--cov", *session.posargs)


@nox.session(python=False)
def mutation(session: nox.Session) -> None:
    """Change the code of counting, metrics and intervals, and see that tests notice.

    The whole takes hours; `-- short` takes one module and few tests. Installs mutmut.
    """
    run(session, "python", "-m", "pip", "install", "--quiet", MUTMUT)
    run(session, "python", ".ci/mutation.py", *(session.posargs or ("run",)))


@nox.session(python=PYTHONS[0])
@nox.parametrize(
    "tool", [path.parent.name for path in sorted(ROOT.glob(f"{EVAL_LOGS}/*/generate.py"))]
)
def eval_logs(session: nox.Session, tool: str) -> None:
    """Have the newest version of a tool write logs of evaluations, and read them."""
    session.chdir(ROOT)
    script = EVAL_LOGS.replace("*", tool)
    session.install(*nox.project.load_toml(script)["dependencies"])
    with TemporaryDirectory() as folder:
        session.run("python", script, str(Path(folder, tool)))
        tests = ("-m", "pytest", "-q", "-n", "0", "tests/eval_logs/test_agreement.py")
        session.run(sys.executable, *tests, env={"BALFRAME_EVAL_LOGS": folder}, external=True)


@nox.session(python=False)
def wheels(session: nox.Session) -> None:
    """See that what users install comes as wheels, which need no compiler.

    PySpark is left out: it comes as a source distribution alone, of Python.
    """
    wanted = f".[{','.join(sorted(EVERYTHING.extras - {'spark'}))}]"
    only_wheels = ("--dry-run", "--ignore-installed", "--only-binary", ":all:")
    session.chdir(ROOT)
    session.run(sys.executable, "-m", "pip", "install", "--quiet", *only_wheels, wanted)


@nox.session(python=PYTHONS)
def extras(session: nox.Session) -> None:
    """Install the wheel without extras, with each alone and with two, and try what it promises.

    Names of extras after `--` choose some; `none` is without any.
    """
    session.chdir(ROOT)
    with TemporaryDirectory() as folder:
        session.run(
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, "."),
            external=True,
        )
        (wheel,) = Path(folder).glob("*.whl")
        for extra in session.posargs or ["none", *sorted(EVERYTHING.extras), "audit,pandas"]:
            environment = Path(folder, extra)
            session.run("python", "-m", "venv", str(environment))
            python = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            wanted = str(wheel) if extra == "none" else f"{wheel}[{extra}]"
            pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet")
            session.run(str(python), *pip, wanted, external=True)
            session.run(str(python), ".ci/extras.py", extra, external=True)
            shutil.rmtree(environment)


@nox.session
def conda(session: nox.Session) -> None:
    """Render the recipe for conda. To build it, use `rattler-build`, which needs a channel."""
    session.chdir(ROOT)
    session.install("py-rattler-build")
    render = "import sys, rattler_build as rb; rb.Stage0Recipe.from_file(sys.argv[1]).render()"
    session.run("python", "-c", render, ".ci/conda/recipe.yaml")


@nox.session
def audit(session: nox.Session) -> None:
    """Look for known vulnerabilities in what users install; asks PyPI for them."""
    session.chdir(ROOT)
    session.install("--no-compile", ".[all]", "pip-audit")
    frozen = Path(session.create_tmp(), "frozen.txt")
    list_all = ("python", "-m", "pip", "freeze", "--exclude", "balframe")
    frozen.write_text(session.run(*list_all, silent=True) or "", encoding="utf-8")
    as_listed = ("--disable-pip", "--no-deps", "--requirement", str(frozen))
    session.run("pip-audit", "--strict", *as_listed)
