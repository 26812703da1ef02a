// figure.mjs PAGE FILE: the picture of the page that README.md has, taken in a headless Chromium.
process.env.PAGE = process.argv[2];
const { launch, open } = await import("./test/browser.mjs");
const browser = await launch();
const page = await open(browser, "", { viewport: { width: 1280, height: 850 }, deviceScaleFactor: 0.75, colorScheme: "light", reducedMotion: "reduce" });
// The lines come a moment after the answer.
await page.locator("[data-curve]").first().waitFor({ state: "attached" });
await page.screenshot({ path: process.argv[3] });
await browser.close();
