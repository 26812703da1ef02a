// What the declarations promise, checked by `tsc --strict`; nothing of this runs.
import { Builder, Filter, PetalError, PetalMap, hasSimd, instantiate, load } from "@petal-filter/petal";
import type { Info, Kind, Petal, Plan, Proposal, Status } from "@petal-filter/petal";

export async function types(bytes: Uint8Array): Promise<void> {
  const petal: Petal = await load({ build: "reader", simd: hasSimd(), from: new URL("file:///") });
  const opened: Filter | PetalMap = petal.open(bytes, { secret: new Uint8Array(16) });
  if (opened instanceof PetalMap) {
    const value: bigint | undefined = opened.get("key");
    const { found, values }: { found: Uint8Array; values: BigUint64Array } = opened.getBatch(["a", 1n, bytes]);
    opened.putBatch(["a"], [1, 2n]);
    void [value, found, values];
  } else {
    const is: boolean = opened.contains(5n);
    const all: Uint8Array = opened.containsBatch(BigUint64Array.of(1n), { as: "hashes" });
    const count: bigint = opened.count("a");
    void [is, all, count];
  }
  const filter: Filter = petal.openFilter(bytes, { secret: new Uint8Array(16) });
  const values: PetalMap = petal.openMap(bytes);
  const texts: string[] = [filter.toJSON(), values.toJSON()];
  filter[Symbol.dispose]();
  void texts;
  const info: Info = opened.info;
  const seed: bigint = info.seed;
  const made: Filter = petal.create({ kind: "blocked", capacity: 1_000_000n, parameters: { blocks: 2, layout: "x" } });
  const builder: Builder = petal.builder({ falsePositiveRate: 0.001 });
  builder.addBatch(["a", "b"]);
  builder.exclude("c");
  builder.frequentBatch(["d"], Float64Array.of(2));
  builder.update(made);
  const whole: Filter = petal.build({ kind: "exact_set" }, ["a"], { universe: ["a", "b"] });
  petal.build({ kind: "stacked" }, ["a"], { frequent: BigUint64Array.of(1n), weights: [2], as: "hashes" });
  void whole;
  const plan: Plan = petal.plan({ keys: 5, capabilities: ["remove"] });
  const proposal: Proposal | undefined = plan.proposals[0];
  if (proposal?.fits) {
    const size: number = proposal.bytes;
    void size;
  } else {
    const reason: string | undefined = proposal?.reason;
    void reason;
  }
  const kinds: Kind[] = petal.kinds();
  try {
    made.insert("a");
  } catch (error) {
    if (error instanceof PetalError) {
      const status: Status = error.status;
      void status;
    }
  }
  await instantiate(await WebAssembly.compile(new Uint8Array(8)));
  void [seed, kinds];

  // @ts-expect-error A number is no key.
  made.contains(5);
  // @ts-expect-error A misspelt field.
  petal.create({ capacty: 5 });
  // @ts-expect-error Filters come from a Petal.
  new Filter();
  // @ts-expect-error A map has no insertion.
  if (opened instanceof PetalMap) opened.insert("a");
  // @ts-expect-error Weights are numbers.
  petal.build({ kind: "stacked" }, ["a"], { frequent: ["b"], weights: [1n] });
  // @ts-expect-error There is no such build.
  await load({ build: "writer" });
}
