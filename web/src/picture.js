// The picture of Choose: bits a key against the rate. It has few lines, each with its name: the kind to take, the
// smallest of the others, and the kind that one points at.
import { draw, percent } from "./tools.js";

const [LEFT, TOP, BOTTOM] = [46, 24, 320];
/** Where the axis ends: names stand next to it. On a phone the picture is narrower, and its texts stay as large. */
let RIGHT = 408;
/** The rates that the axis has: some decades around the goal. They change by whole decades, so that marks glide. */
let [least, greatest] = [1e-4, 0.5];
const DECADES = 4;
/** How many lines there are, without the one that is pointed at. */
const MOST = 5;
/** The room that a name takes. */
const ROW = 16;

/** Where a rate lies, also outside the axis, where lines go on until they are cut off. */
const beyond = (rate) => LEFT + ((RIGHT - LEFT) * Math.log(rate / least)) / Math.log(greatest / least);
const across = (rate) => Math.min(Math.max(beyond(Math.max(rate, 1e-300)), LEFT), RIGHT);
/** The rate at a place of the axis. */
const rateAt = (x) => least * (greatest / least) ** ((x - LEFT) / (RIGHT - LEFT));

export function picture(svg, caption) {
  /** By request and phase, the bits a key of each kind at some rates. */
  const curves = new Map();
  let shown = null;
  let pointed = null;
  let drawn = null;
  let later = 0;
  let idle = 0;

  /**
   * The rates of the lines: the goal, halved and doubled again and again. Many kinds have whole bits of a fingerprint, so
   * their sizes at other rates lie on steps; at these rates they lie on a line, which goes through the goal's mark.
   */
  function ratesOf(goal) {
    const from = Math.floor(Math.log2(least / goal));
    const to = Math.ceil(Math.log2(greatest / goal));
    return Array.from({ length: to - from + 1 }, (_, i) => goal * 2 ** (from + i)).filter((rate) => rate < 1);
  }

  const requestOf = ({ request: { falsePositiveRate, memory, ...rest } }) => rest;
  const nameOf = (about, goal) => `${JSON.stringify(requestOf(about))} ${least} ${(Math.log2(goal) % 1).toFixed(3)}`;

  function curvesOf(about, goal) {
    const name = nameOf(about, goal);
    if (curves.has(name)) return curves.get(name);
    const all = new Map();
    for (const falsePositiveRate of ratesOf(goal)) {
      let proposals = [];
      // Hashes of 64 bits do not have the least rates for the most keys.
      try { proposals = about.petal.plan({ ...requestOf(about), falsePositiveRate }).proposals; } catch { continue; }
      for (const { kind, fits, bitsPerKey, parameters } of proposals) {
        if (!fits) continue;
        if (!all.has(kind)) all.set(kind, []);
        all.get(kind).push([falsePositiveRate, bitsPerKey, JSON.stringify(parameters)]);
      }
    }
    if (curves.size > 200) curves.clear();
    curves.set(name, all);
    return all;
  }

  function paint() {
    const about = shown;
    const { recommended } = about.plan;
    const fits = about.plan.proposals.filter(({ fits }) => fits).sort((a, b) => a.bitsPerKey - b.bitsPerKey);
    const best = fits.find(({ kind }) => kind === recommended);
    const isNarrow = svg.clientWidth < 480;
    RIGHT = isNarrow ? 178 : 408;
    svg.setAttribute("viewBox", `0 0 ${isNarrow ? 360 : 640} 360`);
    // A kind whose line is that of another, and whose lookups read no less, would only hide it.
    const few = [];
    for (const fit of [...(best ? [best] : []), ...fits.filter((fit) => fit !== best)]) {
      const isHidden = few.some((one) => Math.abs(one.bitsPerKey / fit.bitsPerKey - 1) < 0.003 && one.linesPerLookup <= fit.linesPerLookup);
      if (!isHidden && few.length < (isNarrow ? MOST - 1 : MOST)) few.push(fit);
    }
    const extra = fits.find((fit) => fit.kind === pointed && !few.includes(fit));
    const goal = about.request.falsePositiveRate ?? best?.falsePositiveRate ?? 0.01;
    const first = Math.min(Math.max(Math.floor(Math.log10(Math.max(goal, 1e-9)) + 1e-9) - 2, -9), -DECADES);
    [least, greatest] = [10 ** first, Math.min(10 ** (first + DECADES), 0.5)];
    // The best kind's line is whole. Kinds that take much more are off the chart, which their marks say.
    const most = Math.max(8, ((best ?? fits[0])?.bitsPerKey ?? 8) + 1.8 * Math.log2(Math.max(goal, least) / least));
    const top = [12, 16, 20, 24, 32, 40, 48, 56, 64, 96, 128, 192, 256, 512, 1024, 4096, 65536].find((one) => one >= most) ?? most;
    const down = (bits) => BOTTOM - ((BOTTOM - TOP) * bits) / top;
    // A filter that also knows keys which are no members may take less.
    const isBeaten = few.some(({ bitsPerKey, falsePositiveRate }) => bitsPerKey < 0.999 * Math.log2(1 / (about.request.falsePositiveRate ?? falsePositiveRate)));
    const state = `${top} ${isNarrow} ${least} ${isBeaten}`;
    if (drawn !== state) {
      drawn = state;
      svg.replaceChildren(
        draw("defs", {}, draw("clipPath", { id: "plot" }, draw("rect", { x: LEFT, y: TOP, width: RIGHT - LEFT, height: BOTTOM - TOP }))),
        ...axes(top, down, isNarrow), ...bound(down, isBeaten ? "the least from members alone" : "the least possible"), draw("g", { class: "curves", "clip-path": "url(#plot)" }),
        draw("g", { class: "now-line moves" }, draw("line", { class: "now", x1: 0, x2: 0, y1: TOP, y2: BOTTOM })), draw("g", { class: "dots" }),
      );
    }
    svg.querySelector(".now-line").style.transform = `translateX(${across(goal)}px)`;
    svg.classList.toggle("pointing", few.includes(fits.find(({ kind }) => kind === pointed)) || Boolean(extra));
    const all = extra ? [...few, extra] : few;
    const classOf = ({ kind }) => `line${few.findIndex((fit) => fit.kind === kind)}${kind === recommended ? " best" : ""}${kind === pointed ? " pointed" : ""}`;
    moveMarks(all, about, { down, top, isNarrow, classOf });
    // What the lines take to find out may wait until the slider rests.
    const lines = () => drawCurves(all, curvesOf(about, goal), { down, classOf });
    clearTimeout(idle);
    if (curves.has(nameOf(about, goal))) lines();
    else idle = setTimeout(lines, 60);
    const others = fits.length - few.length;
    caption.textContent = `Bits for each key against the share of absent keys that get a “maybe”: lower is smaller. ` +
      `At ${percent(goal)}: ${few.map(({ kind, bitsPerKey }) => `${kind} ${bitsPerKey.toFixed(1)} bits`).join(", ") || "no kind fits"}.` +
      `${others > 0 ? ` Point at one of the other ${others} kinds in the table, or touch it, to see its line.` : ""}`;
  }

  function drawCurves(all, points, { down, classOf }) {
    svg.querySelector(".curves")?.replaceChildren(...[...all].reverse().filter(({ kind }) => points.get(kind)?.length > 1).map((fit) => {
      // A line ends where the kind takes other parameters, such as two blocks: what comes then is another filter.
      const path = points.get(fit.kind).map(([rate, bits, set], i, all) => `${i && all[i - 1][2] === set ? "L" : "M"}${beyond(rate).toFixed(1)} ${down(bits).toFixed(1)}`);
      return draw("path", { class: `curve ${classOf(fit)}`, d: path.join(""), "data-curve": fit.kind });
    }));
  }

  /** One mark a kind, which glides to its place, with its name. What is off the chart has an arrow at the edge. */
  function moveMarks(all, about, { down, top, isNarrow, classOf }) {
    const group = svg.querySelector(".dots");
    const old = new Map([...group.children].map((mark) => [mark.dataset.kind, mark]));
    // Names are moved apart where marks lie close.
    const places = all.map((fit) => ({ fit, y: down(Math.min(fit.bitsPerKey, top)) })).sort((a, b) => b.y - a.y || a.fit.bitsPerKey - b.fit.bitsPerKey);
    let last = Infinity;
    for (const place of places) last = place.name = Math.min(place.y, last - ROW);
    // Names that would stand above the picture push the others down.
    let least = TOP;
    for (const place of [...places].reverse()) {
      place.name = Math.max(place.name, least);
      least = place.name + ROW;
    }
    for (const { fit, y, name } of places) {
      const { kind, bitsPerKey, linesPerLookup, falsePositiveRate } = fit;
      const mark = old.get(kind) ?? draw("g", { "data-kind": kind }, draw("line", { class: "leader" }), draw("path", { class: "dot" }), draw("text", {}));
      old.delete(kind);
      mark.setAttribute("class", `moves ${classOf(fit)}`);
      const x = across(about.request.falsePositiveRate ?? falsePositiveRate);
      mark.style.transform = `translate(${x}px, ${y}px)`;
      const [leader, dot, text] = mark.children;
      leader.setAttribute("x2", String(RIGHT + 10 - x));
      leader.setAttribute("y2", String(name - y));
      const isOff = bitsPerKey > top;
      dot.setAttribute("d", isOff ? "M-5 2L0 -7L5 2Z" : "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0");
      text.setAttribute("x", String(RIGHT + 13 - x));
      text.setAttribute("y", String(name - y + 4));
      const lines = linesPerLookup.toFixed(1).replace(".0", "");
      text.textContent = `${kind} ${bitsPerKey.toFixed(1)}${isOff ? " ↑" : ""}${isNarrow ? "" : ` · ${lines} ${lines === "1" ? "line" : "lines"}`}`;
      if (!mark.isConnected) group.append(mark);
    }
    old.forEach((mark) => mark.remove());
    const best = group.querySelector(".best");
    if (best && best !== group.lastElementChild) group.append(best);
  }

  function axes(top, down, isNarrow) {
    const all = [];
    const decade = Math.round(Math.log10(least));
    for (let i = decade; 10 ** i < 1.001 * greatest; i += isNarrow ? 2 : 1) {
      const x = across(10 ** i);
      all.push(draw("line", { class: "grid", x1: x, x2: x, y1: TOP, y2: BOTTOM }), draw("text", { class: "soft", x, y: BOTTOM + 18, "text-anchor": "middle" }, i < -5 ? `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[-i]}` : percent(10 ** i)));
    }
    for (let i = 0; i <= 4; i++) {
      const y = down((top * i) / 4);
      all.push(draw("line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y, y2: y }), draw("text", { class: "soft", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, String((top * i) / 4)));
    }
    return [...all,
      draw("text", { class: "soft", x: LEFT - 6, y: TOP - 11, "text-anchor": "start" }, "bits a key"),
      draw("text", { class: "soft", x: LEFT, y: BOTTOM + 36 }, "absent keys that get a “maybe”"),
      draw("text", { class: "soft", x: RIGHT + 13, y: TOP - 11 }, isNarrow ? "kind, bits" : "kind, bits · lines a lookup")];
  }

  /** The least for a filter that knows its members only, and what the line is called. */
  function bound(down, name) {
    const ends = [least, greatest].map((rate) => `${across(rate)} ${down(Math.log2(1 / rate))}`);
    const [x, width] = [LEFT + 8, 6 * name.length];
    const y = down(Math.log2(1 / rateAt(x + width))) + 17;
    return [
      draw("path", { class: "bound", d: `M${ends.join("L")}`, "clip-path": "url(#plot)" }),
      draw("text", { class: "soft", x, y }, name),
    ];
  }

  const again = () => {
    cancelAnimationFrame(later);
    if (shown) later = requestAnimationFrame(paint);
  };
  const point = (kind) => {
    if (pointed === kind) return;
    pointed = kind;
    again();
  };
  for (const [event, kindOf] of [["pointerover", ({ target }) => target.closest("[data-kind]")?.dataset.kind ?? null], ["pointerleave", () => null]]) {
    svg.addEventListener(event, (one) => point(kindOf(one)));
  }
  return {
    show: (about) => {
      shown = about;
      svg.parentElement.hidden = about === null;
      clearTimeout(idle);
      again();
    },
    point,
  };
}
