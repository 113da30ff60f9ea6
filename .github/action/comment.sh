#!/usr/bin/env bash
# Write the verdicts into one comment of the pull request, which later runs update.
set -euo pipefail

max_size=60000 # bytes; GitHub takes 65,536 characters
marker="<!-- balframe $(printf '%s' "$NAME" | cksum | tr ' ' '-') -->"
table="$FOLDER/result/table.md"
body="$FOLDER/comment.md"
title="\`$(printf '%s' "$NAME" | tr '\r\n`' "  '")\`" # as code, in which nothing is markup
run="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID"
{
    echo "$marker"
    if [[ -n $VERDICT ]]; then
        echo "### $title: $VERDICT"
        echo
        echo "$N_PASS pass, $N_FAIL fail, $N_INCONCLUSIVE inconclusive, at commit ${HEAD_SHA:0:12}. [The run]($run) has all details."
    else
        echo "### $title: no verdict"
        echo
        echo "The check could not be made at commit ${HEAD_SHA:0:12}. [The run]($run) says why."
    fi
    if [[ -n $VERDICT && -s $FOLDER/result/note.md ]]; then
        echo
        cat "$FOLDER/result/note.md"
    fi
    if [[ -s $table ]]; then
        echo
        if (($(wc -c < "$table") <= max_size)); then
            cat "$table"
        else
            echo "Verdicts that pass are left out here."
            echo
            grep -v '| pass |' "$table" | LC_ALL=C awk -v max="$max_size" '
                { size += length($0) + 1 }
                size <= max { print; next }
                { left++ }
                END { if (left) printf "\n%d more lines are left out here.\n", left }
            '
        fi
    fi
} > "$body"

comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
post() {
    export marker
    # Only a comment of a bot is updated: anyone may write the marker.
    local query='.[] | select(.user.type == "Bot" and (.body | startswith(env.marker))) | .id' ids id
    ids=$(gh api --paginate "$comments?per_page=100" --jq "$query") || return
    id=${ids%%$'\n'*}
    if [[ -n $id ]]; then
        gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F body="@$body"
    else
        gh api --silent --method POST "$comments" -F body="@$body"
    fi
}
if ! post; then
    echo "::warning title=balframe::The comment could not be written. The job needs the permission pull-requests: write, which pull requests from forks do not have."
fi
