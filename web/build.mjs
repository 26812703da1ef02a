// build.mjs MODULE PAGE: one page of all that lies here, with the module in it. It loads nothing.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { gzipSync } from "node:zlib";

const [module, page] = process.argv.slice(2);
const here = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

/** The files in the order in which they use each other. Their imports go, because all names are in one scope then. */
const FILES = ["../bindings/wasm/js/petal.js", "src/tools.js", "src/readers.js", "src/lines.js", "src/picture.js", "src/choose.js", "src/see.js", "src/formulas.js", "src/size.js", "src/main.js"];
const names = new Map();
const scripts = FILES.map((file) => {
  const text = here(file).replace(/^import [^;]*;\n/gm, "").replace(/^export /gm, "");
  for (const [, name] of text.matchAll(/^(?:async )?(?:const|let|class|function\*?) (\w+)/gm)) {
    if (names.has(name)) throw new Error(`${name} is in ${names.get(name)} and in ${file}`);
    names.set(name, file);
  }
  return text;
});
const packed = gzipSync(readFileSync(module), { level: 9 }).toString("base64");
const script = `const MODULE = "${packed}";\n${scripts.join("\n")}`;
if (script.includes("</script")) throw new Error("a script would end the page's script");
mkdirSync(dirname(page), { recursive: true });
writeFileSync(page, here("src/page.html").replace("STYLE", () => here("src/style.css")).replace("SCRIPT", () => script));
