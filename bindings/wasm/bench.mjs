// bench.mjs PROGRAM: a batch of 10^6 numbers looked up in a `blocked` filter of 10^6 keys, by each module, compared
// with PROGRAM, which does the same natively with portable code. `make bench-wasm` runs it.
import { execFileSync } from "node:child_process";
import { hasSimd, load } from "@petal-filter/petal";

const COUNT = 1_000_000;
const keys = BigUint64Array.from({ length: COUNT }, (_, i) => BigInt.asUintN(64, BigInt(i) * 0x9e3779b97f4a7c15n));

async function least(simd) {
  const filter = (await load({ simd })).create({ kind: "blocked", capacity: COUNT, falsePositiveRate: 0.01 });
  filter.insertBatch(keys);
  let least = Infinity;
  for (let round = 0; round < 40; round++) {
    const start = performance.now();
    filter.containsBatch(keys);
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

const native = Number(execFileSync(process.argv[2], { encoding: "utf8" }));
console.log(`native, portable: ${native.toFixed(2)} ms for ${COUNT} keys`);
for (const simd of hasSimd() ? [false, true] : [false]) {
  const time = await least(simd);
  console.log(`WebAssembly, ${simd ? "SIMD128" : "portable"}: ${time.toFixed(2)} ms, ${(time / native).toFixed(2)} times as long`);
}
