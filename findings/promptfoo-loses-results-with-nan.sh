#!/usr/bin/env bash
# promptfoo 0.121.20: a result whose score is NaN is counted as passed, on the screen and in `stats`
# of results.json, but is not among the results of that file. Whoever computes the rate from the
# file has another one: here 1 of 2 in place of 2 of 3. results.jsonl has the result.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder PROMPTFOO_CONFIG_DIR=$folder/home
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1
npm install --silent --no-audit --no-fund --ignore-scripts promptfoo@0.121.20 >/dev/null
cat >promptfooconfig.json <<'JSON'
{
  "prompts": ["{{word}}"],
  "providers": ["echo"],
  "tests": [
    {"vars": {"word": "one"}, "assert": [{"type": "equals", "value": "one"}]},
    {"vars": {"word": "two"}, "assert": [{"type": "equals", "value": "one"}]},
    {"vars": {"word": "three"}, "assert": [
      {"type": "javascript", "value": "({pass: true, score: 0 / 0, reason: 'nothing to compare'})"}
    ]}
  ]
}
JSON
npx promptfoo eval -c promptfooconfig.json --no-cache --no-table -o results.json results.jsonl \
  >screen.txt 2>&1 || true # it exits with 100 if a test fails
node -e '
const { readFileSync } = require("fs");
const document = JSON.parse(readFileSync("results.json"));
const { stats, results } = document.results;
const lines = readFileSync("results.jsonl", "utf8").trim().split("\n").map(JSON.parse);
const words = (rows) => rows.map((row) => row.vars.word).sort().join(", ");
console.log("promptfoo", document.metadata.promptfooVersion);
console.log("stats of results.json:", stats.successes, "passed,", stats.failures, "failed");
console.log("results of results.json:", words(results));
console.log("results of results.jsonl:", words(lines));
const expected = stats.successes === 2 && stats.failures === 1 && results.length === 2;
process.exit(expected && lines.length === 3 ? 0 : 1);
' || {
  echo "the behaviour has changed"
  exit 1
}
