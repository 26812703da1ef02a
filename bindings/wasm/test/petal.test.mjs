// The package over the module: what callers write.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Filter, PetalError, PetalMap, load } from "@petal-filter/petal";
import { modules } from "./modules.mjs";

const tested = modules("petal");
const petal = await load({ simd: tested[0] });

const status = (expected) => (error) => {
  assert.ok(error instanceof PetalError, String(error));
  assert.equal(error.status, expected, error.message);
  return error.message.length > 0;
};

/** Numbers that look random, the same at every run. */
function* numbers(seed = 1n) {
  for (let x = seed; ; ) {
    x = BigInt.asUintN(64, x * 6364136223846793005n + 1442695040888963407n);
    yield BigInt.asUintN(64, (x ^ (x >> 29n)) * 0xbf58476d1ce4e5b9n);
  }
}
const draw = (count, seed) => {
  const source = numbers(seed);
  return BigUint64Array.from({ length: count }, () => source.next().value);
};

test("keys of each sort", () => {
  const filter = petal.create({ capacity: 1000, falsePositiveRate: 1e-6 });
  assert.equal(filter.contains("apple"), false);
  assert.equal(filter.insert("apple"), true);
  assert.equal(filter.insert("apple"), false);
  assert.ok(filter.contains("apple"));
  assert.ok(filter.contains(new TextEncoder().encode("apple")));
  filter.insert(5n);
  assert.ok(filter.contains(5n));
  assert.ok(filter.contains(Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0)), "a number is its eight bytes");
  filter.insert("");
  assert.ok(filter.contains(new Uint8Array(0)));
  const long = "ü".repeat(10_000);
  assert.equal(filter.contains(long), false);
  filter.insert(long);
  assert.ok(filter.contains(long) && !filter.contains(`${long}!`));
  assert.ok(filter.containsBatch(["apple", 5n, long, Uint8Array.of(1)]).join() === "1,1,1,0");
  for (const key of [5, null, undefined, {}, [1]]) assert.throws(() => filter.contains(key), TypeError);
  assert.throws(() => filter.contains(1n << 64n), status("out_of_range"));
  assert.throws(() => filter.contains(-1n), status("out_of_range"));
  filter.free();
});

test("hashes stand for keys", () => {
  const filter = petal.create({ capacity: 100, falsePositiveRate: 1e-6, seed: 3 });
  filter.insert("apple");
  filter.insert(5n);
  const hashes = BigUint64Array.of(filter.hash("apple"), filter.hash(5n), filter.hash("pear"));
  assert.equal(filter.containsBatch(hashes, { as: "hashes" }).join(), "1,1,0");
  assert.equal(filter.containsBatch(hashes).join(), "0,0,0", "as numbers they are other keys");
  // XXH3 of no bytes, without a seed, by its owner.
  assert.equal(petal.create({}).hash(""), 0x2d06800538d394c2n);
});

test("the rate is the one that was asked for", () => {
  const filter = petal.create({ kind: "blocked", capacity: 100_000, falsePositiveRate: 0.01 });
  const keys = draw(100_000, 3n);
  filter.insertBatch(keys);
  assert.ok(filter.containsBatch(keys).every((answer) => answer === 1));
  const others = draw(1_000_000, 7n);
  const positives = filter.containsBatch(others).reduce((a, b) => a + b);
  const rate = filter.statistics().falsePositiveRate;
  assert.ok(Math.abs(positives - 1e6 * rate) < 4.5 * Math.sqrt(1e6 * rate), `${positives} of 10^6 at ${rate}`);
  assert.ok(filter.expectedFalsePositiveRate(100_000) <= 0.01);
  assert.equal(filter.info.insertions, 100_000);
  assert.ok(Math.abs(filter.statistics().keys - 100_000) < 1500);
});

test("both modules make the same bytes", { skip: tested.length < 2 && "one module is tested" }, async () => {
  const portable = await load({ simd: false });
  assert.ok(petal.hasSimd && !portable.hasSimd);
  for (const { name, isMap, isMadeEmpty, takesIntegers } of petal.kinds()) {
    if (isMap || takesIntegers) continue;
    const keys = draw(5000, 11n);
    const [one, other] = [petal, portable].map((module) => {
      if (!isMadeEmpty) return module.build({ kind: name }, keys);
      const filter = module.create({ kind: name, capacity: 6000 });
      filter.insertBatch(keys);
      return filter;
    });
    assert.deepEqual(Buffer.from(one.save()), Buffer.from(other.save()), name);
    const absent = draw(20_000, 13n);
    assert.deepEqual(one.containsBatch(absent), other.containsBatch(absent), name);
    one.free();
    other.free();
  }
});

