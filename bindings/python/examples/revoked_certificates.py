"""Puts the revoked certificates of a universe that is known into a file that answers exactly, in a few bits for each.

    python revoked_certificates.py build revoked.txt valid.txt revocations.petal
    python revoked_certificates.py check revocations.petal ISSUER:SERIAL...

Each line of the lists is ISSUER:SERIAL in hexadecimal. For every certificate of both lists the answer is exact; for one
that was issued after the file was made it may be wrong, so a client has to know of which time its file is.
"""

import argparse
from collections.abc import Iterator

import petal


def key(certificate: str) -> bytes:
    """The issuer's length keeps issuers and serials of different lengths apart."""
    issuer, serial = (bytes.fromhex(part) for part in certificate.strip().split(":"))
    return bytes([len(issuer)]) + issuer + serial


def keys(path: str) -> Iterator[bytes]:
    with open(path) as lines:
        yield from map(key, lines)


def build(given: argparse.Namespace) -> None:
    builder = petal.Builder(kind="exact_set")
    builder.update(keys(given.revoked))
    builder.exclude(keys(given.valid))
    builder.save(given.file)
    with petal.Filter.open(given.file) as revoked:
        print(f"{revoked.info.insertions} revoked certificates in {revoked.info.bytes} bytes")


def check(given: argparse.Namespace) -> None:
    with petal.Filter.open(given.file) as revoked:
        for certificate in given.certificates:
            print(certificate, "revoked" if key(certificate) in revoked else "valid")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("build")
    one.add_argument("revoked")
    one.add_argument("valid")
    one.add_argument("file")
    one.set_defaults(run=build)
    one = verbs.add_parser("check")
    one.add_argument("file")
    one.add_argument("certificates", nargs="+")
    one.set_defaults(run=check)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
