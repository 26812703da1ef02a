// The programs to copy: one for each language, for a filter or a map, and for what is done with it. The page's tests
// compile all of them and run them.

/** Uses: what a program does with its filter. */
export const USES = {
  memory: "keeps it in memory",
  file: "changes a file in place",
  shared: "changes a file that others change too",
};

/** The uses that a kind has. What is built from all keys is done then, but for maps whose values change. */
export function usesOf({ isMap, isMadeEmpty, isInPlace, capabilities }) {
  const can = (isInPlace && isMadeEmpty) || (isMap && capabilities.includes("replace"));
  return ["memory", ...(can ? ["file"] : []), ...(can && capabilities.includes("insert_shared") ? ["shared"] : [])];
}

/** How many steps of time a key is found for at least, by the parameters of the kind; null if it knows no time. */
export function stepsOf({ parameters }, set) {
  const value = (name) => {
    const given = set.find(([one]) => one === name);
    return given ? Number(given[1]) : parameters.find((one) => one.name === name)?.default;
  };
  if (!parameters.some(({ name }) => name === "clock")) return null;
  return value("slices") ?? value("generations") - 1;
}

/** A key that is there, and one that is not. */
const PRESENT = "apple";
const ABSENT = "pear";
const VALUE = 1;
const NEXT = 0;

/** Everything that all languages ask of the settings. */
function about(s) {
  const isOpened = s.use !== "memory";
  return {
    ...s,
    isOpened,
    isShared: s.use === "shared",
    isTime: s.step > 0,
    name: s.isMap ? "values" : "seen",
    // What stands in the filter's place for whole numbers.
    present: s.takesIntegers ? "17" : PRESENT,
    absent: s.takesIntegers ? "18" : ABSENT,
    can: (one) => !s.isMap && !s.isBuilt && s.use !== "shared" && s.capabilities.includes(one),
    // The values of a built map are replaced, those of an empty one are put.
    canReplace: s.isMap && s.capabilities.includes("replace"),
    saysAbsent: s.kind !== "retrieval",
  };
}

/** Lines, without those that do not belong to these settings. */
const text = (lines) => lines.flat(9).filter((line) => line !== false && line !== null && line !== undefined).join("\n");

/** The fields of the spec: names as C has them. */
const fieldsOf = (a) => [
  ...(a.kind === "exact_bits" ? [["bits", a.more]] : a.isBuilt ? [] : [["capacity", a.capacity]]),
  ...(a.hasRate ? [["false_positive_rate", a.rate]] : []),
];
const isWord = (value) => Number.isNaN(Number(value));

const stepText = ({ step }) => (step % 60 === 0 ? `${step / 60} ${step === 60 ? "minute" : "minutes"}` : `${step} ${step === 1 ? "second" : "seconds"}`);

