// The small build, which opens images and looks keys up.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PetalError, load } from "@petal-filter/petal";
import { modules } from "./modules.mjs";
import { images } from "./tar.mjs";

const KINDS = ["blocked", "split_block", "fuse", "ribbon", "golomb"];
const whole = await load();

for (const simd of modules("reader")) {
  test(`a reader answers as the whole library: SIMD128 is ${simd}`, async () => {
    const reader = await load({ build: "reader", simd });
    const keys = Array.from({ length: 20_000 }, (_, i) => `key ${i}`);
    let opened = 0;
    for (const [name, bytes] of images()) {
      if (name.includes("external") || name.includes("siphash13")) continue;
      const kind = whole.open(bytes).info.kind;
      if (!KINDS.includes(kind)) {
        assert.throws(() => reader.open(bytes), (error) => error.status === "unsupported_by_build", name);
        continue;
      }
      const [one, other] = [reader.open(bytes), whole.open(bytes)];
      assert.deepEqual(one.containsBatch(keys), other.containsBatch(keys), name);
      assert.deepEqual(one.info, other.info, name);
      one.verify();
      opened += 1;
    }
    assert.ok(opened > 10, `${opened} images`);
    assert.throws(() => reader.create({}), (error) => error instanceof PetalError && error.status === "unsupported_by_build");
    const forged = images().find(([name]) => name.startsWith("ribbon"))[1].slice();
    forged[300] ^= 1;
    assert.throws(() => reader.open(forged), PetalError);
  });
}
