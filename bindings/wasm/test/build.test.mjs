// Builds with keys that are no members: those that are excluded, and those that are asked for often.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PetalError, load } from "@petal-filter/petal";
import { modules } from "./modules.mjs";
import { images } from "./tar.mjs";

const golden = new Map(images());
const named = (name, count, from = 0) => Array.from({ length: count }, (_, i) => `${name} ${from + i}`);
const status = (expected) => (error) => {
  assert.ok(error instanceof PetalError, String(error));
  assert.equal(error.status, expected, error.message);
  return true;
};

for (const simd of modules("petal")) {
  const petal = await load({ simd });
  const which = simd ? "SIMD128" : "portable";
  const stacked = { kind: "stacked", falsePositiveRate: 1e-4, parameters: { frequent_share: 0.99 } };
  const parts = { kind: "exact_set", seed: 42, parameters: { partition_prefix_bytes: 5 } };

  test(`frequent keys make the bytes that every library writes: ${which}`, () => {
    const [members, frequent] = [named("key", 100), named("key", 1900, 100)];
    const expected = Buffer.from(golden.get("stacked-frequent-layout_1-xxh3.petal"));
    assert.deepEqual(Buffer.from(petal.build(stacked, members, { frequent }).save()), expected);
    const weights = frequent.map(() => 3);
    assert.deepEqual(Buffer.from(petal.build(stacked, members, { frequent, weights }).save()), expected, "only shares count");
    // Ten keys that nearly all lookups ask for make another filter. The weights of a key add up.
    const [few, most] = [frequent.slice(1890), frequent.map((_, i) => (i < 1890 ? 1 : 1e6))];
    const uneven = Buffer.from(petal.build(stacked, members, { frequent, weights: Float64Array.from(most) }).save());
    assert.notDeepEqual(uneven, expected);
    const again = { frequent: [...frequent, ...few], weights: [...frequent.map(() => 1), ...few.map(() => 999_999)] };
    assert.deepEqual(Buffer.from(petal.build(stacked, members, again).save()), uneven);
    const builder = petal.builder(stacked);
    builder.addBatch(members);
    for (const key of frequent) builder.frequent(key);
    assert.deepEqual(Buffer.from(builder.finish().save()), expected, "one by one");
    assert.notDeepEqual(Buffer.from(petal.build(stacked, members).save()), expected);
  });

  test(`excluded keys make the bytes that every library writes: ${which}`, () => {
    const all = named("key", 1000);
    const others = named("other", 1000);
    const build = (builder, isMember) => {
      all.forEach((key, i) => (isMember(i) ? builder.add(key) : builder.exclude(key)));
      builder.excludeBatch(others);
      return builder.finish();
    };
    const image = (name) => Buffer.from(golden.get(`exact_set-partition_prefix_bytes_5${name}-layout_1-xxh3.petal`));
    const members = all.slice(0, 100);
    const built = petal.build(parts, members, { exclude: [...all.slice(100), ...others] });
    assert.deepEqual(Buffer.from(built.save()), image(""));
    const universe = petal.build(parts, members, { universe: [...all, ...others] });
    assert.deepEqual(Buffer.from(universe.save()), image(""), "members may be in the universe");
    // Brought up to date from a filter with key 500 in the place of key 99.
    const old = build(petal.builder(parts), (i) => i < 99 || i === 500);
    const builder = petal.builder(parts);
    builder.update(old);
    assert.deepEqual(Buffer.from(build(builder, (i) => i < 100).save()), image("-updated"));
    assert.throws(() => builder.update({}), TypeError);
  });

  test(`no error over a whole universe: ${which}`, () => {
    const universe = BigUint64Array.from({ length: 50_000 }, (_, i) => BigInt(i) * 0x9e3779b97f4a7c15n);
    const members = universe.filter((_, i) => i % 7 === 0);
    const filter = petal.build({ kind: "exact_set" }, members, { universe });
    const wrong = () => filter.containsBatch(universe).reduce((sum, one, i) => sum + Number((one === 1) !== (i % 7 === 0)), 0);
    assert.equal(wrong(), 0);
    // Hashes are keys too.
    const hashes = petal.build({ kind: "exact_set", hash: "external" }, members, { universe, as: "hashes" });
    const found = hashes.containsBatch(universe, { as: "hashes" });
    assert.ok(found.every((one, i) => (one === 1) === (i % 7 === 0)));
    // Members are found and frequent keys come through at the rate of the odd levels, far below that of the filter.
    const some = petal.build(stacked, members, { frequent: universe.filter((_, i) => i % 7 !== 0) });
    const answers = some.containsBatch(universe);
    assert.ok(answers.every((one, i) => i % 7 !== 0 || one === 1));
    const taken = answers.reduce((a, b) => a + b) - members.length;
    assert.ok(taken <= 42_857 * 1e-4 + 4.5 * Math.sqrt(42_857 * 1e-4), `${taken} frequent keys are taken for members`);
  });

  test(`builds that are refused: ${which}`, () => {
    const [members, others] = [["a", "b"], ["c", "d"]];
    assert.throws(() => petal.build({ kind: "ribbon" }, members, { exclude: others }), status("unsupported"));
    assert.throws(() => petal.build({ kind: "ribbon" }, members, { frequent: others }), status("unsupported"));
    assert.throws(() => petal.build({ kind: "exact_set" }, members, { exclude: ["b", "c"] }), status("contradiction"));
    assert.throws(() => petal.build(stacked, members, { frequent: ["b"] }), status("contradiction"));
    assert.throws(() => petal.build({ kind: "exact_set" }, members, { exclude: others, universe: others }), status("contradiction"));
    for (const weight of [0, -1, NaN, Infinity, 2 ** 61]) {
      assert.throws(() => petal.build(stacked, members, { frequent: others, weights: [1, weight] }), status("out_of_range"));
    }
    assert.throws(() => petal.build(stacked, members, { frequent: others, weights: [1] }), status("buffer_too_small"));
    assert.throws(() => petal.build(stacked, members, { frequent: others, weights: [1n, 2n] }), TypeError);
    assert.throws(() => petal.build(stacked, members, { weights: [1] }), TypeError);
    assert.throws(() => petal.build(stacked, members, { frequency: others }), TypeError);
    // A builder that failed in the middle says how many keys it took, and can go on.
    const builder = petal.builder(stacked);
    assert.throws(() => builder.frequentBatch(others, [1, 0]), (error) => error.done === 1);
    builder.frequent("d", 0.5);
    builder.add("a");
    assert.ok(builder.finish().contains("a"));
  });
}
