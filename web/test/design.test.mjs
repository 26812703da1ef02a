// What the page looks like: lines that can be told apart, an answer in sight, numbers for what is looked up.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { after, before, test } from "node:test";
import { goTo, launch, open as openIn } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
const open = (hash, options) => openIn(browser, hash, options);

/** The lines of the picture and their names, when they have come to rest. */
async function picture(page) {
  await page.locator("[data-curve]").first().waitFor({ state: "attached" });
  await page.waitForTimeout(500);
  return page.evaluate(() => ({
    lines: [...document.querySelectorAll("[data-curve]")].map((line) => ({
      kind: line.dataset.curve, colour: getComputedStyle(line).stroke, width: Number.parseFloat(getComputedStyle(line).strokeWidth), path: line.getAttribute("d"),
    })),
    names: [...document.querySelectorAll(".dots [data-kind]")].map((mark) => ({
      kind: mark.dataset.kind, text: mark.querySelector("text").textContent, colour: getComputedStyle(mark.querySelector("text")).fill, y: mark.getBoundingClientRect().y,
    })),
  }));
}

test("the picture has few lines, each with its name in its colour", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open("", { colorScheme });
    for (const settings of ["", "have=all", "have=window", "have=unknown", "remove=1", "remove=1&inPlace=1", "rate=0.00001", "goal=memory&memory=2000000"]) {
      await goTo(page, `tab=choose&${settings}`);
      const { lines, names } = await picture(page);
      assert.ok(lines.length >= 1 && lines.length <= 5, `${settings}: ${lines.map(({ kind }) => kind)}`);
      assert.equal(new Set(lines.map(({ colour }) => colour)).size, lines.length, settings);
      assert.deepEqual(names.map(({ kind }) => kind).sort(), lines.map(({ kind }) => kind).sort(), settings);
      for (const { kind, colour } of lines) assert.equal(names.find((name) => name.kind === kind).colour, colour, `${settings}: ${kind}`);
      const past = await page.evaluate(() => {
        const { right } = document.querySelector("#picture").getBoundingClientRect();
        return [...document.querySelectorAll("#picture text")].filter((text) => text.getBoundingClientRect().right > right + 1).map((text) => text.textContent);
      });
      assert.deepEqual(past, [], settings);
      const best = await page.locator("#advice strong").first().textContent();
      const widest = [...lines].sort((a, b) => b.width - a.width)[0];
      assert.equal(widest.kind, best, settings);
      assert.equal(lines.at(-1).kind, best, "the kind to take lies above the others");
    }
    await page.close();
  }
});

test("a row that is pointed at has its line, and a mark at the edge says that it is off the chart", async () => {
  const page = await open();
  const before = await picture(page);
  assert.ok(!before.lines.some(({ kind }) => kind === "scalable" || kind === "spectral"));
  await page.locator("tr[data-kind=scalable]").hover();
  const pointed = await picture(page);
  assert.ok(pointed.lines.some(({ kind }) => kind === "scalable"));
  assert.match(pointed.names.find(({ kind }) => kind === "scalable").text, /^scalable 12\.8/);
  // By the keyboard too. A kind that takes much more is named at the edge, with an arrow, and no dot stands for it.
  await page.locator("tr[data-kind=spectral]").focus();
  await page.mouse.move(0, 0);
  const off = await picture(page);
  assert.match(off.names.find(({ kind }) => kind === "spectral").text, /^spectral 153\.5 ↑/);
  assert.match(await page.locator(".dots [data-kind=spectral] .dot").getAttribute("d"), /L.*Z/);
  await page.evaluate(() => document.activeElement.blur());
  assert.deepEqual((await picture(page)).lines.map(({ kind }) => kind), before.lines.map(({ kind }) => kind));
  await page.close();
});

test("lines have no kinks: between two marks of an axis they bend by little", async () => {
  const page = await open();
  for (const settings of ["", "have=all", "remove=1", "rate=0.013"]) {
    await goTo(page, `tab=choose&${settings}`);
    for (const { kind, path } of (await picture(page)).lines) {
      // Where the fewest bits of a kind are reached, its line goes on level.
      for (const part of path.split("M").filter(Boolean)) {
        const points = part.split("L").map((point) => point.split(" ").map(Number));
        const slopes = points.slice(1).map(([x, y], i) => (y - points[i][1]) / (x - points[i][0])).filter((slope) => Math.abs(slope) > 0.05);
        for (const [i, slope] of slopes.slice(1).entries()) {
          assert.ok(Math.max(slope / slopes[i], slopes[i] / slope) <= 2, `${settings}: ${kind} goes from ${slopes[i].toFixed(2)} to ${slope.toFixed(2)}`);
        }
      }
    }
  }
  await page.close();
});

test("on a phone the answer stands above the fold, and stays in sight", async () => {
  for (const height of [640, 740]) {
    const page = await open("", { viewport: { width: 360, height } });
    const take = page.locator("#advice .large");
    const place = () => take.evaluate((element) => element.getBoundingClientRect().toJSON());
    const first = await place();
    assert.ok(first.top > 0 && first.bottom < height, JSON.stringify(first));
    await page.locator("#rate-slider").focus();
    await page.locator("#rate-slider").press("ArrowLeft");
    const { top, bottom } = await place();
    assert.ok(top >= -1 && bottom < height / 2, `${top} to ${bottom}`);
    await goTo(page, "tab=size&kind=fuse");
    const size = await page.locator("#size-answer .large").evaluate((element) => element.getBoundingClientRect().bottom);
    assert.ok(size < height, String(size));
    await page.close();
  }
});

