// A headless Chromium with the built page, opened as a file. PAGE is the page.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "../../bindings/wasm/node_modules/playwright-core/index.mjs";

export const address = pathToFileURL(process.env.PAGE).href;
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });

/** The page with these settings. It may ask nobody for anything, and no script may fail. */
export async function open(browser, hash = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.on("pageerror", (error) => assert.fail(String(error)));
  page.on("request", (request) => assert.match(request.url(), /^(file|blob|data):/));
  await page.goto(address + hash);
  await page.locator("html[data-ready=yes]").waitFor({ state: "attached", timeout: 60_000 });
  return page;
}

/** Opens other settings by their address. */
export const goTo = (page, hash) => page.evaluate((hash) => {
  const changed = new Promise((resolve) => addEventListener("hashchange", () => setTimeout(resolve), { once: true }));
  location.hash = hash;
  return changed;
}, hash);

/** The lines to copy, by language; a language without lines is left out. */
export const linesOf = async (page) => Object.fromEntries(await page.evaluate(() =>
  [...document.querySelectorAll("#size-lines [data-language] pre")].map((pre) => [pre.parentElement.dataset.language, pre.textContent])));
