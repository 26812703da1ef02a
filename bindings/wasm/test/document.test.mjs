// What docs/javascript.md says: its programs under TypeScript, in Node.js and with bundlers, and the sizes of the modules.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { chromium } from "playwright-core";
import { CHROMIUM, FLAGS, installed, place, root, serve, skip } from "./installed.mjs";

const readme = readFileSync(join(root, "../../docs/javascript.md"), "utf8");
const snippets = [...readme.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({ language, text }));
const programs = snippets.filter(({ language }) => language === "js").map(({ text }) => text);
const [first, vite, beside] = programs;
const tool = (name) => join(root, "node_modules", ".bin", name);

/** What the fragments of docs/javascript.md may use. */
const PRELUDE = `import { load as load_, type Keys } from "@petal-filter/petal";
const petal = await load_();
declare const revoked: Keys, allCertificates: Keys, validCertificates: Keys, members: Keys;\n`;

/** Runs the compiler on some programs with some options, and gives what it says. */
function compile(name, texts, options) {
  const folder = join(place, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const files = texts.map((text, i) => {
    writeFileSync(join(folder, `program${i}.ts`), text);
    return `program${i}.ts`;
  });
  const compilerOptions = { strict: true, target: "es2022", module: "nodenext", types: [], lib: ["es2022", "dom"], skipLibCheck: true, outDir: "out", ...options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const { stdout, error } = spawnSync(tool("tsc"), ["--project", folder], { encoding: "utf8" });
  if (error) throw error;
  return stdout;
}

const WITH_BUNDLER = { module: "esnext", moduleResolution: "bundler", types: ["vite/client"] };
before(() => {
  for (const name of ["vite", "typescript"]) symlinkSync(join(root, "node_modules", name), join(place, "node_modules", name));
});

test("the programs compile as TypeScript", () => {
  assert.equal(programs.length, 3, "docs/javascript.md has a program, one for Vite and a fragment");
  assert.equal(compile("node", [first, `${PRELUDE}${beside}`]), "");
  assert.equal(compile("bundled", [first, vite], WITH_BUNDLER), "");
  const [declaration] = /declare module "\*\.wasm" \{[^`]*\}/.exec(readme);
  assert.equal(compile("with-esbuild-only", [vite.replace("?url", ""), declaration], { ...WITH_BUNDLER, types: [] }), "");
});

test("`using` compiles with and without the newest declarations, and frees", () => {
  const text = `import { load } from "@petal-filter/petal";
    const petal = await load();
    let kept;
    {
      using seen = petal.create({ capacity: 10 });
      seen.insert("apple");
      kept = seen;
    }
    try { kept.contains("apple"); } catch (error) { console.log((error as { status: string }).status); }
    const text: string = JSON.stringify(petal.create());
    declare const console: { log(text: string): void };`;
  assert.equal(compile("using", [text]), "");
  assert.equal(compile("using-newest", [text], { lib: ["esnext", "dom"], skipLibCheck: false }), "");
  for (const name of ["using", "using-newest"]) assert.equal(execFileSync("node", [join(place, name, "out", "program0.js")], { encoding: "utf8" }), "null\n");
});

test("the first program runs", () => {
  writeFileSync(join(place, "hello.mjs"), `${first}\nconsole.log(petal.openFilter(image).contains("apple"), petal.openFilter(image).contains("pear"));\n`);
  assert.equal(execFileSync("node", [join(place, "hello.mjs")], { encoding: "utf8" }), "true false\n");
});

test("the sizes are those of the modules", { timeout: 120_000 }, async () => {
  const rows = [...readme.matchAll(/^\| `(\S+\.wasm)`[^|]*\| ([\d,]+) \| ([\d,]+) \|$/gm)].map(([, name, ...sizes]) => [name, ...sizes.map((size) => Number(size.replaceAll(",", "")))]);
  assert.deepEqual(rows.map(([name]) => name), ["petal.wasm", "petal-simd.wasm", "reader.wasm"]);
  const pack = promisify(brotliCompress);
  await Promise.all(rows.map(async ([name, size, packed]) => {
    const bytes = readFileSync(join(installed, "dist", name));
    const small = (await pack(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } })).length;
    // Compilers differ a little.
    for (const [said, is] of [[size, bytes.length], [packed, small]]) assert.ok(Math.abs(said / is - 1) < 0.01, `${name}: ${said} in docs/javascript.md, and ${is}`);
  }));
});

/** A page with a program of docs/javascript.md that says what it looks up. */
const PAGE = '<!doctype html><title>page</title><p id="answer"></p><script type="module" src="app.js"></script>';
const app = (text) => `${text}
const seen = petal.create({ capacity: 1000 });
seen.insert("apple");
document.querySelector("#answer").textContent = ["apple", "pear"].map((key) => seen.contains(key)).join();`;

async function answers(browser, address) {
  const page = await browser.newPage();
  page.on("pageerror", (error) => assert.fail(String(error)));
  await page.goto(address);
  await page.locator("#answer:not(:empty)").waitFor({ state: "attached", timeout: 60_000 });
  assert.equal(await page.locator("#answer").textContent(), "true,false");
  await page.close();
}

test("Vite builds and serves the snippet", { timeout: 180_000, skip }, async () => {
  const folder = join(place, "with-vite");
  mkdirSync(folder);
  writeFileSync(join(folder, "index.html"), PAGE.replace("app.js", "/app.js"));
  writeFileSync(join(folder, "app.js"), app(vite));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  execFileSync(tool("vite"), ["build", "--logLevel", "warn"], { cwd: folder, stdio: "pipe" });
  const { server, origin } = await serve(join(folder, "dist"));
  const own = spawn(tool("vite"), ["--host", "127.0.0.1", "--port", "0"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NO_COLOR: "1" } });
  try {
    await answers(browser, `${origin}/index.html`);
    // The server of those who are still writing.
    const address = await new Promise((resolve, reject) => {
      let said = "";
      own.stdout.on("data", (text) => {
        said += text;
        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
        if (found) resolve(found[0]);
      });
      own.on("exit", () => reject(new Error(said)));
    });
    await answers(browser, address);
  } finally {
    own.kill();
    server.close();
    await browser.close();
  }
});

test("esbuild bundles the snippet as docs/javascript.md says", { timeout: 120_000, skip }, async () => {
  const folder = join(place, "with-esbuild");
  mkdirSync(folder);
  writeFileSync(join(folder, "app.js"), app(vite.replace("?url", "")));
  const command = /`npx (esbuild [^`]*)`/.exec(readme)[1].split(/\s+/);
  execFileSync(tool(command[0]), command.slice(1), { cwd: folder, stdio: "pipe" });
  writeFileSync(join(folder, "site", "index.html"), PAGE);
  const { server, origin } = await serve(join(folder, "site"));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    await answers(browser, `${origin}/index.html`);
  } finally {
    server.close();
    await browser.close();
  }
});

test("the page without a bundler works as it stands", { timeout: 120_000, skip }, async () => {
  const folder = join(place, "page");
  for (const part of ["js", "dist"]) cpSync(join(installed, part), join(folder, "petal", part), { recursive: true });
  const html = snippets.find(({ language }) => language === "html").text;
  writeFileSync(join(folder, "index.html"), `<!doctype html>\n${html}`);
  const { server, origin } = await serve(folder);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const page = await browser.newPage();
    await page.goto(`${origin}/index.html`);
    await page.locator("#answer:not(:empty)").waitFor({ state: "attached" });
    assert.equal(await page.locator("#answer").textContent(), "true");
  } finally {
    server.close();
    await browser.close();
  }
});
