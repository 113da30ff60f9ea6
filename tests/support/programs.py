"""What tests run beside balframe, and skip without: libraries, a browser, packages of npm."""

import importlib
import os
import shutil
import subprocess
import tarfile

import pytest

MUST_RUN_ALL = "BALFRAME_TEST_ALL" in os.environ


def library(name):
    """Import a module; skip the test if it is not installed, unless all tests have to run."""
    return importlib.import_module(name) if MUST_RUN_ALL else pytest.importorskip(name)


def missing(what):
    """Skip a test for want of a program; where all tests have to run, fail."""
    if MUST_RUN_ALL:
        pytest.fail(f"{what} have to be installed")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Start Chromium without a window, as a new user."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if None in (chromium, driver):
        missing("chromium and chromedriver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(f"--{argument}")
    started = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield started
    started.quit()


@pytest.fixture(scope="session")
def npm_package(tmp_path_factory):
    """Fetch packages of npm, and give the folders that hold them; nothing of them is run."""
    npm = shutil.which("npm")

    def fetched(name):
        if npm is None:
            missing("Node.js and npm")
        folder = tmp_path_factory.mktemp("npm")
        command = [npm, "pack", name, "--ignore-scripts", "--pack-destination", str(folder)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (packed,) = folder.glob("*.tgz")
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        return folder / "package"

    return fetched