function c(a) {
  const map = a.isMap ? "map" : "filter";
  const type = `petal_${map}`;
  const number = a.takesIntegers ? "_u64" : "";
  const key = (one) => (a.takesIntegers ? one : `"${one}", ${one.length}`);
  const then = (call) => `    if (status == PETAL_OK) status = ${call};`;
  const set = a.parameters.map(([name, value]) => (isWord(value) ? `petal_spec_set_choice(&spec, "${name}", "${value}", &error)` : `petal_spec_set(&spec, "${name}", ${value}, &error)`));
  const share = a.isShared ? "_shared" : "";
  const isRare = a.kind === "exact_set" || a.kind === "stacked";
  const builder = a.isMap ? "petal_map_builder" : "petal_builder";
  const made = a.isBuilt
    ? [
        ...set, `${builder}_new(&spec, NULL, &builder, &error)`,
        a.isMap ? `petal_map_builder_put(builder, ${key(a.present)}, ${VALUE})` : `petal_builder_add${number}(builder, ${key(a.present)})`,
        a.kind === "exact_set" && `petal_builder_exclude(builder, ${key(a.absent)})`,
        a.kind === "stacked" && `petal_builder_add_frequent(builder, ${key(a.absent)}, 1)`,
        `${builder}_finish(builder, &${a.name}, &error)`,
      ].filter(Boolean)
    : [...set, `${type}_new(&spec, &${a.name}, &error)`];
  const first = (calls) => [`    petal_status status = ${calls[0]};`, ...calls.slice(1).map(then)];
  return text([
    `#include <petal${a.isMap ? "_map" : isRare ? "_more" : ""}.h>`,
    (a.isMap || a.can("count")) && "#include <inttypes.h>",
    "#include <stdio.h>",
    a.isTime && [
      "#include <time.h>", "",
      `/* Moves the window on by the clock, a step each ${stepText(a)}. Call it before lookups and insertions. */`,
      `static petal_status keep_time(${a.isShared ? "const " : ""}petal_filter *${a.name}, petal_error *error) {`,
      "    static time_t last = 0;",
      `    const time_t now = time(NULL) / ${a.step};`,
      `    const uint64_t steps = last != 0 && now > last ? (uint64_t)(now - last) : 0;`,
      "    last = now;",
      `    return petal_filter_advance${share}(${a.name}, steps, error);`,
      "}",
    ],
    "",
    "int main(void) {",
    "    petal_error error = PETAL_ERROR_INIT;",
    a.isOpened
      ? ["    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;", `    options.mode = ${a.isShared ? "PETAL_OPEN_SHARE" : "PETAL_OPEN_WRITE"};`]
      : ["    petal_spec spec = PETAL_SPEC_INIT;", `    spec.kind = PETAL_KIND_${a.kind.toUpperCase()};`, fieldsOf(a).map(([field, value]) => `    spec.${field} = ${value};`)],
    a.isBuilt && !a.isOpened && `    ${builder} *builder = NULL;`,
    `    ${type} *${a.name} = NULL;`,
    first(a.isOpened ? [`${type}_open("keys.petal", &options, &${a.name}, &error)`] : made),
    a.isTime && then(`keep_time(${a.name}, &error)`),
    !a.isBuilt && then(a.isMap ? `petal_map_put(${a.name}, ${key(a.present)}, ${VALUE}, NULL)` : `petal_filter_insert${share}${number}(${a.name}, ${key(a.present)}, NULL)`),
    a.isMap
      ? [
          "    uint64_t value = 0;", "    bool found = false;",
          then(`petal_map_get(${a.name}, ${key(a.present)}, &value, &found)`),
          `    if (found) printf("${a.present}: %" PRIu64 "\\n", value);`,
          a.canReplace && [
            then(`petal_map_replace(${a.name}, ${key(a.present)}, ${NEXT}, NULL)`), then(`petal_map_get(${a.name}, ${key(a.present)}, &value, &found)`),
            `    if (found) printf("${a.present}, replaced: %" PRIu64 "\\n", value);`,
          ],
          a.saysAbsent && [then(`petal_map_get(${a.name}, ${key(a.absent)}, &value, &found)`), `    if (status == PETAL_OK && !found) printf("${a.absent}: absent\\n");`],
        ]
      : [
          "    if (status == PETAL_OK) {",
          [a.present, a.absent].map((one) => `        printf("${one}: %s\\n", petal_filter_contains${number}(${a.name}, ${key(one)}) ? "maybe" : "no");`),
          "    }",
        ],
    a.can("count") && ["    uint64_t count = 0;", then(`petal_filter_count${number}(${a.name}, ${key(a.present)}, &count)`), `    if (status == PETAL_OK) printf("${a.present} came: %" PRIu64 "\\n", count);`],
    a.can("remove") && [then(`petal_filter_remove${number}(${a.name}, ${key(a.present)}, NULL)`), `    if (status == PETAL_OK) printf("${a.present}, removed: %s\\n", petal_filter_contains${number}(${a.name}, ${key(a.present)}) ? "maybe" : "no");`],
    `    if (status != PETAL_OK) fprintf(stderr, "%s %s\\n", petal_status_message(status), error.message);`,
    a.isBuilt && !a.isOpened && `    ${builder}_free(builder);`,
    `    ${type}_free(${a.name});`,
    "    return status != PETAL_OK;",
    "}",
  ]);
}

