# Sourced by the others: `start_postgres DIR` starts a PostgreSQL server of its own on a socket in DIR,
# `restart_postgres DIR` crashes it and starts it again, and `stop_postgres DIR` ends it.

PATH=$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin)

# The server refuses to run as root.
as_user() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=nobody --regid=nogroup --clear-groups "$@")
    else
        "$@"
    fi
}

start_postgres() {
    mkdir -p "$1"
    [ "$(id -u)" != 0 ] || chown nobody:nogroup "$1"
    as_user initdb -D "$1/data" -U postgres -A trust -E UTF8 >/dev/null
    run_postgres "$1"
}

run_postgres() {
    as_user pg_ctl -D "$1/data" -w -l "$1/log" \
        -o "-k $1 -c listen_addresses= -c max_connections=300" start >/dev/null
}

restart_postgres() {
    as_user pg_ctl -D "$1/data" -m immediate stop >/dev/null
    run_postgres "$1"
}

stop_postgres() {
    as_user pg_ctl -D "$1/data" -m immediate stop >/dev/null 2>&1 || true
}
