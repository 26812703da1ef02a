// The built page in a headless Chromium, opened as a file. PAGE is the page, PETAL the command `petal`; pictures go to
// the folder PICTURES, if that is set.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { address, goTo, launch, linesOf, open as openIn } from "./browser.mjs";

const { PETAL, PICTURES } = process.env;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
const open = (hash, options) => openIn(browser, hash, options);

/** What stands behind the # of the address now. */
const hashOf = (page) => page.evaluate(() => location.hash);

/** The kinds that fit, as the page shows them: the exact numbers. */
const rows = (page) => page.evaluate(() => [...document.querySelectorAll("#proposals:not([hidden]) tr[data-kind]")].map(({ dataset, className }) => ({
  kind: dataset.kind, bits: Number(dataset.bits), bytes: Number(dataset.bytes), rate: Number(dataset.rate), lines: Number(dataset.lines), best: className === "best",
})));

/** What `petal plan --json` says; null if it refuses. */
function plan(settings) {
  const { have = "known", keys, goal = "rate", rate, memory, universe, times } = settings;
  const flags = [
    ...(have === "window" || have === "time" ? ["--window", keys] : ["--keys", keys]),
    ...(goal === "rate" ? ["--fpr", String(Number(rate) / 100)] : ["--memory", memory]),
    ...(have === "all" ? ["--static"] : []), ...(have === "unknown" ? ["--growing"] : []),
    ...(settings.remove ? ["--remove"] : []), ...(settings.count ? ["--count", "--times", times] : []),
    ...(settings.inPlace ? ["--in-place"] : []), ...(settings.shared ? ["--shared"] : []),
    ...(settings.merge ? ["--merge"] : []), ...(settings.lose ? ["--may-lose-keys"] : []),
    ...(settings.integers ? ["--universe", universe] : have === "all" && settings.asked ? ["--universe", settings.all] : []),
    ...(have === "all" && settings.often ? ["--frequent", String(Number(settings.share) / 100), "--non-members", settings.non_members] : []),
  ];
  const { stdout, stderr, error } = spawnSync(PETAL, ["plan", "--json", ...flags], { encoding: "utf8" });
  if (error) throw error;
  return stdout === "" ? { refusal: stderr } : JSON.parse(stdout);
}

const near = (a, b, share = 1e-9) => Math.abs(a - b) <= share * Math.max(Math.abs(a), Math.abs(b));

/** Fails unless the page shows what the command says. */
async function compare(page, settings) {
  const about = JSON.stringify(settings);
  const [shown, told] = [await rows(page), plan(settings)];
  // A bound is of whole numbers, so the page does not offer their kind for other keys.
  if (settings.have === "all" && settings.asked && !settings.integers && told.refusal === undefined) {
    const of = told.proposals.find(({ kind }) => kind === "exact_bits");
    told.proposals[told.proposals.indexOf(of)] = { kind: "exact_bits", reason: "its keys are whole numbers below a bound" };
    if (told.recommended === "exact_bits") told.recommended = told.proposals.find(({ bytes }) => bytes !== undefined)?.kind ?? null;
  }
  // The planner knows a window of keys. With a clock its filters have the same size, and one kind has no clock.
  if (settings.have === "time" && told.refusal === undefined) {
    const at = told.proposals.findIndex(({ kind, bytes }) => kind === "stable" && bytes !== undefined);
    if (at >= 0) told.proposals[at] = { kind: "stable", reason: "its keys fade by the number of insertions, not by the clock" };
    if (told.recommended === "stable") told.recommended = told.proposals.find(({ bytes }) => bytes !== undefined)?.kind ?? null;
  }
  if (told.refusal !== undefined) {
    assert.deepEqual(shown, [], `${about}: ${told.refusal}`);
    assert.match(await page.locator("#advice").innerText(), /That cannot be/, about);
    return;
  }
  const fits = told.proposals.filter((one) => one.bytes !== undefined);
  const byName = new Map(shown.map((row) => [row.kind, row]));
  assert.equal(shown.length, fits.length, about);
  for (const { kind, bits_per_key, bytes, false_positive_rate, lines_per_lookup } of fits) {
    const row = byName.get(kind);
    const what = `${about}: ${kind}`;
    assert.ok(row, what);
    // Powers and logarithms differ in their last bit between WebAssembly and the C library. That may move a size of
    // gigabytes, which is searched for a memory or a rate, by a few lines.
    const share = bytes > 1e8 ? 1e-5 : 1e-9;
    assert.ok(share > 1e-9 ? near(row.bytes, bytes, share) : row.bytes === bytes, `${what}: ${row.bytes} is not ${bytes}`);
    assert.ok([[row.bits, bits_per_key], [row.rate, false_positive_rate], [row.lines, lines_per_lookup]].every(([a, b]) => near(a, b, share)), `${what}: ${JSON.stringify(row)}, not ${bits_per_key} bits and ${false_positive_rate}`);
  }
  assert.equal(shown.find(({ best }) => best)?.kind ?? null, told.recommended, about);
  const reasons = told.proposals.filter(({ reason }) => reason !== undefined).map(({ kind, reason }) => `${kind}: ${reason}`).sort();
  const said = await page.locator("#others li").allTextContents();
  assert.deepEqual(said.sort(), reasons, about);
}