test("saved and opened again", () => {
  for (const kind of ["ribbon", "fuse", "golomb"]) {
    const words = Array.from({ length: 3000 }, (_, i) => `word ${i}`);
    const made = petal.build({ kind, falsePositiveRate: 0.001 }, words);
    const image = made.save();
    const opened = petal.open(image);
    assert.ok(opened instanceof Filter);
    assert.equal(opened.info.kind, kind);
    assert.ok(words.every((word) => opened.contains(word)));
    assert.throws(() => opened.insert("another"), status("unsupported"));
  }
});

test("maps", () => {
  const words = Array.from({ length: 500 }, (_, i) => `word ${i}`);
  const map = petal.buildMap({ kind: "bloomier", parameters: { value_bits: 16 } }, words, words.map((_, i) => i));
  assert.equal(map.get("word 77"), 77n);
  const opened = petal.open(map.save());
  assert.ok(opened instanceof PetalMap);
  assert.equal(opened.getBatch(["word 1", "word 499"]).values.join(), "1,499");
  const twice = () => petal.buildMap({}, ["a", "a"], [1, 2]);
  assert.throws(twice, status("contradiction"));
  const changing = petal.createMap({ kind: "approximator", capacity: 100 });
  changing.put("counter", 7);
  assert.equal(changing.get("counter"), 7n);
  assert.equal(changing.get("none"), undefined);
});

test("a filter or a map is opened as what it is", () => {
  const [filter, map] = [petal.create({ kind: "cuckoo", capacity: 500 }), petal.buildMap({}, ["a"], [1])];
  filter.insert("apple");
  assert.ok(petal.openFilter(filter.save()).contains("apple"));
  assert.equal(petal.openMap(map.save()).get("a"), 1n);
  const before = petal._memory;
  for (let i = 0; i < 3; i++) {
    assert.throws(() => petal.openFilter(map.save()), status("unsupported"));
    assert.throws(() => petal.openMap(filter.save()), /cuckoo is a filter: open it with openFilter/);
  }
  assert.ok(petal._memory <= before + 1e6);
  const key = Uint8Array.from({ length: 16 }, (_, i) => i + 1);
  const secret = petal.create({ hash: "siphash13", secret: key });
  secret.insert("apple");
  assert.ok(petal.openFilter(secret.save(), { secret: key }).contains("apple"));
  assert.throws(() => petal.openFilter(new Uint8Array(100)), status("foreign"));
});

test("JSON has images in base64, and refuses what has none", () => {
  const members = Array.from({ length: 70_000 }, (_, i) => `member ${i}`);
  const filter = petal.build({ kind: "ribbon", falsePositiveRate: 0.001 }, members);
  const map = petal.buildMap({ kind: "bloomier" }, ["a", "b"], [7, 8]);
  const small = petal.create({ capacity: 1 });
  const text = JSON.stringify({ filter, maps: [map], small });
  const bytesOf = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const read = JSON.parse(text);
  for (const [image, text] of [[filter, read.filter], [map, read.maps[0]], [small, read.small]]) {
    assert.equal(text, Buffer.from(image.save()).toString("base64"));
    assert.deepEqual(Buffer.from(bytesOf(text)), Buffer.from(image.save()));
  }
  assert.ok(petal.openFilter(bytesOf(read.filter)).contains("member 69999"));
  for (const other of [petal, petal.builder(), petal.mapBuilder()]) assert.throws(() => JSON.stringify({ other }), TypeError);
  small.free();
  assert.throws(() => JSON.stringify(small), status("null"));
});

test("keys are removed, counted and forgotten", () => {
  const filter = petal.create({ kind: "counting", capacity: 100 });
  filter.insertBatch(["a", "a", "b"]);
  assert.equal(filter.count("a"), 2n);
  assert.equal(filter.countBatch(["a", "b", "c"]).join(), "2,1,0");
  assert.ok(filter.remove("b") && !filter.contains("b") && !filter.remove("b"));
  filter.clear();
  assert.equal(filter.contains("a"), false);
  const old = petal.create({ kind: "rotating", capacity: 1000, parameters: { generations: 3 } });
  old.insert("old");
  old.advance(1);
  assert.ok(old.contains("old"));
  old.advance(5);
  assert.equal(old.contains("old"), false);
});

