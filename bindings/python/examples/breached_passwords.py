"""Says over HTTP whether a password is known from a breach, without learning the password.

    python breached_passwords.py build hashes.txt breached.petal
    python breached_passwords.py serve breached.petal --port 8000
    curl localhost:8000/$(printf %s 'correct horse' | sha1sum | cut -c 1-40)

The lines of hashes.txt are SHA-1 in hexadecimal, with :COUNT or without. Takes nothing but Petal. Every process that
serves maps the same file, so memory holds it once. "true" is wrong at the rate of the filter; "false" is certain.
"""

import argparse
import http.server
import re

import petal


def build(given: argparse.Namespace) -> None:
    with open(given.hashes, "rb") as lines:
        count = sum(1 for _ in lines)
    breached = petal.Filter(count, given.rate)
    with open(given.hashes, "rb") as lines:
        hashes = (bytes.fromhex(line[:40].decode()) for line in lines)
        # An iterable is taken in chunks, so that memory does not hold all of it.
        breached.update(hashes)
    breached.save(given.filter)
    print(f"{count} passwords in {breached.info.bytes} bytes")


def serve(given: argparse.Namespace) -> None:
    breached = petal.Filter.open(given.filter, prefault=True)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not re.fullmatch("/[0-9A-Fa-f]{40}", self.path):
                self.send_error(404, "the path is / and a SHA-1 in hexadecimal")
                return
            answer = b"true\n" if bytes.fromhex(self.path[1:]) in breached else b"false\n"
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("localhost", given.port), Handler) as server:
        print(f"http://localhost:{server.server_port}/", flush=True)
        server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("build")
    one.add_argument("hashes")
    one.add_argument("filter")
    one.add_argument("--rate", type=float, default=1e-4)
    one.set_defaults(run=build)
    one = verbs.add_parser("serve")
    one.add_argument("filter")
    one.add_argument("--port", type=int, default=8000)
    one.set_defaults(run=serve)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