/** Numbers that look random, the same at every run. */
function source(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function draw(random) {
  const some = (share) => random() < share;
  const keys = String(Math.round(10 ** (1 + 8 * random())));
  const settings = { have: ["known", "unknown", "window", "time", "all"][Math.floor(5 * random())], keys };
  if (some(0.7)) settings.rate = String(Number((100 * 10 ** (-6 + 5.6 * random())).toPrecision(3)));
  else Object.assign(settings, { goal: "memory", memory: String(Math.round(keys * (0.2 + 6 * random()) + 64)) });
  for (const name of ["remove", "merge", "shared", "inPlace", "lose"]) if (some(0.2)) settings[name] = "1";
  if (some(0.2)) Object.assign(settings, { count: "1", times: String(1 + Math.floor(300 * random())) });
  if (settings.have === "all" && some(0.4)) Object.assign(settings, { asked: "1", all: String(Math.round(keys * (1 + 30 * random()))) });
  if (settings.have === "all" && some(0.4)) {
    Object.assign(settings, { often: "1", share: String(Math.round(1 + 98 * random())), non_members: String(Math.ceil(keys * random())) });
  }
  if (some(0.2)) Object.assign(settings, { integers: "1", universe: String(Math.round(keys * (0.5 + 20 * random()))) });
  return settings;
}

test("the planner's numbers for 200 random settings", { timeout: 300_000 }, async () => {
  const page = await open();
  const random = source(34);
  for (let round = 0; round < 200; round++) {
    const settings = draw(random);
    // By the address, as a link does; every tenth by the controls.
    if (round % 10 === 0) {
      await page.goto(`${address}#tab=choose`);
      await page.locator(`input[name=have][value=${settings.have}]`).click();
      await page.locator("#keys").fill(settings.keys);
      await page.locator(`input[name=goal][value=${settings.goal ?? "rate"}]`).click();
      await page.locator(settings.goal ? "#memory" : "#rate").fill(settings.memory ?? settings.rate);
      for (const name of ["remove", "merge", "shared", "inPlace", "lose", "count", "asked", "often", "integers"]) {
        if (settings[name]) await page.locator(`input[name=${name}]`).click();
      }
      if (settings.count) await page.locator("input[name=times]").fill(settings.times);
      if (settings.integers) await page.locator("input[name=universe]").fill(settings.universe);
      else if (settings.asked) await page.locator("input[name=all]").fill(settings.all);
      for (const name of settings.often ? ["share", "non_members"] : []) await page.locator(`input[name=${name}]`).fill(settings[name]);
      const kept = new URLSearchParams((await hashOf(page)).slice(1));
      assert.equal(kept.get("keys") ?? "1000000", settings.keys, "the address keeps the settings");
    } else {
      await page.evaluate((hash) => {
        const changed = new Promise((resolve) => addEventListener("hashchange", () => setTimeout(resolve), { once: true }));
        location.hash = hash;
        return changed;
      }, `tab=choose&${new URLSearchParams(settings)}`);
    }
    await compare(page, settings);
  }
  await page.close();
});

/** Questions that newcomers had: what they click, which kinds are right, and what the advice says. Clicks and keys only. */
const QUESTIONS = [
  ["a window of the last keys", async (page) => {
    await page.getByLabel(/the last keys count/).click();
    await page.getByLabel("Keys that count: the last").last().fill("250000");
  }, ["rotating", "age_partitioned"], /whatever the time/],
  ["a window of the last hour", async (page) => {
    await page.getByLabel(/the last minutes count/).click();
    await page.getByLabel("Minutes", { exact: true }).first().fill("60");
    await page.getByLabel("Keys in that time, at most").first().fill("250000");
  }, ["rotating", "age_partitioned"], /by the clock[^]*No key of that time is lost/],
  ["a file changed in place", async (page) => {
    await page.getByLabel(/Change a file in place/).click();
  }, ["blocked"], /changes it where it lies/],
  ["a file changed in place, from which keys are removed", async (page) => {
    await page.getByLabel(/Change a file in place/).click();
    await page.getByLabel("Remove keys").click();
  }, ["counting", "variable_increment", "d_left"], /changes it where it lies/],
  ["values that change", async (page) => {
    await page.getByLabel(/Give each key a value/).selectOption("change");
  }, ["mutable_bloomier"], /the values change later, the keys stay[^]*petal_map\.h/],
  ["dense integers", async (page) => {
    await page.getByLabel(/whole numbers below a bound/).click();
    await page.getByLabel("The bound").fill("3000000");
  }, ["exact_bits"], /no wrong answer/],
  ["an unknown number of keys", async (page) => {
    await page.getByLabel(/nobody knows how many/).click();
  }, ["scalable", "taffy", "aleph"], /The filter grows, and keeps its rate/],
  ["a file that processes share", async (page) => {
    await page.getByLabel(/threads or processes/).click();
    await page.getByLabel(/Change a file in place/).click();
  }, ["blocked"], /PETAL_OPEN_SHARED/],
  ["all keys that will be asked for are known", async (page) => {
    await page.getByLabel("All keys at once, and they stay").click();
    await page.getByLabel(/every key that will ever be asked for/).click();
    await page.getByLabel("Keys in all").fill("5000000");
  }, ["exact_set"], /never wrong/],
  ["absent keys that are asked for often", async (page) => {
    await page.getByLabel("All keys at once, and they stay").click();
    await page.getByLabel(/absent keys that are asked for often/).click();
    await page.getByLabel("How many", { exact: true }).fill("20000");
    await page.getByLabel(/of the lookups of absent keys/).fill("95");
  }, ["stacked"], /how often each is asked for/],
];

for (const [question, answer, kinds, advice] of QUESTIONS) {
  test(`newcomers ask for ${question}`, async () => {
    const page = await open();
    await answer(page);
    const best = await page.locator("#advice strong").first().textContent();
    assert.ok(kinds.includes(best), best);
    assert.match(await page.locator("#advice").innerText(), advice);
    // The table has the kind too, as the one to take, with numbers; maps have theirs in the advice.
    if (best !== "mutable_bloomier") assert.equal((await rows(page)).find((row) => row.best)?.kind, best);
    else assert.match(await page.locator("#advice").innerText(), /\d bits a key/);
    // The names next to the curves stand in the picture, and apart.
    if (best !== "mutable_bloomier") {
      await page.locator(".dots text").first().waitFor({ state: "attached" });
      await page.waitForTimeout(400);
      const [tops, top, bottom] = await page.evaluate(() => {
        const { top, bottom } = document.querySelector("#picture").getBoundingClientRect();
        return [[...document.querySelectorAll(".dots text")].map((text) => text.getBoundingClientRect().top).sort((a, b) => a - b), top, bottom];
      });
      assert.ok(tops.every((place) => place >= top - 4 && place <= bottom), "names leave the picture");
      assert.ok(tops.every((place, i) => i === 0 || place - tops[i - 1] >= 10), "names lie on each other");
    }
    if (PICTURES) await page.screenshot({ path: join(PICTURES, `question-${question.replaceAll(/\W+/g, "-")}.png`), fullPage: true });
    // The address keeps the question, on a phone too. There the names end within the picture.
    const other = await open(await hashOf(page), { viewport: { width: 360, height: 900 } });
    assert.equal(await other.locator("#advice").innerText(), await page.locator("#advice").innerText());
    const past = await other.evaluate(() => {
      const { right } = document.querySelector("#picture").getBoundingClientRect();
      return [...document.querySelectorAll(".dots text")].filter((text) => text.getBoundingClientRect().right > right).map((text) => text.textContent);
    });
    assert.deepEqual(past, []);
    // The link leads to lines for the filter that the advice is about.
    const told = await page.locator("#advice .large").innerText();
    await page.locator("#advice a").click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-size");
    assert.equal(await page.locator("#size-kind").inputValue(), best);
    const size = await page.locator("#size-answer strong").innerText();
    assert.ok(told.includes(`: ${size}, `), `${told} ${size}`);
    const lines = await linesOf(page);
    assert.match(lines.Shell, new RegExp(`--kind ${best} `));
    assert.match(lines.C, /in place|share/.test(question) ? /PETAL_OPEN_(WRITE|SHARE)/ : new RegExp(`PETAL_KIND_${best.toUpperCase()}`));
    if (/hour/.test(question)) assert.match(lines.C, /keep_time[^]*"clock", "steps"/);
    await other.close();
    await page.close();
  });
}

test("maps for each sort of value", async () => {
  const page = await open();
  const values = page.getByLabel(/Give each key a value/);
  for (const [value, kind] of [["change", "mutable_bloomier"], ["fixed", "bloomier"], ["join", "approximator"], ["present", "retrieval"]]) {
    await values.selectOption(value);
    assert.equal(await page.locator("#advice strong").first().textContent(), kind);
  }
  await page.close();
});

test("sliders by the keyboard move the numbers and the picture", async () => {
  const page = await open();
  const line = () => page.locator(".now-line").evaluate((element) => element.style.transform);
  await page.locator(".now-line").waitFor({ state: "attached" });
  const before = await line();
  await page.locator("#rate-slider").focus();
  for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowLeft");
  const rate = Number(await page.locator("#rate").inputValue());
  assert.ok(rate > 0 && rate < 1, String(rate));
  await page.waitForFunction((before) => document.querySelector(".now-line").style.transform !== before, before);
  await compare(page, { keys: "1000000", rate: String(rate) });
  assert.match(await page.locator("#picture-text").textContent(), /blocked \d+\.\d bits/);
  await page.locator("#keys-slider").press("Home");
  assert.equal(await page.locator("#keys").inputValue(), "10");
  await page.locator("#keys").fill("nonsense".replace(/\D/g, ""));
  assert.match(await page.locator("#advice").innerText(), /That cannot be/);
  await page.close();
});

for (const kind of ["bloom", "blocked", "counting", "cuckoo", "scalable"]) {
  test(`keys go into ${kind} and are looked up`, async () => {
    const page = await open(`#tab=see&kind=${kind}`);
    const answer = page.locator("#see-answer");
    const count = (name) => page.locator(`.cells i.${name}`).count();
    const key = page.locator("#see-key");
    assert.equal(await count("taken"), 0);
    await key.fill("apple");
    await page.getByRole("button", { name: "Look up" }).click();
    assert.match(await answer.innerText(), /^No/);
    assert.ok(await count("asked") === 0 && await count("lacking") > 0);
    await page.getByRole("button", { name: "Insert", exact: true }).click();
    const fresh = await count("fresh");
    assert.ok(fresh >= 1 && fresh <= 12, String(fresh));
    assert.match(await answer.innerText(), new RegExp(`${fresh} places? changed`));
    await page.getByRole("button", { name: "Look up" }).click();
    assert.match(await answer.innerText(), /^Maybe: “apple” was inserted/);
    // What the lookup asks for is what the insertion changed; a cuckoo filter looks at two buckets.
    assert.equal(await count("asked"), kind === "cuckoo" ? 1 : fresh);
    for (let i = 0; i < 4; i++) await page.getByRole("button", { name: "Insert ten words" }).click();
    if (kind === "scalable") assert.ok(await page.locator("[data-group]").count() > 1, "levels were added");
    await page.getByRole("button", { name: "Find a wrong “maybe”" }).click();
    assert.match(await answer.innerText(), /This “maybe” is wrong/);
    assert.ok(await count("asked") >= 1);
    if (kind !== "scalable" && kind !== "cuckoo") {
      assert.equal(await count("lacking"), 0);
      const why = await answer.innerText();
      assert.match(why, /by “\w+”/);
      assert.doesNotMatch(why, /keys that were removed/);
    }
    if (kind === "cuckoo") assert.match(await answer.innerText(), /left the same fingerprint/);
    if (kind === "counting" || kind === "cuckoo") {
      await key.fill("apple");
      await page.getByRole("button", { name: "Remove" }).click();
      assert.match(await answer.innerText(), /is removed/);
    } else assert.ok(await page.getByRole("button", { name: "Remove" }).isDisabled());
    await page.close();
  });
}

for (const kind of ["fuse", "ribbon"]) {
  test(`${kind} is built anew with each key, and says which cells are combined`, async () => {
    const page = await open("#tab=see");
    await page.locator("#see-kind").selectOption(kind);
    const [answer, key] = [page.locator("#see-answer"), page.locator("#see-key")];
    const button = (name) => page.getByRole("button", { name, exact: name === "Insert" }).click();
    const asked = () => page.evaluate(() => [...document.querySelectorAll(".cells i.asked")].map((cell) => parseInt(cell.textContent, 16)));
    await key.fill("apple");
    await button("Look up");
    assert.match(await answer.innerText(), /^No/);
    await button("Insert");
    assert.match(await answer.innerText(), /built from 1 key, with “apple”/);
    for (let i = 0; i < 3; i++) await button("Insert ten words");
    assert.match(await answer.innerText(), /built from 31 keys/);
    assert.match(await answer.innerText(), /[1-9]\d* of \d+ (cells|slots) changed/);
    const sumOf = (values) => values.reduce((a, b) => a ^ b, 0).toString(16).padStart(2, "0");
    await key.fill("apple");
    await button("Look up");
    const text = await answer.innerText();
    assert.match(text, /^Maybe: “apple” was inserted/);
    // What is shown in the cells gives the fingerprint that the answer names.
    const values = await asked();
    assert.ok(kind === "fuse" ? values.length === 3 : values.length > 10 && values.length <= 64, `${values.length} cells`);
    const told = kind === "fuse" ? / = ([0-9a-f]{2})\. That is the fingerprint/.exec(text) : / is ([0-9a-f]{2})\. That is the fingerprint/.exec(text);
    // Some slots of a ribbon lie past the last one that is shown.
    const past = parseInt(/which hold ([0-9a-f]{2}) together/.exec(text)?.[1] ?? "00", 16);
    assert.equal(told?.[1], sumOf([...values, past]), text);
    await button("Find a wrong “maybe”");
    assert.match(await answer.innerText(), /This “maybe” is wrong[^]*by chance/);
    await key.fill("a non-member");
    await button("Look up");
    assert.match(await answer.innerText(), /^No[^]*so it was not among the keys/);
    assert.equal((await asked()).length, 0);
    assert.ok(await page.getByRole("button", { name: "Remove" }).isDisabled());
    await button("Begin anew");
    assert.match(await page.locator("#see-state").innerText(), /^0 keys/);
    await page.close();
  });
}

const sizeKinds = (page) => page.evaluate(() => [...document.querySelectorAll("#size-kind option")].map(({ value }) => value));

test("the calculator and its link", async () => {
  const page = await open("#tab=size&kind=bloom&keys=500000&rate=0.5");
  const told = plan({ keys: "500000", rate: "0.5" }).proposals.find(({ kind }) => kind === "bloom");
  const answer = page.locator("#size-answer");
  assert.equal(Number(await answer.getAttribute("data-bytes")), told.bytes);
  assert.ok(near(Number(await answer.getAttribute("data-rate")), told.false_positive_rate));
  // Kinds that are built from all of their keys, and whose size depends on them.
  const { proposals } = plan({ have: "all", keys: "500000", rate: "0.5", integers: true, universe: "7000000" });
  await page.getByLabel("Kind").last().selectOption("ribbon");
  assert.equal(Number(await answer.getAttribute("data-bytes")), proposals.find(({ kind }) => kind === "ribbon").bytes);
  await page.getByLabel("Kind").last().selectOption("exact_set");
  await page.getByLabel("The universe").fill("7000000");
  assert.equal(Number(await answer.getAttribute("data-bytes")), proposals.find(({ kind }) => kind === "exact_set").bytes);
  assert.match(await answer.innerText(), /never wrong about a key of the universe/);
  const link = await hashOf(page);
  assert.match(link, /keys=500000.*more=7000000/);
  const other = await open(link);
  for (const [id, value] of [["kind", "exact_set"], ["keys", "500000"], ["more", "7000000"], ["rate", "0.5"]]) {
    assert.equal(await other.locator(`#size-${id}`).inputValue(), value);
  }
  await other.close();
  await page.locator("#size-more").fill("3");
  assert.match(await answer.innerText(), /That cannot be/);
  await page.close();
});

test("an address may have any names, and a tab's name alone", async () => {
  const opened = (page) => page.evaluate(() => [...document.querySelectorAll("[role=tab][aria-selected=true]")].map(({ id }) => id));
  for (const [hash, tab] of [["#see", "see"], ["#size", "size"], ["#choose", "choose"], ["#nonsense", "choose"],
    ["#tab=choose&colour=red&constructor=1&__proto__=2&keys=500", "choose"], ["#tab=see&kind=constructor", "see"],
    ["#tab=size&kind=toString&use=valueOf&language=constructor", "size"]]) {
    const page = await open(hash);
    assert.ok(await page.locator("#trouble").isHidden(), hash);
    assert.deepEqual(await opened(page), [`tab-${tab}`], hash);
    if (tab === "choose") assert.equal(await page.locator("#keys").inputValue(), hash.includes("keys=") ? "500" : "1000000");
    await page.close();
  }
  const page = await open("#tab=size&kind=bloom");
  const before = await hashOf(page);
  await page.locator(".skip").press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "panel");
  assert.deepEqual([await opened(page), await hashOf(page)], [["tab-size"], before]);
  assert.ok(await page.locator("#trouble").isHidden());
  await page.close();
});

