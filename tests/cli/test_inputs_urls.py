"""Files at URLs, which polars reads; here from a server in this process."""

import io
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jsonschema
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases

COLUMNS = ["--y-true", "y", "--y-pred", "p", "--by", "g", "--metric", "accuracy"]
TABLE = pl.DataFrame({"y": [1, 0, 1, 0], "p": [1, 0, 0, 0], "g": ["a", "a", "b", "b"]})
ROWS = [("a", 2, 1.0), ("b", 2, 0.5)]


def content(write, **options):
    buffer = io.BytesIO()
    write(buffer, **options)
    return buffer.getvalue()


FILES = {
    "/people.parquet": content(TABLE.write_parquet),
    "/people.csv": content(TABLE.write_csv),
    "/people.tsv": content(TABLE.write_csv, separator="\t"),
    "/semicolons.csv": content(TABLE.write_csv, separator=";"),
    "/people.ndjson": content(TABLE.write_ndjson),
    "/people.arrow": content(TABLE.write_ipc),
    "/data": content(TABLE.write_csv),
    "/twice.csv": b"y,y,p\n1,1,1\n",
    "/damaged.parquet": b"not parquet",
    "/day=2026-01-01/part.parquet": content(TABLE.write_parquet),
    "/day=2026-01-02/part.parquet": content(TABLE.write_parquet),
}


class Handler(BaseHTTPRequestHandler):
    """Serves files whole and in ranges, as object stores do."""

    def do_GET(self):
        file = FILES.get(self.path.partition("?")[0])
        if file is None:
            self.send_error(404)
            return
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        first, last = 0, len(file) - 1
        if match:
            first = int(match[1]) if match[1] else max(len(file) - int(match[2]), 0)
            last = min(int(match[2]), last) if match[1] and match[2] else last
        self.send_response(206 if match else 200)
        self.send_header("Content-Length", str(last + 1 - first))
        self.send_header("Accept-Ranges", "bytes")
        if match:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(file)}")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(file[first : last + 1])

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    """Serve the files on loopback: the beginning of their URLs."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def rows_of(done):
    assert (done.code, done.err) == (0, "")
    return pl.read_csv(done.out.encode()).select("g", "n", "accuracy").rows()


@cases(
    "name",
    [
        "people.parquet",
        "people.csv",
        "people.tsv",
        "semicolons.csv",
        "people.ndjson",
        "people.arrow",
    ],
)
def test_url_is_read_by_its_file_extension(run, server, name):
    assert rows_of(run("report", f"{server}/{name}", *COLUMNS)) == ROWS


def test_a_url_may_have_a_query_behind_its_ending(run, server):
    assert rows_of(run("report", f"{server}/people.csv?key=a.parquet", *COLUMNS)) == ROWS


def test_url_without_extension_needs_input_format(run, refused, server):
    line = refused("report", f"{server}/data", *COLUMNS)

    assert f"'{server}/data' has no file extension" in line
    assert "--input-format" in line
    done = run("report", f"{server}/data", *COLUMNS, "--input-format", "csv")
    assert rows_of(done) == ROWS


def test_urls_of_partitions_add_their_columns(run, server):
    urls = [f"{server}/day=2026-01-0{day}/part.parquet" for day in (1, 2)]

    done = run("report", *urls, *COLUMNS, "--by", "day")

    assert done.err == ""
    assert pl.read_csv(done.out.encode()).select("g", "day", "n").rows() == [
        ("a", "2026-01-01", 2),
        ("a", "2026-01-02", 2),
        ("b", "2026-01-01", 2),
        ("b", "2026-01-02", 2),
    ]


def test_a_url_and_a_file_are_read_together(run, server, tmp_path):
    TABLE.write_csv(tmp_path / "people.csv")

    done = run("report", f"{server}/people.csv", tmp_path / "people.csv", *COLUMNS)

    assert rows_of(done) == [("a", 4, 1.0), ("b", 4, 0.5)]


def test_baseline_cells_may_be_at_a_url(run, server, tmp_path):
    path = tmp_path / "people.csv"
    TABLE.write_csv(path)
    FILES["/cells.csv"] = run("confusion", path, *COLUMNS[:6]).out.encode()
    rule = ["--rule", "accuracy >= baseline - 0.9", "--decide", "estimate"]

    done = run("check", path, *COLUMNS[:6], *rule, "--baseline", f"{server}/cells.csv")

    assert (done.code, done.err) == (0, "2 pass, 0 fail, 0 inconclusive\n")


@cases(
    ("name", "reason"),
    [
        ("absent.csv", "cannot be read: "),
        ("absent.parquet", "cannot be read: "),
        ("damaged.parquet", "cannot be read: "),
        ("twice.csv", "cannot be read: more than one column has the name 'y'."),
        ("people.xlsx", "is a URL, from which xlsx is not read. Download the file, or pipe it, as"),
        ("people.json", "is a URL, from which json is not read. Download the file, or pipe it, as"),
    ],
)
def test_unreadable_url_is_a_one_line_error(refused, server, name, reason):
    line = refused("report", f"{server}/{name}", *COLUMNS)

    assert line.startswith(f"'{server}/{name}' {reason}")


def test_url_passed_twice_is_refused(refused, server):
    url = f"{server}/people.csv"

    assert f"'{url}' is given twice" in refused("report", url, url, *COLUMNS)


def test_a_page_names_the_url(run, server):
    pytest.importorskip("jinja2")

    done = run("audit", f"{server}/people.csv", *COLUMNS[:6], "--format", "markdown")

    assert (done.code, done.err) == (0, "")
    assert f"balframe audit {server}/people.csv" in done.out


def test_a_url_is_an_input_of_verdicts_that_is_not_read_again(run, server):
    url = f"{server}/day=2026-01-01/part.parquet"

    done = run("check", url, *COLUMNS[:4], "--rule", "n >= 1", "--format", "json")

    document = json.loads(done.out)
    assert document["inputs"] == [{"path": url, "sha256": None, "rows": None, "option": None}]
    assert document["command"].startswith(f"balframe check {url} --y-true y")
    jsonschema.Draft202012Validator(bf.verdicts_schema()).validate(document)
