"""Release the last commit to an index on this machine, and install it from there.

    python .ci/dry_run.py    # two minutes, most of which pip needs

Everything up to the button: the tag and the notes of the changelog, both distributions and what
an index checks of them, and then, in an environment that has nothing, what the README tells a new
user to type. Nothing leaves the machine, and the repository stays as it is.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("build", "twine", "check-wheel-contents", "pyroma")
LOWEST_RATING = 8  # of 10, by pyroma: the rest is for an address of mail, which the project has not
FIRST_EXAMPLE = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST_COMMANDS = re.compile(r"^```sh\n(balframe demo .*\nbalframe report .*)\n```$", re.MULTILINE)


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


def environment(folder: Path, *requirements: str, options: tuple[str, ...] = ()) -> Path:
    """Make an environment with what is required, and return the folder of its programs."""
    if not folder.exists():
        venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, *options, *requirements, folder=folder, step=f"pip install {' '.join(requirements)}")
    return programs


def tagged(folder: Path) -> tuple[Path, str]:
    """Clone the last commit, date its changelog as the guide to releases says, and tag it."""
    clone = folder / "clone"
    git = ("git", "-c", "user.name=dry run", "-c", "user.email=dry-run@example.org")
    run("git", "clone", "--quiet", ROOT, clone, folder=folder, step="git clone")
    package = (clone / "balframe" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "([^"]+)"$', package, re.MULTILINE)
    changelog = clone / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if f"## [{version}]" not in text:
        today = f"## [{version}] - {datetime.now(UTC):%Y-%m-%d}"
        text = text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n{today}\n", 1)
        changelog.write_text(text, encoding="utf-8")
        run(
            *git,
            "commit",
            "--quiet",
            "--all",
            "-m",
            f"release: {version}",
            folder=clone,
            step="commit",
        )
    run(*git, "tag", f"v{version}", folder=clone, step="git tag")
    tag = run("git", "describe", "--tags", "--exact-match", folder=clone, step="describe").strip()
    notes = run(sys.executable, ".ci/release_notes.py", tag, folder=clone, step="release notes")
    print(f"{tag}: notes of {len(notes.splitlines())} lines")
    return clone, version


def built(clone: Path, tools: Path) -> Path:
    """Build both distributions, and check them as an index and its users would."""
    python = tools / "python"
    run(python, "-m", "build", folder=clone, step="build")
    dist = clone / "dist"
    files = sorted(dist.iterdir())
    (wheel,) = (file for file in files if file.suffix == ".whl")
    run(python, "-m", "twine", "check", "--strict", *files, folder=clone, step="twine check")
    run(tools / "check-wheel-contents", "--toplevel", "balframe,pytest_balframe.py", wheel,
        folder=clone, step="check-wheel-contents")  # fmt: skip
    rated = run(
        python, "-m", "pyroma", "--min", str(LOWEST_RATING), ".", folder=clone, step="pyroma"
    )
    with zipfile.ZipFile(wheel) as archive:
        inside = b"".join(map(archive.read, archive.namelist()))
    for path in (f"{Path.home()}{os.sep}", str(ROOT)):
        if path.encode() in inside:
            raise Failure(f"the wheel names a folder of this machine, {path}")
    size, rating = wheel.stat().st_size, re.findall(r"Final rating: (\S+)", rated)
    print(f"{', '.join(file.name for file in files)}: {size:,} bytes, rated {' '.join(rating)}")
    return dist


@contextmanager
def index(dist: Path, folder: Path) -> Iterator[str]:
    """Serve the distributions as an index, on loopback, as long as they are needed."""
    shutil.copytree(dist, folder / "simple" / "balframe")
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()


def tried(address: str, version: str, folder: Path) -> None:
    """Install from the index into a new environment, and type what the README says."""
    user = folder / "user"
    options = (
        "--extra-index-url",
        address,
        "--no-cache-dir",
        "--report",
        str(folder / "report.json"),
    )
    programs = environment(user, f"balframe=={version}", options=options)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (source,) = (
        item["download_info"]["url"]
        for item in report["install"]
        if item["metadata"]["name"] == "balframe"
    )
    if not source.startswith(address):
        raise Failure(f"pip took balframe from {source}, not from {address}")

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example, commands = FIRST_EXAMPLE.search(readme), FIRST_COMMANDS.search(readme)
    if example is None or commands is None:
        raise Failure("the README has no example in Python, or no commands")
    (user / "first.txt").write_text(example[1], encoding="utf-8")
    text = {"PYTHONUTF8": "1"}
    run(programs / "python", "-m", "doctest", "first.txt",
        folder=user, step="the first example of the README", environment=text)  # fmt: skip

    environment(user, f"balframe[audit,cli]=={version}", options=options)
    printed = ""
    for command in commands[1].splitlines():
        printed = run(programs / "balframe", *command.split()[1:], folder=user, step=command)
    for line in printed.splitlines()[1:]:
        race, n, *_, rate, _, _ = line.split(",")
        shown = f"{float(rate):.6f}".rstrip("0")
        if not re.search(rf"│ {race} +┆ {n} +┆ .*┆ {shown} ", example[1]):
            raise Failure(f"the command prints {line}, which is not what the example prints")
    said = run(programs / "balframe", "--version", folder=user, step="balframe --version").strip()
    if version not in said:
        raise Failure(f"balframe --version prints {said}")
    print(
        f"installed from the index: {said}; the README's example and commands give the same table"
    )


def main() -> None:
    """Make the release in a folder that is deleted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = environment(folder / "tools", *TOOLS)
        clone, version = tagged(folder)
        dist = built(clone, tools)
        with index(dist, folder / "index") as address:
            tried(address, version, folder)
    print("nothing was published")


if __name__ == "__main__":
    main()