test("the formula of each kind gives the library's numbers", async () => {
  const page = await open("#tab=size");
  const kinds = await sizeKinds(page);
  assert.ok(kinds.length >= 30 && kinds.includes("stacked") && kinds.includes("bloomier"), kinds.join());
  const held = new Set();
  for (const kind of kinds) {
    for (const [keys, rate] of [[10_000, 1], [1_000_000, 5], [1_000_000, 1], [3_000_000, 0.1], [100_000_000, 0.01]]) {
      await goTo(page, `tab=size&kind=${kind}&keys=${keys}&rate=${rate}${["exact_set", "exact_bits"].includes(kind) ? `&more=${20 * keys}` : ""}`);
      const what = `${kind}, ${keys} keys, ${rate} %`;
      assert.doesNotMatch(await page.locator("#size-answer").innerText(), /That cannot be/, what);
      assert.ok((await page.locator("#size-formula").innerText()).length > 60, what);
      const { value, own, within } = await page.locator("#size-by-formula").evaluate(({ dataset }) => ({ ...dataset }));
      if (!value) continue;
      held.add(kind);
      assert.ok(Math.abs(value / own - 1) <= Number(within), `${what}: by the formula ${value}, by the library ${own}`);
    }
  }
  // These take a search, or a recursion, which the page says in words only.
  const words = ["hash_compaction", "age_partitioned", "stable", "stacked"];
  assert.deepEqual(kinds.filter((kind) => !held.has(kind)).sort(), words.sort());
  await page.close();
});