function cpp(a) {
  const key = (one) => (a.takesIntegers ? `std::uint64_t{${one}}` : `"${one}"`);
  const spec = `petal::spec()${[["kind", `"${a.kind}"`], ...fieldsOf(a)].map(([field, value]) => `.${field}(${value})`).join("")}` +
    a.parameters.map(([name, value]) => `.set("${name}", ${isWord(value) ? `"${value}"` : value})`).join("");
  const type = a.isMap ? "petal::map" : "petal::filter";
  const share = a.isShared ? "_shared" : "";
  const says = (one, more = "") => `    std::printf("${one}${more}: %s\\n", ${a.name}.contains(${key(one)}) ? "maybe" : "no");`;
  const gives = (more = "") => `    if (auto value = ${a.name}.find(${key(a.present)})) std::printf("${a.present}${more}: %llu\\n", static_cast<unsigned long long>(*value));`;
  return text([
    "#include <petal.hpp>",
    a.isTime && ["#include <chrono>"],
    "#include <cstdio>",
    a.isTime && [
      "",
      `// Moves the window on by the clock, a step each ${stepText(a)}. Call it before lookups and insertions.`,
      `static void keep_time(${a.isShared ? "const " : ""}petal::filter &${a.name}) {`,
      `    constexpr auto step = std::chrono::seconds(${a.step});`,
      "    static auto last = std::chrono::steady_clock::now();",
      "    const auto steps = (std::chrono::steady_clock::now() - last) / step;",
      `    ${a.name}.advance${share}(static_cast<std::uint64_t>(steps));`,
      "    last += steps * step;",
      "}",
    ],
    "",
    "int main() {",
    a.isOpened
      ? `    auto ${a.name} = ${type}::open("keys.petal", petal::open_mode::${a.isShared ? "share" : "write"});`
      : a.isBuilt
        ? [
            `    petal::${a.isMap ? "map_builder" : "builder"} builder(${spec});`,
            a.isMap ? `    builder.put(${key(a.present)}, ${VALUE});` : `    builder.add(${key(a.present)});`,
            a.kind === "exact_set" && `    builder.exclude(${key(a.absent)});`,
            a.kind === "stacked" && `    builder.frequent(${key(a.absent)}, 1);`,
            `    auto ${a.name} = builder.finish();`,
          ]
        : `    ${type} ${a.name}(${spec});`,
    a.isTime && `    keep_time(${a.name});`,
    !a.isBuilt && (a.isMap ? `    ${a.name}.put(${key(a.present)}, ${VALUE});` : `    ${a.name}.insert${share}(${key(a.present)});`),
    a.isMap
      ? [gives(), a.canReplace && [`    ${a.name}.replace(${key(a.present)}, ${NEXT});`, gives(", replaced")], a.saysAbsent && `    if (!${a.name}.find(${key(a.absent)})) std::printf("${a.absent}: absent\\n");`]
      : [says(a.present), says(a.absent)],
    a.can("count") && `    std::printf("${a.present} came: %llu\\n", static_cast<unsigned long long>(${a.name}.count(${key(a.present)})));`,
    a.can("remove") && [`    ${a.name}.remove(${key(a.present)});`, says(a.present, ", removed")],
    "}",
  ]);
}

