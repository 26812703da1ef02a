// What is copied from the page, for every kind and every use, is compiled and run: in C, C++, Rust, Go, Go without cgo,
// JavaScript and the shell, and in Redis where REDIS_MODULE names the module. PETAL is the command, LIBRARY the folder of
// libpetal.so, RUST_TARGET a folder for what cargo compiles.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { goTo, launch, linesOf, open } from "./browser.mjs";

const { PETAL, RUST_TARGET, REDIS_MODULE } = process.env;
const root = fileURLToPath(new URL("../..", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "petal-lines-"));
after(() => rmSync(place, { recursive: true, force: true }));
// The library by the name that programs ask for, as an installation has it.
const LIBRARY = join(place, "lib");
mkdirSync(LIBRARY);
for (const name of ["libpetal.so", "libpetal.so.0"]) symlinkSync(join(process.env.LIBRARY, "libpetal.so"), join(LIBRARY, name));
const has = (command, ...flags) => spawnSync(command, flags).error === undefined;
const run = promisify(execFile);

const COUNT = 20_000;
const LANGUAGES = ["C", "C++", "Rust", "Go", "Go without cgo", "JavaScript", "Redis", "Shell"];
/** What Go reads without cgo is less: docs of package view. */
const NOT_PURE = ["age_partitioned", "aleph", "layered", "removed_set", "rotating", "spectral", "stable", "taffy", "variable_increment"];

/** Each kind with each of its uses: the settings, and what the page shows. */
const cases = [];
const clocked = ["rotating", "age_partitioned"];

let browser;
before(async () => {
  browser = await launch();
  const page = await open(browser, "#tab=size");
  const kinds = await page.evaluate(() => [...document.querySelectorAll("#size-kind option")].map(({ value }) => value));
  for (const kind of kinds) {
    for (const window of clocked.includes(kind) ? ["keys", "time"] : [""]) {
      for (const use of ["memory", "file", "shared"]) {
        const rate = kind === "vector_quotient" ? 0.4 : 1;
        const more = ["exact_set", "exact_bits"].includes(kind) ? `&more=${10 * COUNT}` : "";
        const time = window === "time" ? "&window=time&minutes=60" : "";
        await goTo(page, `tab=size&kind=${kind}&keys=${COUNT}&rate=${rate}${more}${time}&use=${use}`);
        if (await page.locator("#size-use").inputValue() !== use) continue;
        const shown = await page.locator("#size-answer").evaluate(({ dataset }) => ({ bits: Number(dataset.bits), bytes: Number(dataset.bytes), rate: Number(dataset.rate) }));
        const name = [kind, use, window].filter(Boolean).join("_");
        const folder = join(place, name);
        mkdirSync(folder);
        cases.push({ name, kind, use, window, rate, shown, folder, lines: await linesOf(page) });
      }
    }
  }
  await page.close();
  for (const one of cases) files(one);
});
after(() => browser?.close());

/** The files that the lines name. */
function files({ kind, folder }) {
  const write = (file, all) => writeFileSync(join(folder, file), all.map((line) => `${line}\n`).join(""));
  const words = Array.from({ length: COUNT - 1 }, (_, i) => String(i * 7 + 100));
  const isNumber = kind === "exact_bits";
  const present = isNumber ? "17" : "apple";
  write("keys.txt", [present, ...words]);
  write("keys.tsv", [`${present}\t1`, ...words.map((word, i) => `${word}\t${i % 256}`)]);
  write("universe.txt", [present, "pear", ...words, ...Array.from({ length: 9 * COUNT - 1 }, (_, i) => `other ${i}`)]);
  write("non_members.txt", ["pear", ...words.map((word) => `non_member ${word}`)]);
}

