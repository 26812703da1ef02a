// The golden images, which every library of Petal answers alike.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Filter, PetalError, PetalMap, load } from "@petal-filter/petal";
import { modules } from "./modules.mjs";
import { images } from "./tar.mjs";

const SECRET = Uint8Array.from({ length: 16 }, (_, i) => i);

/** The finaliser of docs/format.md. */
export function mix(x) {
  const low = (number) => BigInt.asUintN(64, number);
  x = low((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n);
  x = low((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
  return x ^ (x >> 31n);
}

const named = Array.from({ length: 100 }, (_, i) => `key ${i}`);
const hashed = BigUint64Array.from({ length: 100 }, (_, i) => mix(BigInt(i + 1)));
const whole = BigUint64Array.from({ length: 100 }, (_, i) => 7n * BigInt(i));

/** The keys that an image holds, with the options of a batch. */
function keysOf(filter) {
  const { hash } = filter.info;
  if (hash === "external") return [hashed, { as: "hashes" }];
  return hash === "identity" ? [whole, {}] : [named, {}];
}

/** Bytes that look like a digest. */
const digest = (length, number) => new Uint8Array(length).map((_, j) => Number(mix(BigInt(64 * number + j)) & 255n));

for (const simd of modules("petal")) {
  const petal = await load({ simd });
  const which = simd ? "SIMD128" : "portable";

  test(`every golden filter has its keys: ${which}`, () => {
    const all = images();
    assert.ok(all.length > 150, `${all.length} images`);
    const kinds = new Set();
    for (const [name, bytes] of all) {
      const filter = petal.open(bytes, name.includes("siphash13") ? { secret: SECRET } : {});
      assert.ok(filter instanceof Filter, name);
      kinds.add(filter.info.kind);
      const [keys, as] = keysOf(filter);
      // Some kinds may forget or lose a key by their contract; the answers are those of the native library, below.
      const forgets = filter.info.capabilities.some((one) => ["age", "may_lose_keys"].includes(one));
      const found = filter.containsBatch(keys, as).reduce((a, b) => a + b);
      assert.ok(forgets ? found > 0 : found === 100, `${name}: ${found} of its keys`);
      if (!as.as) {
        Array.from(keys).forEach((key, i) => {
          assert.equal(filter.contains(key), filter.containsBatch([key])[0] === 1, `${name}: ${i}`);
        });
      }
      assert.deepEqual(Buffer.from(filter.save()), Buffer.from(bytes), `${name}: saved`);
      filter.verify();
      filter.free();
    }
    assert.ok(kinds.size >= 24, [...kinds].join());
  });

  test(`every golden map has its values: ${which}`, () => {
    const all = images("maps/");
    assert.ok(all.length > 20);
    for (const [name, bytes] of all) {
      const map = petal.open(bytes, name.includes("siphash13") ? { secret: SECRET } : {});
      assert.ok(map instanceof PetalMap, name);
      const [keys, as] = keysOf(map);
      const { found, values } = map.getBatch(keys, as);
      assert.ok(found.every((one) => one === 1), name);
      // Approximators join values at their rate.
      if (map.info.kind !== "approximator") {
        values.forEach((value, i) => assert.equal(value, 1000n * BigInt(i) + 7n, `${name}: ${i}`));
      }
      if (!as.as) assert.equal(map.get(keys[5]), values[5]);
      assert.deepEqual(Buffer.from(map.save()), Buffer.from(bytes), `${name}: saved`);
      map.free();
    }
  });

  test(`golden filters of digests: ${which}`, () => {
    for (const [name, bytes] of images("digests/")) {
      const filter = petal.open(bytes);
      const length = Number(/digest_(\d+)/.exec(name)[1]) / 8;
      const absent = Array.from({ length: 1000 }, (_, i) => digest(length, i + 1000));
      const positives = filter.containsBatch(absent).reduce((a, b) => a + b);
      const { falsePositiveRate: rate } = filter.statistics();
      assert.ok(Math.abs(positives - 1000 * rate) < 4.5 * Math.sqrt(1000 * rate) + 1, `${name}: ${positives} at ${rate}`);
      assert.throws(() => filter.contains(new Uint8Array(length - 1)), PetalError, name);
      const made = petal.create({ kind: "bloom", hash: "digest", seed: 8 * length, capacity: 100 });
      const digests = Array.from({ length: 50 }, (_, i) => digest(length, i));
      made.insertBatch(digests);
      assert.equal(made.containsBatch(digests).reduce((a, b) => a + b), 50, name);
    }
  });

  test(`images of kinds that this module leaves out: ${which}`, () => {
    for (const folder of ["sketches/", "own/"]) {
      for (const [name, bytes] of images(folder)) {
        assert.throws(() => petal.open(bytes), (error) => error instanceof PetalError && error.status.startsWith("unsupported"), name);
      }
    }
  });

  test(`forged bytes are refused: ${which}`, () => {
    const [, image] = images().find(([name]) => name.startsWith("blocked") && name.includes("xxh3"));
    const refused = ["foreign", "truncated", "corrupt", "newer_version", "unsupported_by_build", "unknown_value", "unclean"];
    const refuses = (bytes, what) => {
      assert.throws(() => petal.open(bytes), (error) => {
        assert.ok(error instanceof PetalError, `${what}: ${error}`);
        assert.ok(refused.includes(error.status), `${what}: ${error.status}`);
        return error.message.length > 0 && error.code < 0;
      }, what);
    };
    let unclean = 0;
    for (let at = 0; at < image.length; at++) {
      const forged = image.slice();
      forged[at] ^= 1 << (at % 8);
      try {
        petal.open(forged).free();
        unclean += 1;
      } catch {
        refuses(forged, `byte ${at}`);
      }
    }
    assert.ok(unclean <= 16, `${unclean} bytes of ${image.length} are not held by a checksum`);
    for (const length of [0, 1, 7, 127, 128, image.length - 1]) refuses(image.slice(0, length), `${length} bytes`);
    // A header that promises more bytes than any memory has.
    assert.throws(() => petal.open(new TextEncoder().encode("PETAL".repeat(100))), PetalError);
  });
}