test("tabs by the keyboard, names for everything, no text off the page", async () => {
  for (const width of [1280, 360]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open("", { viewport: { width, height: 900 }, colorScheme });
      await page.getByRole("tab", { name: "Choose" }).focus();
      for (const name of ["choose", "see", "size"]) {
        assert.equal(await page.evaluate(() => document.activeElement.id), `tab-${name}`);
        assert.ok(await page.locator(`#${name}`).isVisible());
        if (name === "see") {
          await page.getByRole("button", { name: "Insert ten words" }).click();
          await page.getByRole("button", { name: "Look up" }).click();
        }
        const [over, nameless] = await page.evaluate(() => [
          document.documentElement.scrollWidth - innerWidth,
          [...document.querySelectorAll("input, select, button, [role=img]")].filter((element) => {
            const named = element.labels?.length || element.getAttribute("aria-label") || element.getAttribute("aria-labelledby") || element.textContent.trim();
            return !named;
          }).map((element) => element.outerHTML.slice(0, 90)),
        ]);
        assert.ok(over <= 0, `${name} at ${width}: ${over} pixels too wide`);
        assert.deepEqual(nameless, []);
        const contrasts = await page.evaluate(contrastsOf);
        for (const [what, ratio] of contrasts) assert.ok(ratio >= 4.5, `${what} in ${colorScheme}: ${ratio.toFixed(2)}`);
        if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}-${width}.png`), fullPage: true });
        await page.getByRole("tab", { name: name === "choose" ? "Choose" : name === "see" ? "See" : "Size" }).press("ArrowRight");
      }
      assert.equal(await page.evaluate(() => document.activeElement.id), "tab-choose", "after the last tab comes the first");
      await page.close();
    }
  }
});

/** The contrast of each pair of colours that text has, as WCAG defines it. */
function contrastsOf() {
  const style = getComputedStyle(document.documentElement);
  const luminance = (name) => {
    const hex = style.getPropertyValue(`--${name}`).trim();
    const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pairs = [["text", "back"], ["text", "field"], ["text", "mark"], ["soft", "back"], ["soft", "field"], ["one", "back"], ["back", "one"], ["back", "fresh"], ["back", "asked"],
    ...[1, 2, 3, 4].map((line) => [`line${line}`, "back"])];
  return pairs.map(([one, other]) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return [`${one} on ${other}`, (high + 0.05) / (low + 0.05)];
  });
}
