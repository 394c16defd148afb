# For the tours: `say` prints a heading, `run` a command and then what it prints. What takes long shows on stderr how far it is, if that is a
# terminal; elsewhere, in a log for example, a line every few seconds says that it is still at work.
. ../../scripts/alive.sh

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

run() {
    printf '\n$'
    for word; do
        case $word in
            *[!A-Za-z0-9_./:=,-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    status=0
    [ -t 2 ] || alive "at work"
    "$@" || status=$?
    quiet
    return "$status"
}