function rust(a) {
  const number = a.takesIntegers ? "_u64" : "";
  const key = (one) => (a.takesIntegers ? one : `"${one}"`);
  const share = a.isShared ? "_shared" : "";
  const rate = (value) => (Number.isInteger(value) ? `${value}.0` : String(value));
  const says = (one, more = "") => `    println!("${one}${more}: {}", if ${a.name}.contains${number}(${key(one)}) { "maybe" } else { "no" });`;
  const gives = (more = "") => [`    if let Some(value) = ${a.name}.get(${key(a.present)})? {`, `        println!("${a.present}${more}: {value}");`, "    }"];
  const isMutable = (!a.isBuilt || a.canReplace) && !a.isShared;
  const spec = [
    `    let ${a.parameters.length ? "mut " : ""}spec = petal::Spec {`,
    `        kind: Some(petal::KindId::${a.kind.toUpperCase()}),`,
    fieldsOf(a).map(([field, value]) => `        ${field}: ${field === "false_positive_rate" ? rate(value) : value},`),
    "        ..petal::Spec::default()",
    "    };",
    a.parameters.map(([name, value]) => (isWord(value) || name === "clock"
      ? [`    let ${name} = petal::parameter_of(&spec, "${name}")?;`, `    spec.set(${name}, ${name}.parse("${value}")?)?;`]
      : `    spec.set(petal::parameter_of(&spec, "${name}")?, ${rate(Number(value))})?;`)),
  ];
  return text([
    a.isTime && ["use std::time::{Duration, Instant};", ""],
    a.isTime && [
      `/// Moves the window on by the clock, a step each ${stepText(a)}. Call it before lookups and insertions.`,
      `fn keep_time(${a.name}: &${a.isShared ? "" : "mut "}petal::Filter, last: &mut Instant) -> petal::Result<()> {`,
      `    const STEP: Duration = Duration::from_secs(${a.step});`,
      "    while last.elapsed() >= STEP {",
      "        *last += STEP;",
      `        ${a.name}.advance${share}(1)?;`,
      "    }",
      "    Ok(())",
      "}", "",
    ],
    "fn main() -> petal::Result<()> {",
    a.isOpened
      ? [
          `    let options = petal::OpenOptions { mode: petal::Mode::${a.isShared ? "Share" : "Write"}, ..Default::default() };`,
          `    let ${isMutable ? "mut " : ""}${a.name} = petal::${a.isMap ? "Map" : "Filter"}::open_with("keys.petal", &options)?;`,
        ]
      : [
          spec,
          a.isBuilt
            ? [
                `    let mut builder = petal::${a.isMap ? "MapBuilder" : "Builder"}::new(&spec, petal::BuilderOptions::default())?;`,
                a.isMap ? `    builder.put(${key(a.present)}, ${VALUE})?;` : `    builder.add(${key(a.present)})?;`,
                a.kind === "exact_set" && `    builder.exclude(${key(a.absent)})?;`,
                a.kind === "stacked" && `    builder.frequent(${key(a.absent)}, 1.0)?;`,
                `    let ${isMutable ? "mut " : ""}${a.name} = builder.finish()?;`,
              ]
            : `    let mut ${a.name} = petal::${a.isMap ? "Map" : "Filter"}::new(&spec)?;`,
        ],
    a.isTime && ["    let mut last = Instant::now();", `    keep_time(&${a.isShared ? "" : "mut "}${a.name}, &mut last)?;`],
    !a.isBuilt && (a.isMap ? `    ${a.name}.put(${key(a.present)}, ${VALUE})?;` : `    ${a.name}.insert${number}${share}(${key(a.present)})?;`),
    a.isMap
      ? [
          gives(), a.canReplace && [`    ${a.name}.replace(${key(a.present)}, ${NEXT})?;`, gives(", replaced")],
          a.saysAbsent && [`    if ${a.name}.get(${key(a.absent)})?.is_none() {`, `        println!("${a.absent}: absent");`, "    }"],
        ]
      : [says(a.present), says(a.absent)],
    a.can("count") && `    println!("${a.present} came: {}", ${a.name}.count${number}(${key(a.present)})?);`,
    a.can("remove") && [`    ${a.name}.remove${number}(${key(a.present)})?;`, says(a.present, ", removed")],
    "    Ok(())",
    "}",
  ]);
}

