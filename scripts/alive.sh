# For scripts that source it: a sign of life on stderr while a command runs that says nothing for long.

# alive LABEL [LOG]: begins it. Every few seconds it shows the seconds so far and the last line of LOG, on a terminal in one place.
# It ends by itself, too, soon after the script is gone.
alive() {
    (
        every=4
        if [ -t 2 ]; then every=1; fi
        seconds=0
        while sleep "$every" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
            seconds=$((seconds + every))
            last=$(tail -n 1 "${2:-/dev/null}" 2>/dev/null | cut -c 1-60)
            line="      $1, $seconds s${last:+: $last}"
            if [ -t 2 ]; then printf '\r\033[K%s' "$line" >&2; else printf '%s\n' "$line" >&2; fi
        done
    ) &
    alive_pid=$!
}

# quiet: ends what `alive` began. Other signals than KILL can be lost while the subshell is just beginning.
quiet() {
    [ -n "${alive_pid:-}" ] || return 0
    kill -KILL "$alive_pid" 2>/dev/null || true
    wait "$alive_pid" 2>/dev/null || true
    alive_pid=
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}
