#!/usr/bin/env bash
# Run `balframe check` with the inputs of the action as options, and end with its exit code.
set -euo pipefail

arguments=()

# Add an argument for each line of an input that is not empty, with what stands before it.
add() {
    local before=$1 line
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line%$'\r'}
        if [[ -n $line ]]; then
            arguments+=("$before$line")
        fi
    done <<< "$2"
}

add --config= "$INPUT_CONFIG"
add --y-true= "$INPUT_Y_TRUE"
add --y-pred= "$INPUT_Y_PRED"
add --by= "$INPUT_BY"
add --level= "$INPUT_LEVEL"
add --baseline= "$INPUT_BASELINE"
while IFS= read -r rule || [[ -n $rule ]]; do
    case ${rule%$'\r'} in
        *.toml | *.yaml | *.yml) add --rules= "$rule" ;;
        *) add --rule= "$rule" ;;
    esac
done <<< "$INPUT_RULES"
case $INPUT_INCONCLUSIVE in
    fail) ;;
    pass) arguments+=(--allow-inconclusive) ;;
    *)
        echo "::error title=balframe::The input inconclusive has to be fail or pass."
        exit 2
        ;;
esac
if [[ -n $ARTIFACT ]]; then
    if [[ -n $INPUT_BASELINE ]]; then
        echo "::error title=balframe::Give either the input baseline or baseline-artifact."
        exit 2
    fi
    arguments+=("--baseline=$FOLDER/baseline/cells.parquet" --allow-missing-baseline)
fi
add "" "$INPUT_ARGS"
arguments+=(
    --format=github
    --also="$FOLDER/result/verdicts.json"
    --also="$FOLDER/result/table.md"
    --cells-out="$FOLDER/result/cells.parquet"
    --
)
add "" "$INPUT_RUN"
add "" "$INPUT_FILES"

exec "$BIN/balframe" check "${arguments[@]}"