const CHECK = ["func check(err error) {", "\tif err != nil {", "\t\tlog.Fatal(err)", "\t}", "}"];
const ANSWER = ["func answer(found bool) string {", "\tif found {", '\t\treturn "maybe"', "\t}", '\treturn "no"', "}"];

function go(a) {
  const suffix = a.takesIntegers ? "Uint64" : "String";
  const key = (one) => (a.takesIntegers ? one : `"${one}"`);
  const names = { bits: "Bits", capacity: "Capacity", false_positive_rate: "FalsePositiveRate" };
  const fields = [`Kind: "${a.kind}"`, ...fieldsOf(a).map(([field, value]) => `${names[field]}: ${value}`)];
  if (a.parameters.length) fields.push(`Parameters: map[string]string{${a.parameters.map(([name, value]) => `"${name}": "${value}"`).join(", ")}}`);
  const spec = `petal.Spec{${fields.join(", ")}}`;
  const noun = a.isMap ? "Map" : "";
  const says = (one, more = "") => `\tfmt.Println("${one}${more}:", answer(${a.name}.Contains${suffix}(${key(one)})))`;
  const gets = (one, more, isFirst) => [
    `\tvalue, found, err ${isFirst ? ":=" : "="} ${a.name}.Get${suffix}(${key(one)})`, "\tcheck(err)",
    one === a.present ? ["\tif found {", `\t\tfmt.Println("${one}${more}:", value)`, "\t}"] : ["\tif !found {", `\t\tfmt.Println("${one}: absent")`, "\t}"],
  ];
  const share = a.isShared ? "Shared" : "";
  const insert = a.isMap ? `Put${suffix}(${key(a.present)}, ${VALUE})` : `Insert${share}${suffix}(${key(a.present)})`;
  return text([
    "package main", "", "import (", '\t"fmt"', '\t"log"', a.isTime && '\t"time"', "", '\t"github.com/petal-filter/petal/bindings/go"', ")", "",
    CHECK, "", !a.isMap && [ANSWER, ""],
    a.isTime && [
      `// keepTime moves the window on by the clock, a step each ${stepText(a)}. Call it before lookups and insertions.`,
      `func keepTime(${a.name} *petal.Filter, last *time.Time) error {`,
      `\tconst step = ${a.step} * time.Second`,
      "\tsteps := time.Since(*last) / step",
      "\t*last = last.Add(steps * step)",
      `\treturn ${a.name}.Advance${share}(uint64(steps))`,
      "}", "",
    ],
    "func main() {",
    a.isOpened
      ? `\t${a.name}, err := petal.Open${noun}("keys.petal", &petal.OpenOptions{Mode: petal.${a.isShared ? "OpenShare" : "OpenWrite"}})`
      : a.isBuilt
        ? [
            `\tbuilder, err := petal.New${noun}Builder(${spec}, nil)`, "\tcheck(err)", "\tdefer builder.Close()",
            a.isMap ? `\tcheck(builder.Put${suffix}(${key(a.present)}, ${VALUE}))` : `\tcheck(builder.Add${suffix}(${key(a.present)}))`,
            a.kind === "exact_set" && `\tcheck(builder.Exclude${suffix}(${key(a.absent)}))`,
            a.kind === "stacked" && `\tcheck(builder.Frequent${suffix}(${key(a.absent)}, 1))`,
            `\t${a.name}, err := builder.Finish()`,
          ]
        : `\t${a.name}, err := petal.New${noun}(${spec})`,
    "\tcheck(err)", `\tdefer ${a.name}.Close()`,
    a.isTime && ["\tlast := time.Now()", `\tcheck(keepTime(${a.name}, &last))`],
    !a.isBuilt && [`\t_, err = ${a.name}.${insert}`, "\tcheck(err)"],
    a.isMap
      ? [
          gets(a.present, "", true), a.canReplace && [`\t_, err = ${a.name}.Replace${suffix}(${key(a.present)}, ${NEXT})`, "\tcheck(err)", gets(a.present, ", replaced")],
          a.saysAbsent && gets(a.absent, "").map((line, i) => (i === 0 ? `\t_, found, err = ${a.name}.Get${suffix}(${key(a.absent)})` : line)),
        ]
      : [says(a.present), says(a.absent)],
    a.can("count") && [`\tcount, err := ${a.name}.Count${suffix}(${key(a.present)})`, "\tcheck(err)", `\tfmt.Println("${a.present} came:", count)`],
    a.can("remove") && [`\t_, err = ${a.name}.Remove${suffix}(${key(a.present)})`, "\tcheck(err)", says(a.present, ", removed")],
    "}",
  ]);
}

