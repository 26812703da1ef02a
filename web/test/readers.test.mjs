// The page's readers of images say what the library says, whatever the number of keys.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { instantiate } from "../../bindings/wasm/js/petal.js";
import { fuseReader, ribbonReader } from "../src/readers.js";

const petal = await instantiate(readFileSync(new URL("../../bindings/wasm/dist/petal.wasm", import.meta.url)));
const words = (count, name) => Array.from({ length: count }, (_, i) => `${name} ${i}`);
const KINDS = [
  ["fuse", fuseReader, [{ fingerprint_bits: 8 }, { fingerprint_bits: 3 }, { fingerprint_bits: 32, arity: 4 }]],
  ["ribbon", ribbonReader, [{ fingerprint_bits: 8 }, { fingerprint_bits: 2 }, { fingerprint_bits: 5, ribbon_width: 128 }, { fingerprint_bits: 32 }]],
];

for (const [kind, reader, settings] of KINDS) {
  test(`${kind} is read as the library reads it`, () => {
    const layers = new Set();
    for (const parameters of settings) {
      for (const count of [...Array(41).keys(), 300, 3000, 20_000]) {
        const members = words(count, "key");
        const filter = petal.build({ kind, parameters }, members);
        const { find, cells, width } = reader(filter.save());
        assert.ok(cells.every((cell) => cell < 2 ** width));
        assert.ok(cells.length >= count && cells.length <= 1.6 * count + 400, `${cells.length} cells for ${count} keys`);
        for (const key of [...members.slice(0, 400), ...words(400, "absent")]) {
          const { found, layer } = find(filter.hash(key));
          assert.equal(found, filter.contains(key), `${kind} ${JSON.stringify(parameters)} of ${count}: ${key}`);
          layers.add(layer);
        }
        filter.free();
      }
    }
    if (kind === "ribbon") assert.ok([0, 1].every((layer) => layers.has(layer)), [...layers].join());
  });
}
