"""Callbacks after the import of a module, of modules written here and of pandas and polars."""

import importlib
import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from balframe.frames.register_accessor import run_after_import

NAME = "imported_with_a_hook"


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Return the file of a module that can be imported, and restore the import system."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / f"{NAME}.py"
    path.write_text("value = 1\n")
    yield path
    sys.modules.pop(NAME, None)


def hooked():
    """Register a callback that notes the value of the module; return the finder and the notes."""
    notes = []
    run_after_import({NAME: lambda module: notes.append(module.value)})
    return sys.meta_path[0], notes


def test_a_callback_runs_once_the_module_is_imported(path):
    finder, notes = hooked()
    assert notes == []

    importlib.import_module(NAME)
    importlib.import_module(NAME)

    assert notes == [1]
    assert finder not in sys.meta_path


def test_a_callback_runs_at_once_if_the_module_is_imported_already(path):
    importlib.import_module(NAME)
    before = [*sys.meta_path]

    _, notes = hooked()

    assert notes == [1]
    assert sys.meta_path == before


def test_an_imported_module_has_its_own_loader(path):
    module_without = importlib.import_module(NAME)
    del sys.modules[NAME]
    hooked()

    module = importlib.import_module(NAME)

    assert type(module.__loader__) is type(module_without.__loader__)
    assert module.__spec__.loader is module.__loader__
    assert module.__spec__ == module_without.__spec__


def test_find_spec_neither_imports_nor_runs_the_callback(path):
    expected = importlib.util.find_spec(NAME)
    finder, notes = hooked()

    spec = importlib.util.find_spec(NAME)

    assert (spec.name, spec.origin, spec.cached) == (NAME, str(path), expected.cached)
    assert spec.loader.get_source(NAME) == "value = 1\n"
    assert NAME not in sys.modules
    assert notes == []
    assert finder in sys.meta_path
    importlib.import_module(NAME)
    assert notes == [1]


def test_a_missing_module_raises_module_not_found_error(path):
    path.unlink()
    importlib.invalidate_caches()
    finder, notes = hooked()

    assert importlib.util.find_spec(NAME) is None
    with pytest.raises(ModuleNotFoundError, match=f"^No module named '{NAME}'$"):
        importlib.import_module(NAME)

    assert notes == []
    assert finder in sys.meta_path


def test_a_module_set_to_none_in_sys_modules_is_not_imported(path, monkeypatch):
    monkeypatch.setitem(sys.modules, NAME, None)

    _, notes = hooked()

    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(NAME)
    assert notes == []


def test_an_import_that_fails_raises_its_own_error_and_may_be_tried_again(path):
    path.write_text("raise ZeroDivisionError('of the module')\n")
    finder, notes = hooked()

    with pytest.raises(ZeroDivisionError, match="of the module"):
        importlib.import_module(NAME)

    assert NAME not in sys.modules
    assert notes == []
    assert finder in sys.meta_path
    path.write_text("value = 'mended'\n")
    importlib.import_module(NAME)
    assert notes == ["mended"]


def test_a_reload_does_not_run_the_callback_again(path):
    _, notes = hooked()
    module = importlib.import_module(NAME)
    path.write_text("value = 22\n")

    assert importlib.reload(module) is module

    assert module.value == 22
    assert notes == [1]


def test_a_lazy_loader_runs_the_callback_with_the_module(path):
    _, notes = hooked()
    spec = importlib.util.find_spec(NAME)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    assert notes == []

    assert module.value == 1

    assert notes == [1]


def test_every_hook_on_a_module_runs(path):
    _, first = hooked()
    _, second = hooked()

    importlib.import_module(NAME)

    assert (first, second) == ([1], [1])


def test_the_finder_stays_until_its_last_module_is_imported(path):
    notes = []
    names = {NAME: notes.append, "never_imported": notes.append}
    run_after_import(names)
    finder = sys.meta_path[0]

    module = importlib.import_module(NAME)

    assert notes == [module]
    assert finder in sys.meta_path


def test_threads_import_a_module_only_after_its_callback_ran(path):
    path.write_text("import time\ntime.sleep(0.05)\nvalue = 1\n")
    finder, notes = hooked()
    barrier = Barrier(4)

    def seen(_):
        barrier.wait()
        importlib.import_module(NAME)
        return [*notes]

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(seen, range(4))] == [[1]] * 4
    assert finder not in sys.meta_path


FRAMES = ", ".join(
    f"{name}.DataFrame({{'y': [0, 1], 'p': [0, 1]}})" for name in ("pandas", "polars")
)
SHAPES = f"print(*(frame.bal.report('y', 'p').shape for frame in ({FRAMES})))"


@pytest.mark.parametrize(
    "code",
    [
        "import balframe, pandas, polars",
        "import pandas, polars, balframe",
        "import polars, balframe, pandas",
        "import balframe, pandas, polars, importlib\n"
        "importlib.reload(pandas), importlib.reload(polars)",
        "import balframe, importlib.util\nassert importlib.util.find_spec('pandas').loader\n"
        "import pandas, polars",
    ],
    ids=["before", "after", "between", "reload", "find_spec"],
)
@pytest.mark.processes
def test_frames_have_the_namespace_and_no_finder_is_left(code):
    left = "import sys\nprint(any('balframe' in type(f).__module__ for f in sys.meta_path))"

    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "importtime", "-c", f"{code}\n{SHAPES}\n{left}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split("\n")[:2] == ["(1, 4) (1, 4)", "False"]
    assert "import time:" in done.stderr