/** What package `filter` makes without cgo, and what package `view` reads. */
const PURE_MADE = ["bloom", "split_block", "blocked"];
const PURE_READ = ["bloom", "split_block", "blocked", "fuse", "ribbon", "golomb", "counting", "scalable", "exact_bits", "cuckoo",
  "exact_set", "stacked", "bloomier", "retrieval", "approximator", "mutable_bloomier"];

function pureGo(a) {
  if (!PURE_READ.includes(a.kind)) return null;
  const suffix = a.takesIntegers ? "Uint64" : "String";
  const key = (one) => (a.takesIntegers ? one : `"${one}"`);
  const isMade = PURE_MADE.includes(a.kind) && !a.isOpened && a.parameters.length === 0;
  const [name, says] = [a.name, (one) => `\tfmt.Println("${one}:", answer(${a.name}.Contains${suffix}(${key(one)})))`];
  return text([
    "package main", "", "import (", '\t"fmt"', '\t"log"', "", `\t"github.com/petal-filter/petal/bindings/go/${isMade ? "filter" : "view"}"`, ")", "",
    CHECK, "", !a.isMap && [ANSWER, ""],
    "func main() {",
    isMade
      ? [
          `\t${name}, err := filter.New(filter.Spec{Kind: "${a.kind}", Capacity: ${a.capacity}, FalsePositiveRate: ${a.rate}})`, "\tcheck(err)",
          `\t_, err = ${name}.Insert${suffix}(${key(a.present)})`, "\tcheck(err)",
        ]
      : [`\t${name}, err := view.Open${a.isMap ? "Map" : ""}("keys.petal", nil)`, "\tcheck(err)", `\tdefer ${name}.Close()`],
    a.isMap
      ? [
          `\tvalue, found, err := ${name}.Get${suffix}(${key(a.present)})`, "\tcheck(err)", "\tif found {", `\t\tfmt.Println("${a.present}:", value)`, "\t}",
          a.saysAbsent && [`\t_, found, err = ${name}.Get${suffix}(${key(a.absent)})`, "\tcheck(err)", "\tif !found {", `\t\tfmt.Println("${a.absent}: absent")`, "\t}"],
        ]
      : [says(a.present), says(a.absent)],
    "}",
  ]);
}

