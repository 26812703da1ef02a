#!/usr/bin/env python3
"""Indexes compared with RDKit and FPSim2: the same queries, the same answers, and milliseconds.

    python3 -m venv venv && venv/bin/pip install rdkit FPSim2
    cargo build --release -p petal-cli && cargo bench --bench indexes --no-run
    venv/bin/python benches/compare/indexes.py [ROWS]

The data: RDKit's path fingerprints of 1,024 bits of the 4,999 molecules that RDKit ships (first_5K.smi), and ROWS rows
that a generator makes from them. The generator draws a molecule A, and a molecule B among those with about as many
bits. A row has each bit of A, except that it takes a share of the bits from B. So each bit keeps its frequency, and
the popcounts stay as they are. The share is different for each row, and drawn so that the nearest similarities of
5,000 rows are those of the molecules. The program prints both distributions.

10^7 rows need about 9 GB of memory, and 5 GB of disk for the folder of temporary files (TMPDIR).
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

BITS = 1024
SHARE = (1.0, 9.0)  # The parameters of the Beta distribution of the share of B.
QUERIES = 50
THRESHOLDS = [0.3, 0.5, 0.7, 0.8, 0.9]
HAMMING = 0.8  # Very many rows are so similar.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def molecules():
    """The fingerprints of the molecules that RDKit ships, as rows of 0 and 1."""
    from rdkit import Chem, DataStructs, RDConfig, RDLogger

    RDLogger.DisableLog("rdApp.*")
    path = os.path.join(RDConfig.RDDataDir, "NCI", "first_5K.smi")
    rows = []
    for line in open(path):
        molecule = Chem.MolFromSmiles(line.split()[0])
        if molecule is None:
            continue
        row = numpy.zeros(BITS, numpy.uint8)
        DataStructs.ConvertToNumpyArray(Chem.RDKFingerprint(molecule, fpSize=BITS), row)
        rows.append(row)
    return numpy.array(rows)


def generated(real, count, random):
    """Rows like the real ones, packed into bytes, the first bit the lowest."""
    order = numpy.argsort(real.sum(1), kind="stable")
    ranked = real[order]
    packed = numpy.empty((count, BITS // 8), numpy.uint8)
    for start in range(0, count, 20000):
        size = min(20000, count - start)
        a = random.integers(0, len(ranked), size)
        b = numpy.clip(a + random.integers(-100, 101, size), 0, len(ranked) - 1)
        share = random.beta(*SHARE, size).astype(numpy.float32)
        of_b = random.random((size, BITS), numpy.float32) < share[:, None]
        rows = numpy.where(of_b, ranked[b], ranked[a])
        packed[start : start + size] = numpy.packbits(rows, axis=1, bitorder="little")
    return packed


def nearest(rows):
    """The similarity of each row to its nearest other one."""
    rows = rows.astype(numpy.float32)
    ones = rows.sum(1)
    common = rows @ rows.T
    similarity = common / numpy.maximum(ones[:, None] + ones[None, :] - common, 1)
    numpy.fill_diagonal(similarity, 0)
    return similarity.max(1)


def show(what, real, made):
    points = [5, 25, 50, 75, 95]
    print(f"{what} at {points} %: molecules {numpy.percentile(real, points).round(2).tolist()}, "
          f"rows {numpy.percentile(made, points).round(2).tolist()}")


def fpsim2(packed, folder):
    """FPSim2's engine over the rows, in memory and sorted by popcount, as its documents recommend."""
    import rdkit
    import tables
    from FPSim2 import FPSim2Engine
    from FPSim2.io.backends.pytables import __version__, create_schema

    # FPSim2's words have the first bit of a row highest.
    mirrored = numpy.packbits(numpy.unpackbits(numpy.arange(256, dtype=numpy.uint8)[:, None], axis=1)[:, ::-1], axis=1)
    ones = numpy.bitwise_count(packed.view(numpy.uint64)).sum(1, dtype=numpy.int64)
    order = numpy.argsort(ones, kind="stable")
    starts = numpy.searchsorted(ones[order], numpy.arange(BITS + 2))
    bins = [(i, (int(starts[i]), int(starts[i + 1]))) for i in range(BITS + 1) if starts[i] < starts[i + 1]]
    path = os.path.join(folder, "rows.h5")
    with tables.open_file(path, "w") as file:
        table = file.create_table(file.root, "fps", create_schema(BITS))
        for start in range(0, len(order), 1 << 20):
            some = order[start : start + (1 << 20)]
            words = mirrored[packed[some], 0].view(">u8")
            rows = numpy.zeros(len(some), table.dtype)
            rows["fp_id"], rows["popcnt"] = some, ones[some]
            for i in range(BITS // 64):
                rows[f"f{i + 1}"] = words[:, i]
            table.append(rows)
        config = file.create_vlarray(file.root, "config", atom=tables.ObjectAtom())
        for value in ("RDKit", {"fpSize": BITS}, rdkit.__version__, __version__, bins):
            config.append(value)
    return FPSim2Engine(path)


def timed(calls):
    """Milliseconds of a call on average, of each the best of five, and what the calls return."""
    times, answers = [], []
    for call in calls:
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            answer = call()
            best = min(best, (time.perf_counter() - start) * 1e3)
        answers.append(answer)
        times.append(best)
    return statistics.mean(times), answers


def petal(packed, queries, folder):
    """The milliseconds and answers of Petal, for an index that its command builds."""
    rows, asked, index = (os.path.join(folder, name) for name in ("rows.hex", "queries.hex", "rows.index"))
    for path, some in ((rows, packed), (asked, queries)):
        with open(path, "w") as file:
            file.writelines(row.tobytes().hex() + "\n" for row in some)
    subprocess.run([os.environ.get("PETAL", os.path.join(ROOT, "target/release/petal")),
                    "index", "build", "-o", index, rows], check=True)
    bench = os.environ.get("PETAL_BENCH", "").split() or ["cargo", "bench", "--quiet", "--bench", "indexes", "--"]
    out = subprocess.run([*bench, "similar", index, asked], check=True, stdout=subprocess.PIPE, cwd=ROOT)
    return json.loads(out.stdout)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    random = numpy.random.default_rng(31)
    real = molecules()
    packed = generated(real, count, random)
    chosen = packed[numpy.sort(random.choice(count, min(count, 5000), replace=False))]
    sample = numpy.unpackbits(chosen, axis=1, bitorder="little")
    frequencies = numpy.abs(real.mean(0) - sample.mean(0))
    print(f"{len(real)} molecules, {count} rows; frequencies of bits differ by {frequencies.mean():.4f} on average")
    show("bits set", real.sum(1), sample.sum(1))
    show("nearest similarity", nearest(real), nearest(sample))
    # Queries are molecules, which need not be among the rows.
    of_real = numpy.packbits(real, axis=1, bitorder="little")
    queries = of_real[random.choice(len(real), QUERIES, replace=False)]

    from rdkit import DataStructs

    asked = [DataStructs.CreateFromBinaryText(row.tobytes()) for row in queries]
    with tempfile.TemporaryDirectory() as folder:
        engine = fpsim2(packed, folder)
        ours = petal(packed, queries, folder)
    # RDKit's objects need 200 bytes for each row, so they are made a million at a time.
    ms, all_similarities = 0.0, [[] for _ in asked[:10]]
    for start in range(0, count, 1_000_000):
        vectors = [DataStructs.CreateFromBinaryText(row.tobytes()) for row in packed[start : start + 1_000_000]]
        took, parts = timed([lambda q=q: DataStructs.BulkTanimotoSimilarity(q, vectors) for q in asked[:10]])
        ms += took
        for similarities, part in zip(all_similarities, parts):
            similarities.append(numpy.array(part))
    del vectors
    all_similarities = [numpy.concatenate(parts) for parts in all_similarities]
    print(f"RDKit: {ms:.2f} ms for the similarities of all rows; memory {ours['bandwidth']} GB/s")
    print(f"{HAMMING} of all bits equal: {ours['hamming']['ms']:.3f} ms, {ours['hamming']['found']:.0f} rows on average")
    print(f"a search without folds that can leave out rows only by their counts reads {ours['plain']} GB/s, "
          f"{ours['plain'] / ours['bandwidth']:.2f} of what a sum reads")
    for threshold in THRESHOLDS:
        ms, answers = timed([lambda q=q: engine.similarity(q, threshold, n_workers=1) for q in asked])
        mine = ours[str(threshold)]
        for similarities, found in zip(all_similarities, mine["answers"]):
            expected = {int(row): similarities[row] for row in numpy.flatnonzero(similarities >= threshold)}
            assert expected == {row: s for row, s in found}, f"RDKit has other rows from {threshold} on"
        print(f"from {threshold} on: Petal {mine['ms']:.3f} ms, FPSim2 {ms:.3f} ms, {ms / mine['ms']:.1f} times; "
              f"{mine['found']:.0f} rows on average")
    for threshold in (0.0, 0.7):
        ms, answers = timed([lambda q=q: engine.top_k(q, 10, threshold, n_workers=1) for q in asked])
        mine = ours["top"]
        print(f"top 10: Petal {mine['ms']:.3f} ms, FPSim2 with the threshold {threshold} {ms:.3f} ms, "
              f"{ms / mine['ms']:.1f} times")
    for similarities, found in zip(all_similarities, ours["top"]["answers"]):
        best = numpy.flatnonzero(similarities >= numpy.partition(similarities, -10)[-10])
        expected = sorted(((similarities[row], -int(row)) for row in best), reverse=True)[:10]
        assert expected == [(s, -row) for row, s in found], "RDKit has other rows on top"
    print("the answers are those of RDKit, to the last row, for 10 queries")


if __name__ == "__main__":
    main()
