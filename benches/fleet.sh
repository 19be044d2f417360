#!/usr/bin/env bash
# A fleet: workers that ask for a quest and answer it, through one or two judges, over a session in a
# directory and one in PostgreSQL. The gate asks a web server on loopback that takes 50 ms to reply.
#
#   benches/fleet.sh [--seconds N] [--quests N] [--workers N] [--program PROGRAM]
#
#   --seconds N          how long the workers of each round work [default: 60]
#   --quests N           how many quests there are [default: 100000]
#   --workers N          how many workers there are [default: 1000]
#   --program PROGRAM    run this build instead of target/release/comail
#
# Four rounds: one judge on a directory, one judge on PostgreSQL, two judges on PostgreSQL, and two
# judges of which one is killed every 5 s while the database crashes once. Exits with 1 if an
# acknowledged answer is lost, an answer counts twice, or the audit finds something. Needs Linux, bash,
# PostgreSQL and python3 (its standard library alone).
set -euo pipefail

seconds=60 quests=100000 workers=1000 program=
while (($#)); do
    case $1 in
        --seconds) seconds=$2; shift ;;
        --quests) quests=$2; shift ;;
        --workers) workers=$2; shift ;;
        --program) program=$(realpath "$2"); shift ;;
        *) sed -n '2,16s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift
done

cd "$(dirname "$0")/.."
if [ -z "$program" ]; then
    cargo build --release --quiet
    program=$PWD/target/release/comail
fi
here=$PWD/benches
source benches/postgres.sh

work=$(mktemp -d)
chmod 755 "$work"
postgres=$work/postgres
trap 'kill $(jobs -p) 2>/dev/null || true; stop_postgres "$postgres"; rm -rf "$work"' EXIT
cd "$work"
start_postgres "$postgres"
ulimit -n "$(ulimit -Hn)"

seq -f 'Example Trading %.0f Ltd.' "$quests" >list.txt
cat >fleet.toml <<'TOML'
name = "fleet"
unit = "company"
about = "A link that answers."
[input]
format = "lines"
[prompt]
text = "Find a page of {{ key }}."
[[field]]
name = "page"
kind = "text"
help = "a link"
[[check]]
name = "answers"
kind = "http"
links_in = "page"
[[control]]
name = "a page"
key = "One"
verdict = "PASS"
fires = []
world = "world.json"
submit = { page = "https://www.example.com/" }
[[control]]
name = "no page"
key = "One"
verdict = "FAIL"
fires = ["answers"]
world = "world.json"
submit = { page = "https://www.example.com/none" }
TOML
echo '{"pages": {
    "https://www.example.com/": {"body": "ok"},
    "https://www.example.com/none": {"status": 404}
}}' >world.json

python3 "$here/fleet.py" pages >pages.port &
while [ ! -s pages.port ]; do sleep 0.05; done

# What each round gets: its name, the number of judges, and whether things fail.
round() {
    local name=$1 session=$2 judges=$3 fails=${4:-}
    "$program" --session "$session" scan list.txt --quest fleet.toml --set network.allow-net=127.0.0.0/8 \
        --set network.browser=off --set network.robots=ignore --set network.rate=1000 --set pause-after=0 >/dev/null &&
    python3 "$here/fleet.py" round --name "$name" --program "$program" --session "$session" \
        --judges "$judges" --workers "$workers" --seconds "$seconds" --page-port "$(cat pages.port)" \
        ${fails:+--restart "source '$here/postgres.sh'; restart_postgres '$postgres'"}
}

address="postgres:///postgres?host=$postgres&user=postgres"
status=0
round "directory, one judge" "$work/session" 1 || status=1
round "PostgreSQL, one judge" "$address&session=one" 1 || status=1
round "PostgreSQL, two judges" "$address&session=two" 2 || status=1
round "PostgreSQL, two judges, with failures" "$address&session=failing" 2 fails || status=1
exit "$status"
