// better.cjs EXTENSION: the functions in better-sqlite3, which has a newer SQLite in it than most systems.
const Database = require("better-sqlite3");

let passed = 0;
let failed = 0;
function check(name, holds) {
  console.log(`${holds ? "ok" : "FAILED"}: ${name}`);
  if (holds) passed++;
  else failed++;
}

const db = new Database(":memory:");
db.loadExtension(process.argv[2]);
check(`SQLite ${db.prepare("SELECT sqlite_version()").pluck().get()} loads it`,
  db.prepare("SELECT petal_version()").pluck().get().split(".").length === 3);
db.exec("CREATE TABLE t(k INTEGER PRIMARY KEY)");
const insert = db.prepare("INSERT INTO t VALUES (?)");
db.transaction(() => { for (let k = 1; k <= 5000; k++) insert.run(k); })();
const filter = db.prepare("SELECT petal_agg(k) FROM t WHERE k % 2 = 1").pluck().get();
check("a filter is a Buffer", Buffer.isBuffer(filter) && filter.length > 256);
const asked = db.prepare("SELECT count(*) FROM t WHERE petal_contains(?, k)").pluck().get(filter);
check("it has its keys, and few others", asked >= 2500 && asked < 2600);
check("numbers of JavaScript without a fraction are refused, because they arrive as real numbers", (() => {
  try {
    db.prepare("SELECT petal_contains(?, ?)").get(filter, 1);
  } catch (error) {
    return error.message.includes("cast it to INTEGER or TEXT");
  }
  return false;
})());
check("a BigInt is an integer", db.prepare("SELECT petal_contains(?, ?)").pluck().get(filter, 1n) === 1);
const info = JSON.parse(db.prepare("SELECT petal_info(?)").pluck().get(filter));
check("petal_info is JSON", info.type === "filter" && info.insertions === 2500);
check("JSON in JSON", db.prepare("SELECT json_type(json_object('i', petal_info(?)), '$.i')").pluck().get(filter) === "object");
check("a filter as text is refused", (() => {
  try {
    db.prepare("SELECT petal_contains('x', 'y')").get();
  } catch (error) {
    return error.message === "petal_contains: filter is text, and must be a blob that is an image of Petal's";
  }
  return false;
})());
db.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
