// Size: a calculator, its formula, and lines to copy.
import { $, absent, bytes, make, percent, slider } from "./tools.js";
import { KEYS, RATES, number } from "./choose.js";

/** The sizes in words. A kind that is not here has its page in the documentation. */
const FORMULAS = {
  bloom: "m = n log₂(1/p) / ln 2 bits for n keys at the rate p: 1.44 log₂(1/p) bits a key. A key sets k bits, near (m/n) ln 2. The rate is the mean of (X/m)ᵏ over the number X of bits that are set, which is near (1 − e^(−kn/m))ᵏ.",
  blocked: "A key goes to one of B blocks of 512 bits, so that the number of keys in a block varies. The rate is the mean of the rate of one block over that number. B is the least number of blocks that keeps the rate.",
  split_block: "A key goes to one of B blocks of 256 bits and sets one bit in each of eight lanes of 32 bits. With X keys in a block the rate is (1 − (31/32)^X)⁸. The rate of the filter is the mean over X.",
  counting: "The places of a Bloom filter, with a counter of 4 bits in place of each bit: four times the bits, and the same rate.",
  cuckoo: "A fingerprint of f bits for each key, in buckets of four slots, which fill to 95 %: f / 0.95 bits a key. A lookup compares up to eight fingerprints: the rate is near 8 / 2^f when the table is full.",
  fuse: "About 1.13 r bits a key with fingerprints of r bits. The rate is 2^−r, so r is log₂(1/p), rounded up.",
  ribbon: "About 1.003 r bits a key with fingerprints of r bits. The rate is 2^−r, so r is log₂(1/p), rounded up.",
  exact_bits: "One bit for each whole number below the bound. It is never wrong.",
};

/** What the shell and programs are given, for a filter of a kind. `s` has the kind, the keys and the rate. */
export const LINES = {
  C: (s) => s.isStatic
    ? `petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_${s.kind.toUpperCase()}, .false_positive_rate = ${s.rate}};
petal_builder *builder = NULL;
petal_status status = petal_builder_new(&spec, NULL, &builder, NULL);`
    : `petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_${s.kind.toUpperCase()},
                   .capacity = ${s.keys}, .false_positive_rate = ${s.rate}};
petal_filter *filter = NULL;
petal_status status = petal_filter_new(&spec, &filter, NULL);`,
  "C++": (s) => s.isStatic
    ? `petal::builder builder(petal::spec().kind("${s.kind}").false_positive_rate(${s.rate}));`
    : `petal::filter filter(petal::spec().kind("${s.kind}").capacity(${s.keys}).false_positive_rate(${s.rate}));`,
  Go: (s) => s.isStatic
    ? `builder, err := petal.NewBuilder(petal.Spec{Kind: "${s.kind}", FalsePositiveRate: ${s.rate}}, nil)`
    : `filter, err := petal.New(petal.Spec{Kind: "${s.kind}", Capacity: ${s.keys}, FalsePositiveRate: ${s.rate}})`,
  Shell: (s) => `petal build --kind ${s.kind}${s.isStatic ? "" : ` --capacity ${s.keys}`} --fpr ${s.rate} -o keys.petal keys.txt`,
};

export function size(petal, kinds, changed) {
  const [select, keys, rate] = ["#size-kind", "#size-keys", "#size-rate"].map((id) => $(id));
  // Whole numbers below a bound have no rate to choose; the other maps have values.
  const all = [...kinds.values()].filter(({ isMap, takesIntegers, name }) => !isMap && !takesIntegers && name !== "exact_set");
  select.append(...all.map(({ name }) => make("option", {}, name)));

  function update() {
    const kind = select.value;
    changed({ kind, keys: keys.value, rate: rate.value });
    const answer = $("#size-answer");
    const lines = $("#size-lines");
    try {
      const spec = { kind, capacity: number(keys.value), falsePositiveRate: Number(rate.value) / 100 };
      const size = petal.size(spec);
      const bits = (8 * size.bytes) / spec.capacity;
      answer.replaceChildren(
        make("p", { class: "large" }, make("strong", {}, bytes(size.bytes)), ` for ${spec.capacity.toLocaleString("en")} keys`),
        make("p", {}, `${size.bytes.toLocaleString("en")} bytes with the header and the checksums; ${bits.toFixed(2)} bits a key` +
          `${size.hashes ? `; a key has ${size.hashes} ${size.hashes === 1 ? "place" : "places"}` : ""}. ${absent(size.falsePositiveRate)}`),
      );
      answer.dataset.bytes = size.bytes;
      answer.dataset.rate = size.falsePositiveRate;
      $("#size-formula").textContent = FORMULAS[kind] ?? `${kinds.get(kind).summary}. The page docs/kinds/${kind}.md says how its size comes about.`;
      const row = kinds.get(kind);
      const others = row.isMadeEmpty && !["grow", "age"].some((one) => row.capabilities.includes(one));
      $("#size-rates").hidden = !others;
      $("#size-rates tbody").replaceChildren(...(others ? [0.25, 0.5, 0.75, 1, 1.5, 2, 3] : []).map((share) => {
        const count = Math.max(1, Math.round(share * spec.capacity));
        return make("tr", {}, make("td", {}, count.toLocaleString("en")), make("td", {}, `${100 * share} %`), make("td", {}, percent(petal.size(spec, count).falsePositiveRate)));
      }));
      const settings = { kind, keys: spec.capacity, rate: spec.falsePositiveRate, isStatic: !row.isMadeEmpty };
      lines.hidden = false;
      lines.className = "lines";
      lines.replaceChildren(...Object.entries(LINES).flatMap(([language, text]) => {
        const button = make("button", { type: "button", "aria-label": `Copy the lines in ${language}` }, "Copy");
        button.addEventListener("click", () => copy(text(settings)));
        return [make("h3", {}, language, button), make("pre", { tabindex: 0, "data-language": language }, text(settings))];
      }));
    } catch (error) {
      if (error.status === "internal") throw error;
      answer.replaceChildren(make("p", {}, `That cannot be: ${error.message}.`));
      lines.hidden = true;
      $("#size-rates").hidden = true;
    }
  }

  async function copy(text) {
    const copied = $("#copied");
    try {
      await navigator.clipboard.writeText(text);
      copied.textContent = "Copied.";
    } catch {
      // Pages that are opened as files may not write to the clipboard in every browser.
      const area = make("textarea", {}, text);
      document.body.append(area);
      area.select();
      copied.textContent = document.execCommand("copy") ? "Copied." : "This browser does not let the page copy.";
      area.remove();
    }
  }

  const shows = [slider($("#size-keys-slider"), keys, KEYS, update), slider($("#size-rate-slider"), rate, RATES, update, 100)];
  select.addEventListener("change", update);
  $("#size form").addEventListener("submit", (event) => event.preventDefault());
  $("#copy-link").addEventListener("click", () => copy(location.href));
  return {
    read: (from) => {
      select.value = from.kind ?? "blocked";
      if (select.selectedIndex < 0) select.value = "blocked";
      keys.value = from.keys ?? "1000000";
      rate.value = from.rate ?? "1";
      shows.forEach((show) => show());
    },
    update,
  };
}