test("filters of one spec are merged", () => {
  const spec = { kind: "bloom", capacity: 100, seed: 9 };
  const [one, other, third] = [petal.create(spec), petal.create(spec), petal.create({ ...spec, seed: 8 })];
  one.insert("one");
  other.insert("other");
  one.merge(other);
  assert.ok(one.contains("other"));
  assert.throws(() => one.merge(third), status("incompatible"));
  assert.throws(() => one.merge(one), PetalError);
  assert.throws(() => one.merge({}), TypeError);
});

test("secret keys", () => {
  const key = Uint8Array.from({ length: 16 }, (_, i) => 7 * i);
  const filter = petal.create({ hash: "siphash13", secret: key });
  filter.insert("secret");
  const image = filter.save();
  assert.ok(petal.open(image, { secret: key }).contains("secret"));
  const closed = petal.open(image);
  assert.throws(() => closed.contains("secret"), status("secret_missing"));
  assert.equal(closed.info.canHash, false);
  assert.throws(() => petal.open(image, { secret: new Uint8Array(16) }), status("secret_mismatch"));
  assert.throws(() => petal.open(image, { secret: new Uint8Array(5) }), TypeError);
  assert.throws(() => petal.create({ hash: "siphash13" }), PetalError);
});

test("specs say what is wrong", () => {
  const refuses = (spec, expected) => assert.throws(() => petal.create(spec), status(expected));
  refuses({ kind: "blossom" }, "unknown_value");
  refuses({ kind: "index" }, "unsupported_by_build");
  refuses({ falsePositiveRate: 1 }, "false_positive_rate");
  refuses({ falsePositiveRate: NaN }, "false_positive_rate");
  refuses({ capacity: -1 }, "out_of_range");
  refuses({ capacity: 1.5 }, "out_of_range");
  refuses({ bits: 1024, falsePositiveRate: 0.1 }, "contradiction");
  refuses({ kind: "ribbon" }, "unsupported");
  refuses({ capacity: 2n ** 60n, falsePositiveRate: 0.5 }, "too_large");
  // More than 32 bits of address reach.
  refuses({ capacity: 2n ** 35n }, "too_large");
  refuses({ kind: "bloom", bits: 8n * 3_900_000_000n, capacity: 1 }, "too_large");
  refuses({ kind: "cuckoo", parameters: { fingerprint_bits: 99 } }, "out_of_range");
  refuses({ kind: "cuckoo", parameters: { petals: 5 } }, "unknown_value");
  assert.throws(() => petal.create({ capacty: 5 }), TypeError);
  assert.throws(() => petal.create({ kind: "exact_bits", bits: 100 }).insert("abc"), status("out_of_range"));
  const { bytes, falsePositiveRate } = petal.size({ kind: "bloom", capacity: 1e6, falsePositiveRate: 0.01 });
  assert.ok(bytes > 1.19e6 && bytes < 1.21e6 && falsePositiveRate <= 0.01);
  assert.ok(petal.size({ kind: "ribbon", capacity: 1e6, falsePositiveRate: 0.004 }).bytes < 1.05e6);
  // Sizes are those of machines with 64-bit addresses too.
  assert.ok(petal.size({ kind: "bloom", capacity: 2 ** 35, falsePositiveRate: 0.01 }).bytes > 40e9);
  assert.equal(petal.create({ kind: "cuckoo", parameters: { bucket_slots: 8 } }).parameters.bucket_slots, 8);
});

test("plans", () => {
  const { recommended, proposals } = petal.plan({ keys: 1_000_000, falsePositiveRate: 0.01 });
  assert.equal(recommended, "blocked");
  const fits = proposals.filter((proposal) => proposal.fits);
  assert.ok(fits.length > 3 && fits.every(({ bytes }, i) => i === 0 || bytes >= fits[i - 1].bytes));
  assert.ok(proposals.filter(({ fits }) => !fits).every(({ reason }) => reason.length > 10));
  assert.equal(petal.plan({ keys: 1e6, isStatic: true }).recommended, "ribbon");
  assert.equal(petal.plan({ keys: 1e6, capabilities: ["remove"], memory: 4e6 }).proposals[0].fits, true);
  assert.ok(petal.plan({ keys: 1000, inPlace: true }).proposals.some(({ reason }) => /in place/.test(reason ?? "")));
  assert.throws(() => petal.plan({ keys: 10, falsePositiveRate: 2 }), status("false_positive_rate"));
  assert.throws(() => petal.plan({ keys: 10, memory: 0 }), status("out_of_range"));
  assert.throws(() => petal.plan({ keys: 10, capabilities: ["fly"] }), status("unknown_value"));
  assert.throws(() => petal.plan({ keys: 10, memory: 5, falsePositiveRate: 0.1 }), status("contradiction"));
});

