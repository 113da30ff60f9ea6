"""Release the last commit without publishing it, and install what was built.

    python .ci/dry_run.py    # one or two minutes, most of which pip needs

Everything up to the button: the tag and the notes of the changelog, both distributions and what
an index checks of them, and then, in an environment that has nothing, the examples and the command
of the README. Nothing leaves the machine, and the repository stays as it is. A tag of the last
commit is tried as it is; without one, the tag follows from the version of the package.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("build", "twine", "check-wheel-contents", "pyroma")
LOWEST_RATING = 8  # of 10, by pyroma: the rest is for an address of mail, which the project has not
EXAMPLES = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^python3 -m venv .* && \S+/(balframe .*)$", re.MULTILINE)


class Failure(SystemExit):
    """What was wrong, in one line, after the output of the step."""

    def __init__(self, message: str) -> None:
        super().__init__(f"the release would fail: {message}")


def run(
    *command: str | Path, folder: Path, step: str, environment: dict[str, str] | None = None
) -> str:
    """Run a command without what the checkout's environment would add; return its output."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=inherited | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise Failure(step)
    return done.stdout


def make_environment(folder: Path, *requirements: str) -> Path:
    """Make an environment with what is required, and return the folder of its programs."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, *requirements, folder=folder, step=f"pip install {' '.join(requirements)}")
    return programs


def tag_clone(folder: Path) -> tuple[Path, str]:
    """Clone the last commit, and unless it has a tag, prepare it as RELEASING.md says."""
    clone = folder / "clone"
    git = ("git", "-c", "user.name=dry run", "-c", "user.email=dry-run@example.org")
    # Without tags, of which an earlier release may have the name.
    run("git", "clone", "--quiet", "--no-tags", ROOT, clone, folder=folder, step="git clone")
    tags = run("git", "tag", "--points-at", "HEAD", "v*", folder=ROOT, step="git tag").split()
    package = (clone / "balframe" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "([^"]+)"$', package, re.MULTILINE)
    changelog = clone / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if not tags and f"## [{version}]" not in text:
        today = f"## [{version}] - {datetime.now(UTC):%Y-%m-%d}"
        text = text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n{today}\n", 1)
        changelog.write_text(text, encoding="utf-8")
        commit = ("commit", "--quiet", "--all", "--message", f"release: {version}")
        run(*git, *commit, folder=clone, step="git commit")
    tag = tags[0] if tags else f"v{version}"
    run(*git, "tag", tag, folder=clone, step="git tag")
    notes = run(sys.executable, ".ci/release_notes.py", tag, folder=clone, step=f"notes of {tag}")
    print(f"{tag}: notes of {len(notes.splitlines())} lines")
    return clone, version


def build(clone: Path, tools: Path) -> Path:
    """Build both distributions, and check them as an index and its users would."""
    python = tools / "python"
    run(python, "-m", "build", folder=clone, step="build")
    files = sorted((clone / "dist").iterdir())
    (wheel,) = (file for file in files if file.suffix == ".whl")
    run(python, "-m", "twine", "check", "--strict", *files, folder=clone, step="twine check")
    packages = ("--package", "balframe", "--package", "pytest_balframe.py")  # without loss
    run(tools / "check-wheel-contents", *packages, wheel, folder=clone, step="check-wheel-contents")
    rated = run(
        python, "-m", "pyroma", "--min", str(LOWEST_RATING), ".", folder=clone, step="pyroma"
    )
    with zipfile.ZipFile(wheel) as archive:
        inside = b"".join(map(archive.read, archive.namelist()))
    for path in (Path.home(), ROOT, clone):  # the first is `/` for some users of containers
        if path != Path(path.anchor) and f"{path}{os.sep}".encode() in inside:
            raise Failure(f"the wheel names a folder of this machine, {path}")
    size, rating = wheel.stat().st_size, re.findall(r"Final rating: (\S+)", rated)
    print(f"{', '.join(file.name for file in files)}: {size:,} bytes, rated {' '.join(rating)}")
    return wheel


def compare(printed: str, example: str) -> None:
    """Raise if the CSV of the README's command has other rows than the table of its example."""
    lines = printed.splitlines()[1:]
    rows = [line for line in example.splitlines() if re.match(r"│ [^┆]+ ┆ \d+ ", line)]
    if not rows or len(lines) != len(rows):
        raise Failure(f"the command prints {len(lines)} rows, and the example {len(rows)}")
    for line, row in zip(lines, rows, strict=True):
        race, n, *_, rate, _, _ = line.split(",")
        rounded = f"{float(rate):.6f}".rstrip("0")
        if not re.match(rf"│ {race} +┆ {n} +┆ (.*┆ )?{rounded} ", row):
            raise Failure(f"the command prints {line}, and the example {row}")


def try_readme(wheel: Path, version: str, readme: str, folder: Path) -> None:
    """Install the wheel into a new environment, and type what the README says."""
    examples, command = EXAMPLES.findall(readme), COMMAND.search(readme)
    if not examples or command is None:
        raise Failure("the README has no example in Python, or no command")
    programs, user = make_environment(folder / "user", f"{wheel}[cli,pandas]"), folder / "user"
    (user / "examples.txt").write_text("\n".join(examples), encoding="utf-8")
    run(
        *(programs / "python", "-m", "doctest", "examples.txt"),
        folder=user,
        step="the examples of the README",
        environment={"PYTHONUTF8": "1"},
    )

    printed = run(programs / "balframe", *command[1].split()[1:], folder=user, step=command[1])
    compare(printed, examples[-1])
    name = run(programs / "balframe", "--version", folder=user, step="balframe --version").strip()
    if name != f"balframe {version}":
        raise Failure(f"balframe --version prints {name}, and the version is {version}")
    print(f"installed from the wheel: {name}; the README's examples and command print the same")


def main() -> None:
    """Make the release in a folder that is deleted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clone, version = tag_clone(folder)
        wheel = build(clone, make_environment(folder / "tools", *TOOLS))
        readme = (clone / "README.md").read_text(encoding="utf-8")
        try_readme(wheel, version, readme, folder)
    print("nothing was published")


if __name__ == "__main__":
    main()