/** The file that the lines for the shell make, new for each language. */
function makeFile({ lines, folder }) {
  rmSync(join(folder, "keys.petal"), { force: true });
  const script = lines.Shell.split("\n")[0].replaceAll("petal build", `'${PETAL}' build`).replaceAll("petal map build", `'${PETAL}' map build`);
  execFileSync("sh", ["-c", script], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
}

const MAPS = ["bloomier", "retrieval", "approximator", "mutable_bloomier"];
const REMOVE = ["counting", "exact_bits", "cuckoo", "quotient", "vector_quotient", "spectral", "d_left", "variable_increment", "removed_set", "aleph"];
const COUNTS = ["counting", "exact_bits", "cuckoo", "quotient", "vector_quotient", "spectral", "d_left", "layered"];

/** What a program prints. */
function expected({ kind, use }, { reads = false } = {}) {
  const [present, absent] = kind === "exact_bits" ? ["17", "18"] : ["apple", "pear"];
  if (MAPS.includes(kind)) {
    return [`${present}: 1`, ...(kind === "mutable_bloomier" && !reads ? [`${present}, replaced: 0`] : []), ...(kind === "retrieval" ? [] : [`${absent}: absent`])];
  }
  const more = use === "shared" || reads ? [] : [
    ...(COUNTS.includes(kind) ? [`${present} came: 1`] : []), ...(REMOVE.includes(kind) ? [`${present}, removed: no`] : []),
  ];
  return [`${present}: maybe`, `${absent}: no`, ...more];
}

/** Runs the program of each case, which `command` starts, and compares what it prints. */
async function compare(language, command, options = () => ({})) {
  const concerned = cases.filter(({ lines }) => lines[language] !== undefined);
  for (const one of concerned) {
    if (/keys\.petal/.test(one.lines[language])) makeFile(one);
    const [program, ...flags] = command(one);
    const { stdout } = await run(program, flags, { cwd: one.folder, encoding: "utf8" });
    assert.deepEqual(stdout.trim().split("\n"), expected(one, options(one)), `${language}, ${one.name}:\n${one.lines[language]}`);
  }
  return concerned.length;
}

test("every kind, every use, every language", () => {
  const names = cases.map(({ name }) => name);
  for (const name of ["rotating_memory_keys", "rotating_shared_time", "age_partitioned_file_time", "blocked_shared", "counting_file",
    "mutable_bloomier_file", "approximator_file", "ribbon_memory", "stable_memory"]) assert.ok(names.includes(name), `${name} is not in ${names}`);
  assert.equal(new Set(cases.map(({ kind }) => kind)).size, 30);
  for (const { name, kind, lines, window } of cases) {
    assert.deepEqual(LANGUAGES.filter((language) => !lines[language]), NOT_PURE.includes(kind) ? ["Go without cgo"] : [], name);
    if (window !== "time") continue;
    for (const language of ["C", "C++", "Rust", "Go", "JavaScript"]) if (!/keys\.petal/.test(lines[language])) assert.match(lines[language], /clock.*steps/, `${name}, ${language}`);
    assert.match(lines.Shell, /clock=steps/, name);
    for (const language of ["C", "C++", "Rust", "Go", "Redis"]) assert.match(lines[language], /advance/i, `${name}, ${language}`);
  }
});

test("the lines for the shell give the numbers that are shown", () => {
  for (const { name, kind, use, rate, shown, folder, lines } of cases) {
    rmSync(join(folder, "keys.petal"), { force: true });
    const path = { ...process.env, PATH: `${place}:${process.env.PATH}` };
    writeFileSync(join(place, "petal"), `#!/bin/sh\nexec '${PETAL}' "$@"\n`, { mode: 0o755 });
    const { stdout, status, stderr } = spawnSync("sh", ["-ec", lines.Shell], { cwd: folder, env: path, encoding: "utf8" });
    assert.equal(status, 0, `${name}: ${stderr}`);
    assert.match(stdout, kind === "exact_bits" ? /^17$/m : /^apple/m, name);
    if (kind !== "retrieval") assert.doesNotMatch(stdout, /^pear/m, name);
    const info = JSON.parse(execFileSync(PETAL, ["info", "--json", join(folder, "keys.petal")], { encoding: "utf8" }));
    assert.equal(info.kind, kind);
    const what = `${name}: ${JSON.stringify(shown)}, and ${JSON.stringify(info)}`;
    // What a build takes depends on the keys a bit; other sizes are exact. A filter that grows may have grown.
    const isBuilt = !/capacity|--bits/.test(lines.Shell);
    const isSame = isBuilt ? Math.abs(info.bits / shown.bits - 1) < 0.03 : info.bytes === shown.bytes;
    assert.ok(isSame, what);
    if (!isBuilt && info.false_positive_rate !== null && use === "memory") assert.ok(shown.rate <= (rate / 100) * 1.0000001, what);
  }
});

test("C", { timeout: 300_000 }, async () => {
  for (const { folder, lines } of cases) {
    writeFileSync(join(folder, "keys.c"), lines.C);
    execFileSync("cc", ["-std=c11", "-Wall", "-Wextra", "-Werror", "keys.c", "-o", "in-c", `-I${root}/include`, `-L${LIBRARY}`, "-lpetal", `-Wl,-rpath,${LIBRARY}`], { cwd: folder, stdio: "pipe" });
  }
  await compare("C", ({ folder }) => [join(folder, "in-c")]);
});

/** One program of all programs of a language: each is a separate function, which the first argument names. */
const named = ({ name }) => `of_${name}`;

test("C++", { timeout: 600_000 }, async () => {
  const heads = new Set();
  const parts = cases.map((one) => {
    const body = one.lines["C++"].split("\n").filter((line) => !/^#include/.test(line) || (heads.add(line), false)).join("\n");
    return `namespace ${named(one)} {\n${body.replace("int main()", "int run()").replace(/\}$/, "    return 0;\n}")}\n}\n`;
  });
  const main = `int main(int, char **name) {\n${cases.map((one) => `    if (std::string(name[1]) == "${named(one)}") return ${named(one)}::run();`).join("\n")}\n    return 2;\n}\n`;
  writeFileSync(join(place, "all.cpp"), `${[...heads].join("\n")}\n#include <string>\n${parts.join("")}${main}`);
  execFileSync("c++", ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O0", "all.cpp", "-o", "in-cpp", `-I${root}/include`, `-I${root}/bindings/cpp`, `-L${LIBRARY}`, "-lpetal", `-Wl,-rpath,${LIBRARY}`], { cwd: place, stdio: "pipe" });
  await compare("C++", (one) => [join(place, "in-cpp"), named(one)]);
});

test("Rust", { timeout: 1_200_000 }, async () => {
  const folder = join(place, "rust");
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "Cargo.toml"), `[package]\nname = "lines"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\npetal = { path = ${JSON.stringify(root)} }\n\n[workspace]\n\n[profile.dev]\ndebug = false\nincremental = false\n`);
  cpSync(join(root, "Cargo.lock"), join(folder, "Cargo.lock"));
  for (const one of cases) writeFileSync(join(folder, "src", `${named(one)}.rs`), one.lines.Rust.replace("fn main()", "pub fn main()"));
  const mods = cases.map((one) => `mod ${named(one)};`).join("\n");
  const arms = cases.map((one) => `        "${named(one)}" => ${named(one)}::main(),`).join("\n");
  writeFileSync(join(folder, "src", "main.rs"), `#![deny(warnings)]\n${mods}\n\nfn main() -> petal::Result<()> {\n    match std::env::args().nth(1).unwrap().as_str() {\n${arms}\n        other => panic!("{other}"),\n    }\n}\n`);
  execFileSync("cargo", ["build", "--quiet", "--offline"], { cwd: folder, stdio: "pipe", env: { ...process.env, CARGO_TARGET_DIR: RUST_TARGET } });
  await compare("Rust", (one) => [join(RUST_TARGET, "debug", "lines"), named(one)]);
});

for (const language of ["Go", "Go without cgo"]) {
  test(language, { timeout: 600_000, skip: !has("go", "version") && "there is no Go" }, async () => {
    const folder = join(place, language.replaceAll(" ", "-"));
    mkdirSync(folder);
    const concerned = cases.filter(({ lines }) => lines[language]);
    // Files of one package: what each declares has its own name.
    for (const one of concerned) {
      const names = [...one.lines[language].matchAll(/^func (\w+)/gm)].map(([, name]) => name);
      writeFileSync(join(folder, `${named(one)}_lines.go`), names.reduce((text, name) => text.replaceAll(new RegExp(`(?<![.\\w])${name}\\(`, "g"), `${name}_${named(one)}(`), one.lines[language]));
    }
    const formatted = execFileSync("gofmt", ["-l", "-s", ...concerned.map((one) => {
      const file = join(one.folder, `${language === "Go" ? "cgo" : "pure"}.go`);
      writeFileSync(file, `${one.lines[language]}\n`);
      return file;
    })], { encoding: "utf8" });
    assert.equal(formatted, "", "gofmt would write these otherwise");
    const arms = concerned.map((one) => `\t"${named(one)}": main_${named(one)},`).join("\n");
    writeFileSync(join(folder, "main.go"), `package main\n\nimport "os"\n\nvar all = map[string]func(){\n${arms}\n}\n\nfunc main() { all[os.Args[1]]() }\n`);
    const go = join(root, "bindings", "go");
    writeFileSync(join(folder, "go.mod"), `${readFileSync(join(go, "go.mod"), "utf8").replace(/^module .*/m, "module lines")}\nrequire github.com/petal-filter/petal/bindings/go v0.0.0\n\nreplace github.com/petal-filter/petal/bindings/go => ${go}\n`);
    cpSync(join(go, "go.sum"), join(folder, "go.sum"));
    const env = { ...process.env, CGO_ENABLED: language === "Go" ? "1" : "0", CGO_CFLAGS: `-I${root}/include`, CGO_LDFLAGS: `-L${LIBRARY} -Wl,-rpath,${LIBRARY}`, GOFLAGS: "-mod=mod" };
    execFileSync("go", ["vet", "."], { cwd: folder, env, stdio: "pipe" });
    execFileSync("go", ["build", "-o", "lines", "."], { cwd: folder, env, stdio: "pipe" });
    // Without cgo most files are read, and none is changed.
    const reads = ({ lines }) => ({ reads: language !== "Go" && (/view\.Open/.test(lines[language]) || /filter\.New/.test(lines[language])) });
    await comparePure(language, (one) => [join(folder, "lines"), named(one)], reads);
  });
}

/** As `compare`, where files that are only read need keys. */
async function comparePure(language, command, options) {
  if (language === "Go") return compare(language, command, options);
  return withKeys(() => compare(language, command, options));
}

/** Runs `body` with files that have keys, where the lines for the shell begin with an empty one. */
async function withKeys(body) {
  const old = cases.map(({ lines }) => lines.Shell);
  for (const { lines } of cases) lines.Shell = lines.Shell.replace("/dev/null", /map build/.test(lines.Shell) ? "keys.tsv" : "keys.txt");
  try {
    return await body();
  } finally {
    cases.forEach(({ lines }, i) => { lines.Shell = old[i]; });
  }
}

/** A folder in which the package is installed. Here the module without SIMD128 stands for both. */
function withPackage() {
  const folder = join(place, "node_modules", "@petal-filter", "petal");
  if (existsSync(folder)) return;
  for (const part of ["js", "package.json"]) cpSync(join(root, "bindings", "wasm", part), join(folder, part), { recursive: true });
  for (const name of ["petal.wasm", "petal-simd.wasm"]) cpSync(join(root, "bindings", "wasm", "dist", "petal.wasm"), join(folder, "dist", name));
}

test("JavaScript", { timeout: 300_000 }, async () => {
  withPackage();
  for (const { folder, lines } of cases) writeFileSync(join(folder, "keys.mjs"), lines.JavaScript);
  await withKeys(() => compare("JavaScript", ({ folder }) => ["node", join(folder, "keys.mjs")], ({ lines }) => ({ reads: /keys\.petal/.test(lines.JavaScript) })));
});

/** The lines with which a window of an hour is tried: as many keys as said, and five times as many. */
const settingsOf = (kind) => `tab=size&kind=${kind}&keys=1000&rate=1&window=time&minutes=60`;

for (const kind of clocked) {
  test(`a window of an hour by ${kind} loses no key of that hour: JavaScript and C`, { timeout: 120_000 }, async () => {
    withPackage();
    const page = await open(browser, `#${settingsOf(kind)}`);
    const lines = await linesOf(page);
    await page.close();
    // The clock goes through an hour in 5,000 insertions. Each key is still there when its hour ends.
    writeFileSync(join(place, `${kind}.mjs`), `let now = 1.7e12;\nDate.now = () => now;\n${lines.JavaScript.replace(/^.*\.free\(\);$/m, "")}
let lost = 0;
for (let i = 0; i < 15000; i++) {
  now += 720;
  keepTime();
  seen.insert("key " + i);
  if (i >= 4999 && !seen.contains("key " + (i - 4999))) lost += 1;
}
let early = 0;
for (let i = 0; i < 5000; i++) early += Number(!seen.contains("key " + (10001 + i)));
now += 2 * 3600e3;
keepTime();
let old = 0;
for (let i = 0; i < 5000; i++) old += Number(seen.contains("key " + i));
console.log(lost, early, old);\n`);
    assert.match(execFileSync("node", [join(place, `${kind}.mjs`)], { encoding: "utf8" }), /\n0 0 0\n$/);
    writeFileSync(join(place, `${kind}.c`), `#include <time.h>\nstatic time_t now = 1700000000;\nstatic time_t clock_of_test(time_t *to) { (void)to; return now; }\n#define time clock_of_test\n#define main copied\n${lines.C}\n#undef main
int main(void) {
    petal_error error = PETAL_ERROR_INIT;
    petal_spec spec = PETAL_SPEC_INIT;
    petal_filter *seen = NULL;
    char key[32];
    int lost = copied(), length;
${lines.C.split("\n").filter((line) => /^    spec\.|petal_spec_set|petal_filter_new/.test(line)).join("\n")}
    for (int i = 0; status == PETAL_OK && i < 15000; i++) {
        now = 1700000000 + (time_t)(0.72 * i);
        status = keep_time(seen, &error);
        length = sprintf(key, "key %d", i);
        if (status == PETAL_OK) status = petal_filter_insert(seen, key, (size_t)length, NULL);
        length = sprintf(key, "key %d", i - 4999);
        if (i >= 4999 && !petal_filter_contains(seen, key, (size_t)length)) lost++;
    }
    printf("%d %d\\n", lost, (int)status);
    petal_filter_free(seen);
    return 0;
}\n`);
    execFileSync("cc", ["-std=c11", "-Wall", `${kind}.c`, "-o", kind, `-I${root}/include`, `-L${LIBRARY}`, "-lpetal", `-Wl,-rpath,${LIBRARY}`], { cwd: place, stdio: "pipe" });
    assert.match(execFileSync(join(place, kind), { encoding: "utf8" }), /\n0 0\n$/);
  });
}

const skip = !REDIS_MODULE ? "REDIS_MODULE names no module" : !has("redis-server", "--version") && "there is no redis-server";
test("Redis", { timeout: 300_000, skip }, async () => {
  const port = String(20_000 + (process.pid % 20_000));
  const server = spawn("redis-server", ["--port", port, "--save", "", "--loadmodule", REDIS_MODULE], { cwd: place, stdio: "ignore" });
  try {
    const ask = (script, folder) => run("sh", ["-ec", script], { cwd: folder, encoding: "utf8" });
    for (let i = 0; i < 100; i++) {
      if (spawnSync("redis-cli", ["-p", port, "ping"], { encoding: "utf8" }).stdout === "PONG\n") break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await withKeys(async () => {
      for (const one of cases) {
        if (/keys\.petal/.test(one.lines.Redis)) makeFile(one);
        const script = one.lines.Redis.replaceAll("redis-cli", `redis-cli -e -p ${port}`).replaceAll("petal redis import", `'${PETAL}' redis import --url 127.0.0.1:${port}`)
          .replace(/while sleep \d+; do (.*); done/, "$1");
        const { stdout } = await ask(script, one.folder);
        const lines = stdout.trim().split("\n");
        const answers = MAPS.includes(one.kind) ? /^1$/m : /^1\n0$/m;
        assert.match(stdout, answers, `${one.name}:\n${script}\n${lines.join("\n")}`);
        await ask(`redis-cli -e -p ${port} DEL seen values`, one.folder);
      }
    });
  } finally {
    server.kill();
  }
});
