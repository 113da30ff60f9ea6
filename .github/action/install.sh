#!/usr/bin/env bash
# Install balframe into an environment of its own, and make the folder of this use of the action.
set -euo pipefail

extras="cli${INPUT_EXTRAS:+,$INPUT_EXTRAS}"
if [[ ! $extras =~ ^[a-z]+(,[a-z]+)*$ ]]; then
    echo "::error title=balframe::The input extras has to be names that are separated by commas, as in excel,history."
    exit 2
fi

for input in "comment=$INPUT_COMMENT" "require-baseline=$INPUT_REQUIRE_BASELINE"; do
    case ${input#*=} in
        true | false) ;;
        *)
            echo "::error title=balframe::The input ${input%%=*} has to be true or false."
            exit 2
            ;;
    esac
done

folder=$(mktemp -d "$RUNNER_TEMP/balframe.XXXXXX")
"$PYTHON" -m venv "$folder/environment"
bin="$folder/environment/bin"
if [[ ! -d $bin ]]; then
    bin="$folder/environment/Scripts" # on Windows
fi
"$bin/python" -m pip install --quiet --disable-pip-version-check \
    "$GITHUB_ACTION_PATH[$extras]" # the checkout of the ref that uses: names
mkdir "$folder/baseline" "$folder/result"
{
    echo "folder=$folder"
    echo "bin=$bin"
} >> "$GITHUB_OUTPUT"
