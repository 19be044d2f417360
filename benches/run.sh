#!/usr/bin/env bash
# What the loop of `comail run` itself costs: an agent that answers at once is driven over a session
# whose gate is cheap, beside as many bare starts of that agent. What the loop takes beyond those,
# the run's report included, must stay under 50 ms a quest; the exit code says whether it does.
#
#   benches/run.sh [--quests N] [--workers N] [--rounds N] [--against PROGRAM] [--program PROGRAM]
#
#   --quests N           how many quests [default: 1000]
#   --workers N          how many agents at once [default: 4]
#   --rounds N           how often each is timed [default: 5]
#   --against PROGRAM    time this build too, in the same rounds
#   --program PROGRAM    time this build rather than make one
#
# Needs Linux, bash, xargs and python3 (its standard library alone). Sessions lie in TMPDIR, whose
# disk is waited for: each append is on it before the loop goes on.
set -euo pipefail

quests=1000
workers=4
rounds=5
against=()
program=
while (($#)); do
    case $1 in
        --quests) quests=$2 ;;
        --workers) workers=$2 ;;
        --rounds) rounds=$2 ;;
        --against) against=(--against "$(realpath "$2")") ;;
        --program) program=$(realpath "$2") ;;
        *) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift 2
done

cd "$(dirname "$0")/.."
if [[ -z $program ]]; then
    cargo build --release --quiet
    program=$PWD/target/release/comail
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seq -f 'word %g' "$quests" >"$work/list.txt"
mkdir "$work/tree"
echo 'right as rain' >"$work/tree/known.txt"
# Two checks that start nothing: by a pattern, and by a file as it was at the scan.
cat >"$work/quest.toml" <<'EOF'
name = "words"
unit = "word"
[input]
format = "lines"
[tree]
root = "tree"
write = ["out/*"]
[prompt]
text = "Say of {{ key }} what known.txt says"
[example]
key = "a"
answer = "right as rain"
[[field]]
name = "answer"
kind = "text"
help = "what is so"
[[check]]
name = "says-right"
kind = "matches"
field = "answer"
pattern = "^right"
[[check]]
name = "is-known"
kind = "contains"
field = "answer"
path = "known.txt"
[[control]]
name = "right"
key = "a"
submit = { answer = "right as rain" }
verdict = "PASS"
[[control]]
name = "made up"
key = "a"
submit = { answer = "right as wrong" }
verdict = "FAIL"
fires = ["is-known"]
[[control]]
name = "unlike"
key = "a"
submit = { answer = "as rain" }
verdict = "FAIL"
fires = ["says-right"]
EOF

python3 benches/run.py --quests "$quests" --workers "$workers" --rounds "$rounds" \
    "${against[@]}" "$program" "$work"
