// The package as others get it: packed by npm, in Node.js and in a headless Chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import { chromium } from "playwright-core";
import { load } from "@petal-filter/petal";
import { CHROMIUM, FLAGS, installed, place, root, serve, skip } from "./installed.mjs";
import { images } from "./tar.mjs";

test("the package has the modules and nothing of the tests", () => {
  assert.deepEqual(readdirSync(installed).sort(), ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "dist", "js", "package.json"]);
  assert.deepEqual(readdirSync(join(installed, "dist")).sort(), ["petal-simd.wasm", "petal.wasm", "reader-simd.wasm", "reader.wasm"]);
  writeFileSync(join(place, "use.mjs"), `
    import { load } from "@petal-filter/petal";
    const filter = (await load()).create({ capacity: 10 });
    filter.insert("apple");
    console.log(filter.contains("apple"), filter.contains("pear"));`);
  assert.equal(execFileSync("node", [join(place, "use.mjs")], { encoding: "utf8" }), "true false\n");
});

test("the modules are small", () => {
  // Bounds above what they are, so that what makes them much larger is noticed. Quality 11 would take long; docs/javascript.md
  // has the sizes by that.
  const most = { "petal.wasm": 400_000, "petal-simd.wasm": 400_000, "reader.wasm": 68_000, "reader-simd.wasm": 68_000 };
  for (const [name, bound] of Object.entries(most)) {
    const bytes = readFileSync(join(installed, "dist", name));
    const size = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }).length;
    assert.ok(size < bound, `${name}: ${size} bytes`);
  }
});

test("in Chromium it answers as in Node.js", { timeout: 120_000, skip }, async () => {
  writeFileSync(join(installed, "index.html"), "<!doctype html><title>empty</title>");
  cpSync(join(root, "example"), join(installed, "example"), { recursive: true });
  const list = join(place, "list.txt");
  writeFileSync(list, ["123456", "password", "qwertz", "pässword", ""].join("\n"));
  // The example's program, with the package from here.
  cpSync(join(root, "example", "password", "make.mjs"), join(place, "make.mjs"));
  execFileSync("node", [join(place, "make.mjs"), list, join(installed, "example", "password", "passwords.petal")]);
  const { server, origin } = await serve(installed);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error));
    await page.goto(`${origin}/index.html`);
    const golden = images().concat(images("maps/")).filter(([name]) => !name.includes("siphash13"));
    const petal = await load();
    const asked = Array.from({ length: 3000 }, (_, i) => `key ${i}`);
    const answers = (petal, bytes, asked) => {
      const image = petal.open(bytes);
      const { hash, isMap } = image.info;
      const keys = hash === "identity" || hash === "external" ? BigUint64Array.from(asked, (_, i) => BigInt(i)) : asked;
      const as = hash === "external" ? { as: "hashes" } : {};
      const result = isMap ? image.getBatch(keys, as).values.join() : image.containsBatch(keys, as).join("");
      image.free();
      return result;
    };
    const expected = golden.map(([, bytes]) => answers(petal, bytes, asked));
    for (const simd of [true, false]) {
      const got = await page.evaluate(async ({ golden, asked, simd, source }) => {
        const { load } = await import("/js/load.js");
        const answers = eval(source);
        const petal = await load({ simd });
        return golden.map((text) => answers(petal, Uint8Array.from(atob(text), (one) => one.charCodeAt(0)), asked));
      }, { golden: golden.map(([, bytes]) => Buffer.from(bytes).toString("base64")), asked, simd, source: `(${answers})` });
      got.forEach((answer, i) => assert.ok(answer === expected[i], `${golden[i][0]}, SIMD128 ${simd}`));
    }
    const thrown = await page.evaluate(async () => {
      const { PetalError, load } = await import("/js/load.js");
      const petal = await load();
      try {
        petal.open(new Uint8Array(100));
      } catch (error) {
        return [error instanceof PetalError, error.status, petal.hasSimd];
      }
    });
    assert.deepEqual(thrown, [true, "foreign", true]);

    // The example: a password is looked up without a request.
    await page.goto(`${origin}/example/password/index.html`);
    const answer = page.locator("#answer");
    await page.locator("#password:enabled").waitFor();
    const requests = [];
    page.on("request", (request) => requests.push(request.url()));
    for (const [password, expected] of [["qwertz", /Others use/], ["pässword", /Others use/], ["a gnu in a canoe", /not in the list/], ["", /Type/]]) {
      await page.locator("#password").fill(password);
      assert.match(await answer.textContent(), expected, password);
    }
    assert.deepEqual(requests, []);
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
    server.close();
  }
});
