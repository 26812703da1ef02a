#!/bin/sh
# squid.sh write FOLDER KEYS:CAPACITY:RATE... | read FOLDER: the cache digests of a Squid that it starts, as the README
# of this folder says, except that the keys are URLs. A small server answers for every URL, Squid fetches the keys from
# it, and the digest is taken when Squid has made one of that many objects. Squid itself chooses capacity and bits. It
# asks a digest only for URLs that clients fetch, which no program can call, so `read` reads nothing. Needs squid, curl
# and python3, and a user `proxy` if root runs it.
set -eu
mode=$1
folder=$2
shift 2
[ "$mode" = write ] || exit 0
PATH=$PATH:/usr/sbin
work=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ ! -s "$work/squid.pid" ] || kill "$(cat "$work/squid.pid")" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

# The server writes its port, which the system chooses, and so does the port that Squid gets.
python3 - "$work/ports" <<'PROGRAM' &
import http.server, os, socket, sys


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.send_header("Cache-Control", "public, max-age=86400")
        self.end_headers()
        self.wfile.write(b"here")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    ports = server.server_port, free.getsockname()[1]
with open(sys.argv[1] + ".part", "w") as file:
    print(*ports, file=file)
os.rename(sys.argv[1] + ".part", sys.argv[1])
server.serve_forever()
PROGRAM
server=$!
tries=0
until [ -s "$work/ports" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { echo "the server did not start" >&2; exit 1; }
    sleep 0.1
done
read -r origin port <"$work/ports"

# number AT: the 32-bit number of the digest at this byte.
number() {
    od -An -tu1 -j"$1" -N4 "$work/digest" | awk '{ print ($1 * 256 + $2) * 65536 + $3 * 256 + $4 }'
}

# digest KEYS: starts a Squid without objects, fetches KEYS of them, and waits for the digest that has them all.
digest() {
    rm -rf "$work/cache" "$work/squid.conf"
    mkdir "$work/cache"
    : >"$work/types"
    cat >"$work/squid.conf" <<CONFIGURATION
http_port 127.0.0.1:$port
http_access allow all
cache_mem 16 MB
cache_dir ufs $work/cache 20 16 16
digest_generation on
digest_rebuild_period 1 seconds
digest_rewrite_period 1 seconds
pid_filename $work/squid.pid
cache_log $work/log
# Section 71 of the log says when Squid begins and ends a digest.
debug_options ALL,1 71,2
access_log none
coredump_dir $work
visible_hostname petal.test
shutdown_lifetime 0 seconds
pinger_enable off
# Without types of files there are no icons, which would be objects too.
mime_table $work/types
CONFIGURATION
    if [ "$(id -u)" = 0 ]; then
        echo "cache_effective_user proxy" >>"$work/squid.conf"
        chown -R proxy "$work"
        chmod 755 "$work"
    fi
    squid -f "$work/squid.conf" -z -N >/dev/null 2>&1
    rm -f "$work/squid.pid"
    squid -f "$work/squid.conf"
    tries=0
    until curl -s -o "$work/digest" "http://127.0.0.1:$port/squid-internal-periodic/store_digest"; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { cat "$work/log" >&2; exit 1; }
        sleep 0.1
    done
    seq 0 $(($1 - 1)) | sed "s|.*|http://127.0.0.1:$origin/key-&|" >"$work/keys"
    sed 's|.*|url = "&"\noutput = "/dev/null"|' "$work/keys" |
        curl -s -x "127.0.0.1:$port" --config -
    # Squid makes its digest in pieces while it serves. A digest that was begun before the last fetch may lack keys or
    # count a key twice. So this waits for a digest that was begun and written after the fetches.
    lines=$(wc -l <"$work/log")
    tries=0
    until tail -n "+$((lines + 1))" "$work/log" | awk '
        /storeDigestRebuildStart: rebuild #/ { begun = 1 }
        begun && /storeDigestRewriteStart: .*rewrite/ { written = 1 }
        written && /storeDigestRewriteFinish: / { ended = 1; exit }
        END { exit !ended }'; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { echo "Squid made no digest" >&2; tail "$work/log" >&2; exit 1; }
        sleep 0.1
    done
    # The number of keys is at byte 8, the capacity at byte 4. Squid goes on counting when it gives a digest another
    # size, so the number is right in the next digest.
    tries=0
    until [ "$(number 8)" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 60 ] || { echo "the digest has $(number 8) keys, and not $1" >&2; exit 1; }
        sleep 0.5
        curl -s -o "$work/digest" "http://127.0.0.1:$port/squid-internal-periodic/store_digest"
    done
    squid -f "$work/squid.conf" -k shutdown 2>/dev/null || true
    tries=0
    while [ -s "$work/squid.pid" ] && [ $tries -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}

mkdir -p "$folder/squid"
for size in "$@"; do
    keys=${size%%:*}
    [ "$keys" != 0 ] || continue
    digest "$keys"
    cp "$work/digest" "$folder/squid/$keys.bin"
    cp "$work/keys" "$folder/squid/$keys.txt"
    # At a rate of 10 % an entry has the 5 bits of Squid's default.
    echo "squid squid/$keys.bin squid/$keys.txt - $(number 4) 0.1 - 0"
done