test("memory is given back", () => {
  // Filters of 1 MB, one after the other: the memory of the module grows once.
  const make = () => petal.create({ capacity: 800_000 });
  make().free();
  const before = petal._memory;
  for (let i = 0; i < 200; i++) {
    const filter = make();
    petal.open(filter.save()).free();
    filter.free();
    filter.free();
  }
  assert.ok(petal._memory <= before + 8e6, `${before} bytes became ${petal._memory}`);
  const filter = make();
  filter.free();
  assert.throws(() => filter.contains("a"), status("null"));
});

test("forgotten filters go with the garbage", async (context) => {
  if (!globalThis.gc) return context.skip("node runs without --expose-gc");
  const own = await load();
  for (let round = 0; round < 40; round++) {
    for (let i = 0; i < 10; i++) own.create({ capacity: 1_000_000 });
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(own._memory < 200e6, `${own._memory} bytes`);
});

test("a module that stopped says so, and others go on", async () => {
  const own = await load();
  const filter = own.create({ capacity: 10 });
  assert.throws(() => own._stop(), status("internal"));
  assert.throws(() => filter.contains("a"), status("internal"));
  assert.throws(() => own.create({}), status("internal"));
  filter.free();
  assert.ok((await load()).create({}).insert("a"));
  assert.ok(petal.create({}).insert("a"));
});

test("a batch that ends early says where", () => {
  const filter = petal.create({ kind: "cuckoo", capacity: 10 });
  try {
    filter.insertBatch(draw(1000, 5n));
    assert.fail("a full filter takes no keys");
  } catch (error) {
    assert.equal(error.status, "full");
    assert.ok(error.done >= 10 && error.done < 100, String(error.done));
    assert.ok(filter.containsBatch(draw(error.done, 5n)).every((answer) => answer === 1));
  }
  assert.throws(() => filter.insertBatch([1n, 2]), TypeError);
  assert.throws(() => filter.insertBatch("abc"), TypeError);
});

test("statuses are those of C", async () => {
  const { readFile } = await import("node:fs/promises");
  const header = await readFile(new URL("../../../include/petal.h", import.meta.url), "utf8");
  const all = [...header.matchAll(/#define PETAL_ERR_(\w+) \((-\d+)\)/g)];
  assert.ok(all.length >= 33, `${all.length} statuses`);
  for (const [, name, code] of all) assert.equal(new PetalError(Number(code), "").status, name.toLowerCase());
});

test("numbers in messages are those of every library", () => {
  const message = (make) => {
    try {
      make();
    } catch (error) {
      return error.message;
    }
    return assert.fail("it is refused");
  };
  const rate = (falsePositiveRate) => message(() => petal.create({ falsePositiveRate }));
  assert.match(rate(1.5), /= 1\.5 is not inside \(0, 1\)$/);
  assert.match(rate(-0.25), /= -0\.25 is not/);
  assert.match(rate(1e300), /= 1e300 is not/);
  assert.match(rate(-2.5e-9), /= -2\.5e-9 is not/);
  assert.match(rate(NaN), /= NaN is not/);
  assert.match(rate(Infinity), /= inf is not/);
  assert.match(message(() => petal.create({ kind: "cuckoo", parameters: { fingerprint_bits: 99.5 } })), /= 99\.5 is not .* to \d+$/);
  assert.match(message(() => petal.create({ kind: "cuckoo", parameters: { fingerprint_bits: "many" } })), /= many is not/);
  assert.match(message(() => petal.create({ kind: "cuckoo", parameters: { fingerprint_bits: "0x10" } })), /= 0x10 is not/);
  assert.equal(petal.create({ kind: "cuckoo", parameters: { fingerprint_bits: "1.2e1" } }).parameters.fingerprint_bits, 12);
});