function javascript(a) {
  const key = (one) => (a.takesIntegers ? `${one}n` : `"${one}"`);
  const names = { bits: "bits", capacity: "capacity", false_positive_rate: "falsePositiveRate" };
  const fields = [`kind: "${a.kind}"`, ...fieldsOf(a).map(([field, value]) => `${names[field]}: ${value}`)];
  if (a.parameters.length) fields.push(`parameters: { ${a.parameters.map(([name, value]) => `${name}: ${isWord(value) ? `"${value}"` : value}`).join(", ")} }`);
  const spec = `{ ${fields.join(", ")} }`;
  const says = (one, more = "") => `console.log("${one}${more}:", ${a.name}.contains(${key(one)}) ? "maybe" : "no");`;
  const gives = (more = "") => `console.log("${a.present}${more}:", String(${a.name}.get(${key(a.present)})));`;
  const beside = a.kind === "exact_set" ? `, { exclude: [${key(a.absent)}] }` : a.kind === "stacked" ? `, { frequent: [${key(a.absent)}] }` : "";
  return text([
    'import { load } from "@petal-filter/petal";',
    a.isOpened && 'import { readFile } from "node:fs/promises";',
    "",
    "const petal = await load();",
    a.isOpened
      ? [`// A copy of the file.`, `const ${a.name} = petal.open${a.isMap ? "Map" : "Filter"}(await readFile("keys.petal"));`]
      : a.isBuilt
        ? `const ${a.name} = petal.build${a.isMap ? "Map" : ""}(${spec}, [${key(a.present)}]${a.isMap ? `, [${VALUE}]` : beside});`
        : `const ${a.name} = petal.create${a.isMap ? "Map" : ""}(${spec});`,
    a.isTime && !a.isOpened && [
      "",
      `// Moves the window on by the clock, a step each ${stepText(a)}. Call it before lookups and insertions.`,
      `const STEP = ${1000 * a.step};`,
      "let last = Date.now();",
      "function keepTime() {",
      "  const steps = Math.max(0, Math.floor((Date.now() - last) / STEP));",
      "  last += steps * STEP;",
      `  ${a.name}.advance(steps);`,
      "}",
      "",
      "keepTime();",
    ],
    !a.isBuilt && !a.isOpened && (a.isMap ? `${a.name}.put(${key(a.present)}, ${VALUE});` : `${a.name}.insert(${key(a.present)});`),
    a.isMap
      ? [
          gives(), a.canReplace && !a.isOpened && [`${a.name}.replace(${key(a.present)}, ${NEXT});`, gives(", replaced")],
          a.saysAbsent && `if (${a.name}.get(${key(a.absent)}) === undefined) console.log("${a.absent}: absent");`,
        ]
      : [says(a.present), says(a.absent)],
    a.can("count") && !a.isOpened && `console.log("${a.present} came:", String(${a.name}.count(${key(a.present)})));`,
    a.can("remove") && !a.isOpened && [`${a.name}.remove(${key(a.present)});`, says(a.present, ", removed")],
    `${a.name}.free();`,
  ]);
}

function redis(a) {
  const set = a.parameters.map(([name, value]) => ` SET ${name} ${value}`).join("");
  // A bound, or all keys, is more than RESERVE takes: such a key comes as an image.
  const comes = a.isBuilt || a.kind === "exact_bits";
  return text([
    comes ? `petal redis import ${a.name} keys.petal` : `redis-cli PETAL.RESERVE ${a.name} ${a.kind} ${a.capacity} ${a.rate}${set}`,
    !a.isBuilt && `redis-cli ${a.isMap ? `PETAL.MAPPUT ${a.name} ${a.present} ${VALUE}` : `PETAL.ADD ${a.name} ${a.present}`}`,
    `redis-cli ${a.isMap ? "PETAL.MAPGET" : "PETAL.MEXISTS"} ${a.name} ${a.present}${a.saysAbsent ? ` ${a.absent}` : ""}`,
    a.canReplace && `redis-cli PETAL.MAPREPLACE ${a.name} ${a.present} ${NEXT}`,
    a.can("count") && `redis-cli PETAL.COUNT ${a.name} ${a.present}`,
    a.can("remove") && `redis-cli PETAL.REMOVE ${a.name} ${a.present}`,
    a.isTime && [`# One process moves the window on, a step each ${stepText(a)}.`, `while sleep ${a.step}; do redis-cli PETAL.ADVANCE ${a.name}; done`],
  ]);
}

