#!/usr/bin/env python
"""A stand-in for the program gh, which keeps what GitHub would in a folder.

Every call is recorded. A call without the permission that GitHub asks for fails as with gh.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

# Pytest imports every module, to look for examples in it.
STATE = Path(os.environ.get("FAKE_GITHUB", ""))
PERMISSIONS = json.loads(os.environ.get("FAKE_PERMISSIONS", "{}"))
REPOSITORY = os.environ.get("GITHUB_REPOSITORY", "")


def fail(message):
    sys.exit(f"gh: {message}")


def need(name, level):
    levels = ("read", "write")
    granted = PERMISSIONS.get(name, "none")
    if granted not in levels or levels.index(granted) < levels.index(level):
        fail("Resource not accessible by integration (HTTP 403)")


def stored(name):
    path = STATE / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def print_filtered(value, query):
    done = subprocess.run(
        ["jq", "-r", query], input=json.dumps(value), text=True, capture_output=True, check=False
    )
    if done.returncode:
        fail(done.stderr)
    sys.stdout.write(done.stdout)


def read_arguments(words):
    options, places = {"fields": {}}, []
    words = iter(words)
    for word in words:
        if word in ("-f", "-F"):
            name, _, value = next(words).partition("=")
            if word == "-F" and value.startswith("@"):
                value = Path(value[1:]).read_text("utf-8")
            options["fields"][name] = value
        elif word in ("--method", "--jq"):
            options[word] = next(words)
        elif word in ("--paginate", "--silent"):
            options[word] = True
        elif word.startswith("-"):
            fail(f"unknown flag: {word}")
        else:
            places.append(word)
    return options, places


def api(words):
    options, (place,) = read_arguments(words)
    method, fields = options.get("--method", "GET"), options["fields"]
    address = urlsplit(place)
    path = address.path.removeprefix(f"repos/{REPOSITORY}").strip("/")
    if path == "" and method == "GET":
        print_filtered({"default_branch": "main"}, options["--jq"])
    elif path == "actions/artifacts" and method == "GET":
        need("actions", "read")
        artifacts = [row for row in stored("artifacts") if row["name"] == fields["name"]]
        print_filtered({"artifacts": artifacts[::-1]}, options["--jq"])
    elif match := re.fullmatch(r"issues/(\d+)/comments", path):
        need("pull-requests", "write" if method == "POST" else "read")
        comments = stored("comments")
        if method == "POST":
            user = {"login": "github-actions[bot]", "type": "Bot"}
            row = {"id": len(comments) + 1, "issue": match[1], "user": user, **fields}
            (STATE / "comments.json").write_text(json.dumps([*comments, row]), "utf-8")
        else:
            assert parse_qs(address.query) == {"per_page": ["100"]}
            print_filtered([row for row in comments if row["issue"] == match[1]], options["--jq"])
    elif (match := re.fullmatch(r"issues/comments/(\d+)", path)) and method == "PATCH":
        need("pull-requests", "write")
        comments = stored("comments")
        (row,) = (row for row in comments if row["id"] == int(match[1]))
        row |= fields
        (STATE / "comments.json").write_text(json.dumps(comments), "utf-8")
    else:
        fail(f"Not Found: {method} {place} (HTTP 404)")


def download(words):
    run, *others = words
    options = dict(zip(others[::2], others[1::2], strict=True))
    assert options.keys() == {"--repo", "--name", "--dir"}
    assert options["--repo"] == REPOSITORY
    need("actions", "read")
    rows = [
        row
        for row in stored("artifacts")
        if str(row["workflow_run"]["id"]) == run and row["name"] == options["--name"]
    ]
    if not rows:
        fail("no artifact matches any of the names or patterns provided")
    shutil.copytree(STATE / "artifacts" / str(rows[-1]["id"]), options["--dir"], dirs_exist_ok=True)


if __name__ == "__main__":
    if not os.environ.get("GH_TOKEN"):
        fail(
            "To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable."
        )
    with open(STATE / "calls.ndjson", "a", encoding="utf-8") as calls:
        calls.write(json.dumps(sys.argv[1:]) + "\n")
    if sys.argv[1] == "api":
        api(sys.argv[2:])
    elif sys.argv[1:3] == ["run", "download"]:
        download(sys.argv[3:])
    else:
        fail(f"unknown command {sys.argv[1:]}")
