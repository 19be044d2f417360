#!/usr/bin/env bash
# Whole processes, as an agent's loop runs them: median time and peak memory of each command on
# sessions of 1,000, 100,000 and 1,000,000 quests, and how they compare.
#
#   benches/processes.sh [--quick] [--rounds N] [--against PROGRAM] [--postgres]
#
#   --quick              leave 1,000,000 quests out
#   --rounds N           how often each command is timed [default: 9]
#   --against PROGRAM    time this build too, in the same rounds
#   --postgres           keep the sessions in PostgreSQL; scans and workbooks are not timed
#
# Needs Linux, bash, awk and python3 (its standard library alone), and PostgreSQL for --postgres.
set -euo pipefail

sizes=(1000 100000 1000000)
rounds=9
against=()
postgres=()
while (($#)); do
    case $1 in
        --quick) sizes=(1000 100000) ;;
        --rounds) rounds=$2; shift ;;
        --against) against=(--against "$(realpath "$2")"); shift ;;
        --postgres) postgres=(yes) ;;
        *) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift
done

cd "$(dirname "$0")/.."
cargo build --release --quiet
program=$PWD/target/release/comail

work=$(mktemp -d)
trap 'stop_postgres "$work/postgres"; rm -rf "$work"' EXIT
source benches/postgres.sh
if ((${#postgres[@]})); then
    chmod 755 "$work"
    start_postgres "$work/postgres"
    postgres=(--postgres "postgres:///postgres?host=$work/postgres&user=postgres")
fi

# Half of the names in Hangul; a repeat and a blank now and then, as lists have them.
list() {
    awk -v rows="$1" 'BEGIN {
        print "company,city,phone"
        for (row = 1; row <= rows; row++) {
            name = row % 2 ? "Example Trading " row " Ltd." : "한빛상사 " row "호"
            printf "%s,%s,02-%04d-%04d\n", name, row % 3 ? "Seoul" : "Busan", row / 10000, row % 10000
            if (row % 1000 == 0) print "  ,Seoul,\n" name ",Seoul,"
        }
    }'
}

for size in "${sizes[@]}"; do
    list "$size" >"$work/list-$size.csv"
    ((!${#postgres[@]})) || continue
    # A workbook of the same rows is what the program exports of a session without results.
    "$program" --session "$work/draft" scan "$work/list-$size.csv" --col company >/dev/null
    "$program" --session "$work/draft" export --out "$work/list-$size.xlsx" >/dev/null
    rm -r "$work/draft"
done

python3 benches/processes.py --rounds "$rounds" "${against[@]}" "${postgres[@]}" \
    "$program" "$work" "${sizes[@]}"