/** The command that makes the file, with the keys that are known. */
function build(a, isEmpty) {
  const options = [`--kind ${a.kind}`];
  if (a.kind === "exact_bits") options.push(`--bits ${a.more}`);
  else if (!a.isBuilt) options.push(`--capacity ${a.capacity}`);
  if (a.hasRate) options.push(`--fpr ${a.rate}`);
  for (const [parameter, value] of a.parameters) options.push(`--set ${parameter}=${value}`);
  if (a.kind === "exact_set") options.push("--universe universe.txt");
  if (a.kind === "stacked") options.push("--frequent non-members.txt");
  return `petal ${a.isMap ? "map " : ""}build ${options.join(" ")} -o keys.petal ${isEmpty ? "/dev/null" : a.isMap ? "keys.tsv" : "keys.txt"}`;
}

function shell(a) {
  const map = a.isMap ? "map " : "";
  const ask = `printf '%s\\n' ${a.present} ${a.absent} | petal ${a.isMap ? "map get" : "check"} keys.petal`;
  if (a.isOpened && !a.isBuilt) {
    return text([build(a, true), a.isMap ? "petal map put keys.petal keys.tsv" : "petal insert keys.petal keys.txt", ask]);
  }
  return text([build(a, false), ask, a.canReplace && `printf '${a.present}\\t${NEXT}\\n' | petal ${map}replace keys.petal`]);
}

/** What the files of the shell's lines have. */
const FILES = {
  exact_set: "keys.txt has a member on each line, universe.txt all keys.",
  stacked: "keys.txt has a member on each line, non-members.txt a lookup of an absent key, as a log has them.",
  exact_bits: "keys.txt has a whole number on each line.",
};
const filesOf = (a) => (a.isMap ? "keys.tsv has a key, a tab and a whole number on each line." : FILES[a.kind] ?? "keys.txt has a key on each line.");

const ONCE = "Make keys.petal once, as the lines for the shell do; every process then opens it.";
const fileOf = (a) => (a.isOpened ? ` ${ONCE}` : "") + (a.isShared && a.isTime ? " One process alone calls what keeps time: each call moves the window on for all." : "");
const PACKAGE = "Needs the package of bindings/wasm.";

/** By language: what stands before the lines, and the lines; null if a language has none. */
export const LINES = {
  C: [(a) => `Compile with cc keys.c $(pkg-config --cflags --libs petal).${fileOf(a)}`, c],
  "C++": [(a) => `Compile with c++ keys.cpp $(pkg-config --cflags --libs petal).${fileOf(a)}`, cpp],
  Rust: [(a) => `After cargo add petal --path DIRECTORY, where Petal's repository is.${fileOf(a)}`, rust],
  Go: [(a) => `Needs cgo and the installed library; docs/go.md says how.${fileOf(a)}`, go],
  "Go without cgo": [
    (a) => (!PURE_READ.includes(a.kind) ? `Pure Go does not read ${a.kind}.` : PURE_MADE.includes(a.kind) && !a.isOpened && a.parameters.length === 0 ? "Makes the same bytes in Go alone."
      : `Reads keys.petal, which the lines for the shell make.${a.isOpened ? " Pure Go changes no file in place." : ""}`), pureGo],
  JavaScript: [(a) => `${PACKAGE}${a.isOpened ? " A module has memory of its own: it opens a copy, and changes no file in place." : ""}`, javascript],
  Redis: [(a) => `Needs a server with Petal's module; docs/redis.md says how.${a.isBuilt || a.kind === "exact_bits" ? " keys.petal is what the lines for the shell make." : ""}`, redis],
  Shell: [(a) => `${filesOf(a)}${a.isTime ? " The command has no clock: a program moves the window on." : ""}`, shell],
};

/** The lines of a language for these settings, and what stands before them. */
export function linesOf(language, settings) {
  const a = about(settings);
  const [before, lines] = LINES[language];
  return { before: before(a), text: lines(a) };
}
