"""The site, built as `mkdocs build --strict` builds it."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site; warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "docs/mkdocs.yml"]
    built = subprocess.run(
        [*command, "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert built.returncode == 0, built.stdout
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class _WithoutIndex(_Quiet):
    """Serve an empty index of the search, which every page loads and a worker of it reads."""

    def do_GET(self):
        if not self.path.endswith("/search_index.json"):
            return super().do_GET()
        index = Path(self.translate_path(self.path)).read_text("utf-8")
        body = json.dumps(json.loads(index) | {"docs": []}).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None


@contextmanager
def _served(handler, site):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=site)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def address(site):
    """Serve the site on loopback."""
    with _served(_Quiet, site) as started:
        yield started


@pytest.fixture(scope="session")
def address_without_index(site):
    """Serve the site on loopback, without what the search finds."""
    with _served(_WithoutIndex, site) as started:
        yield started
