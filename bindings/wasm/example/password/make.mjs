// make.mjs LIST FILTER: makes a `ribbon` filter of the passwords in a list, one a line, for index.html.
import { readFile, writeFile } from "node:fs/promises";
import { load } from "@petal-filter/petal";

const [list, file] = process.argv.slice(2);
if (!file) {
  console.error("usage: node make.mjs LIST FILTER");
  process.exit(2);
}
const passwords = (await readFile(list, "utf8")).split("\n").filter((line) => line !== "");
const petal = await load();
// One good password in 10,000 is refused by mistake, and no bad one is accepted.
const filter = petal.build({ kind: "ribbon", falsePositiveRate: 1e-4 }, passwords);
await writeFile(file, filter.save());
const { bytes, capacity } = filter.info;
console.log(`${file}: ${capacity} passwords in ${bytes} bytes`);