test("what is looked up has numbers, in the cells and in the text", async () => {
  const page = await open("#tab=see");
  for (const kind of ["bloom", "blocked", "counting", "scalable", "fuse"]) {
    await page.locator("#see-kind").selectOption(kind);
    await page.getByRole("button", { name: "Insert ten words" }).click();
    for (const [key, answer] of [["apple", /^Maybe/], ["a non-member", /^No/]]) {
      await page.locator("#see-key").fill(key);
      await page.getByRole("button", { name: "Look up" }).click();
      assert.match(await page.locator("#see-answer").innerText(), answer);
      const cells = await page.evaluate(() => [...document.querySelectorAll(".cells i[data-number]")].map(({ dataset, className }) => [Number(dataset.number), /asked/.test(className)]));
      if (kind === "fuse" && key !== "apple") continue;
      assert.ok(cells.length >= 1, kind);
      assert.deepEqual(cells.map(([number]) => number).sort((a, b) => a - b), cells.map((_, i) => i + 1), kind);
      const told = await page.evaluate(() => [...document.querySelectorAll("#see-answer .number")].map(({ textContent, className }) => [Number(textContent), !/no/.test(className)]));
      if (kind === "fuse") {
        assert.match(await page.locator("#see-answer").innerText(), /cells are \d+ \(1\), \d+ \(2\), \d+ \(3\)/);
        continue;
      }
      // A text names what is set, or what is not, by the number in the cell.
      for (const [number, isSet] of told) assert.deepEqual(cells.find(([one]) => one === number), [number, isSet], `${kind}: ${number}`);
      if (key !== "apple") assert.ok(told.length >= 1, kind);
    }
  }
  await page.close();
});

test("Choose and Size say the same rate", async () => {
  const page = await open();
  for (const settings of ["", "have=window", "have=time&minutes=30", "have=unknown", "have=all", "remove=1&inPlace=1", "values=change", "goal=memory&memory=1500000", "keys=1000&rate=20", "have=window&rate=0.02&keys=77777"]) {
    await goTo(page, `tab=choose&${settings}`);
    const rate = /Of absent keys, ([^]*?)(?=\.\s|\.$)/;
    const chosen = rate.exec(await page.locator("#advice .large").innerText())?.[1];
    assert.ok(chosen, settings);
    // The calculator has no filter of exactly that much memory.
    if (await page.locator("#advice a").count() === 0) {
      assert.match(settings, /goal=memory/);
      continue;
    }
    await page.locator("#advice a").click();
    assert.equal(rate.exec(await page.locator("#size-answer").innerText())?.[1], chosen, settings);
  }
  await page.close();
});

test("in each group the smallest stands first, or the most accurate", async () => {
  const page = await open();
  for (const [settings, field, order] of [["", "bytes", "smallest"], ["have=all", "bytes", "smallest"], ["goal=memory&memory=3000000", "rate", "most accurate"]]) {
    await goTo(page, `tab=choose&${settings}`);
    assert.match(await page.locator("#proposals-order").innerText(), new RegExp(`the ${order} first`));
    const groups = await page.evaluate((field) => {
      const all = [];
      for (const row of document.querySelectorAll("#proposals tbody tr")) {
        if (row.dataset.kind) all.at(-1).push(Number(row.dataset[field]));
        else all.push([]);
      }
      return all;
    }, field);
    assert.ok(groups.length > 1);
    for (const group of groups) assert.deepEqual(group, [...group].sort((a, b) => a - b), `${settings}: ${group}`);
  }
  await page.close();
});

test("the least is called what it is, also where a filter takes less", async () => {
  const page = await open("#tab=choose&have=all");
  const names = () => page.locator("#picture text.soft").allTextContents();
  await picture(page);
  assert.ok((await names()).includes("the least possible"));
  await goTo(page, "tab=choose&have=all&often=1&share=95&non_members=20000");
  await picture(page);
  assert.ok((await names()).includes("the least from members alone"));
  await page.close();
});

test("a map that cannot do all says why", async () => {
  const page = await open("#tab=choose&values=fixed&remove=1");
  assert.match(await page.locator("#advice").innerText(), /No map does all of this[^]*bloomier removes no keys/);
  await goTo(page, "tab=choose&values=change&inPlace=1");
  await page.locator("#advice a").click();
  assert.equal(await page.locator("#size-use").inputValue(), "file");
  await page.close();
});

test("README.md shows the page", () => {
  const root = new URL("../../", import.meta.url);
  const readme = readFileSync(new URL("README.md", root), "utf8");
  assert.match(readme, /!\[[^\]]+\]\(docs\/figures\/page\.png\)/);
  assert.match(readme, /`make web`/);
  assert.ok(statSync(new URL("docs/figures/page.png", root)).size < 150_000);
});
