"""Every image of tests/golden is a value, or says why it is none."""

import re
import tarfile

import server

GOLDEN = server.EXTENSION.parents[1] / "tests" / "golden"
SAID = """
CREATE FUNCTION said(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE query INTO answer;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE TABLE images (name text, image bytea);
"""


def images(folder):
    """The images of the archives in a folder, with their names."""
    for archive in sorted((GOLDEN / folder).glob("*.tar")):
        with tarfile.open(archive) as files:
            for member in files:
                if member.name.endswith(".petal"):
                    yield f"{archive.stem}/{member.name}", files.extractfile(member).read()


def asked(session, folder, question):
    """What a query says of each image of a folder; it has %1$L where the image stands."""
    rows = "".join(f"{name}\t\\\\x{image.hex()}\n" for name, image in images(folder))
    path = server.FILES / "golden"
    path.write_text(rows)
    session.rows(f"TRUNCATE images; COPY images FROM '{path}'")
    quoted = question.replace("'", "''")
    return session.rows(f"SELECT name, said(format('{quoted}', image)) FROM images ORDER BY name")


def check_filters(database):
    """Each has its hundred keys, which are texts; those of kinds for integers are numbers."""
    session = database.session()
    session.rows(SAID)
    whole = "SELECT count(*) FROM generate_series(0, 99) i WHERE %1$L::petal @> {}"
    texts = asked(session, "", whole.format("('key ' || i)"))
    numbers = dict(asked(session, "", whole.format("(7 * i)")))
    counts = {"found": 0, "external": 0, "secret": 0}
    for name, said in texts:
        if "external" in name:
            assert re.match("0A000 petal_contains: .*hash", said), (name, said)
            counts["external"] += 1
        elif "siphash" in name:
            assert re.match("0A000 petal_contains: .*secret", said), (name, said)
            counts["secret"] += 1
        else:
            # What forgets by design has fewer.
            found = max(int(one) for one in (said, numbers[name]) if one.isdigit())
            assert found == 100 or (found > 20 and name.startswith("stable/")), (name, said, numbers[name])
            counts["found"] += 1
    assert min(counts.values()) > 10, counts
    for name, said in asked(session, "", "SELECT petal_info(%1$L::petal)->>''type''".replace("''", "'")):
        assert said == "filter", (name, said)


def check_maps(database):
    session = database.session()
    session.rows(SAID)
    rows = asked(session, "maps", "SELECT count(*) FROM generate_series(0, 99) i "
                                  "WHERE petal_get(%1$L::petal, 'key ' || i) = 1000 * i + 7")
    assert len(rows) > 3, rows
    for name, said in rows:
        assert said == "100" or re.match("0A000 petal_get: .*(hash|secret)", said), (name, said)


def check_what_is_neither(database):
    """Sketches, routers and the like are no values of this type, and the message says what they are."""
    session = database.session()
    session.rows(SAID)
    for folder in ("sketches", "own"):
        rows = asked(session, folder, "SELECT %1$L::petal IS NULL")
        assert rows, folder
        for name, said in rows:
            assert re.match("(0A000|22P03) petal: ", said), (name, said)
