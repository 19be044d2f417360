#!/usr/bin/env bash
# A server and its clients: 200 agents that ask for a quest and answer it without a lookup, some of
# which flood the server, are slow, or are killed after they sent an answer.
#
#   benches/serve.sh [--seconds N] [--program PROGRAM]
#
#   --seconds N          how long the clients call [default: 60]
#   --program PROGRAM    run this build instead of target/release/comail
#
# Exits with 1 if an acknowledged answer is not in the ledger, or an answer is there twice. Needs
# Linux, bash and python3 (its standard library alone).
set -euo pipefail

seconds=60
program=
while (($#)); do
    case $1 in
        --seconds) seconds=$2; shift ;;
        --program) program=$(realpath "$2"); shift ;;
        *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift
done

cd "$(dirname "$0")/.."
if [ -z "$program" ]; then
    cargo build --release --quiet
    program=$PWD/target/release/comail
fi

work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
{ echo company; seq -f 'Example Trading %.0f Ltd.' 1000; } >list.csv
"$program" scan list.csv --col company --max-tries 1000000 --set pause-after=0 >/dev/null
"$program" serve --listen 127.0.0.1:0 --json >serving.json &
server=$!
python3 "$OLDPWD/benches/serve.py" "$program" "$server" "$seconds"
