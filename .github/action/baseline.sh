#!/usr/bin/env bash
# Download the cells of the last run of the default branch that stored some.
set -euo pipefail

if [[ -z $DEFAULT_BRANCH ]]; then # as in scheduled runs
    DEFAULT_BRANCH=$(gh api "repos/$GITHUB_REPOSITORY" --jq .default_branch)
    export DEFAULT_BRANCH
fi

# A fork may have a branch of the same name, so the repository of the run counts too.
query='[.artifacts[]
  | select((.expired | not)
    and .workflow_run.head_branch == env.DEFAULT_BRANCH
    and .workflow_run.head_repository_id == .workflow_run.repository_id)]
  | max_by(.created_at) | .workflow_run.id // empty'
run=$(gh api --method GET "repos/$GITHUB_REPOSITORY/actions/artifacts" \
    -f name="$ARTIFACT" -F per_page=100 --jq "$query")
if [[ -z $run ]]; then
    if [[ $REQUIRED == true ]]; then
        echo "::error title=balframe::No run of the default branch has stored a baseline, which require-baseline asks for."
        exit 2
    fi
    note="No baseline was found: rules that compare with it were not judged."
    echo "$note" > "$FOLDER/result/note.md" # for the comment
    printf '%s\n\n' "$note" >> "$GITHUB_STEP_SUMMARY"
    echo "::notice title=balframe::$note No run of the default branch has stored one that is still there."
    exit 0
fi
gh run download "$run" --repo "$GITHUB_REPOSITORY" --name "$ARTIFACT" --dir "$FOLDER/baseline"
