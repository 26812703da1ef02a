// The picture of Choose: bits a key against the rate, a curve for each kind that fits, and where the sliders stand.
import { draw, percent } from "./tools.js";

const [LEFT, TOP, BOTTOM] = [46, 14, 360];
/** Where the axis ends: names stand beside it. On a phone the picture is narrower, and its texts stay as large. */
let RIGHT = 450;
const DECADES = [-9, -0.3];
const CURVE_RATES = Array.from({ length: 13 }, (_, i) => 10 ** (DECADES[0] + ((DECADES[1] - DECADES[0]) * i) / 12));

const across = (rate) => {
  const place = (Math.log10(Math.max(rate, 1e-9)) - DECADES[0]) / (DECADES[1] - DECADES[0]);
  return LEFT + (RIGHT - LEFT) * Math.min(Math.max(place, 0), 1);
};

export function picture(svg, caption) {
  const curves = new Map();
  let drawn = null;
  let later = 0;

  /** The bits a key of each kind at some rates, for a request but for its rate. */
  function curvesOf({ petal, request }) {
    const { falsePositiveRate, memory, ...rest } = request;
    const name = JSON.stringify(rest);
    if (!curves.has(name)) {
      const all = new Map();
      for (const rate of CURVE_RATES) {
        let proposals = [];
        // Hashes of 64 bits do not have the least rates for the most keys.
        try { proposals = petal.plan({ ...rest, falsePositiveRate: rate }).proposals; } catch { continue; }
        for (const { kind, fits, bitsPerKey } of proposals) {
          if (!fits) continue;
          if (!all.has(kind)) all.set(kind, []);
          all.get(kind).push([rate, bitsPerKey]);
        }
      }
      curves.set(name, all);
    }
    return [name, curves.get(name)];
  }

  function paint(about) {
    const fits = about.plan.proposals.filter(({ fits }) => fits);
    const [name, all] = curvesOf(about);
    // Kinds that take much more than the best lie at the upper edge.
    const best = fits.find(({ kind }) => kind === about.plan.recommended)?.bitsPerKey ?? 10;
    const most = Math.min(3.5 * best, 1.15 * Math.max(12, ...fits.map(({ bitsPerKey }) => bitsPerKey)));
    // The axis grows by steps, so that points glide and the picture does not jump at every move.
    const top = [16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 4096, 65536].find((one) => one >= most) ?? most;
    const down = (bits) => BOTTOM - ((BOTTOM - TOP) * Math.min(bits, top)) / top;
    const isNarrow = svg.clientWidth < 480;
    RIGHT = isNarrow ? 185 : 450;
    svg.setAttribute("viewBox", isNarrow ? "0 0 360 400" : "0 0 640 400");
    const state = `${name} ${top} ${isNarrow}`;
    if (drawn !== state) {
      drawn = state;
      svg.replaceChildren(...axes(top, down), ...bound(down));
      for (const [kind, points] of all) {
        const path = points.filter(([, bits]) => bits <= top).map(([rate, bits], i) => `${i ? "L" : "M"}${across(rate).toFixed(1)} ${down(bits).toFixed(1)}`);
        if (path.length > 1) svg.append(draw("path", { class: "curve", d: path.join(""), "data-curve": kind }));
      }
      svg.append(draw("g", { class: "now-line moves" }, draw("line", { class: "now", x1: 0, x2: 0, y1: TOP, y2: BOTTOM })), draw("g", { class: "dots" }));
    }
    const goal = about.request.falsePositiveRate ?? fits[0]?.falsePositiveRate ?? 0.01;
    svg.querySelector(".now-line").style.transform = `translateX(${across(goal)}px)`;
    for (const curve of svg.querySelectorAll("[data-curve]")) {
      curve.classList.toggle("best", curve.dataset.curve === about.plan.recommended);
    }
    moveDots(fits, about, down);
    caption.textContent = `Bits for each key (up) against the share of absent keys that get a “maybe” (across); the dashed line is the least for a filter that is told its members only. ` +
      `At ${percent(goal)}: ${fits.slice(0, 6).map(({ kind, bitsPerKey, linesPerLookup }) => `${kind} ${bitsPerKey.toFixed(1)} bits and ${linesPerLookup.toFixed(1)} lines a lookup`).join(", ") || "no kind fits"}.`;
  }

  /** One dot a kind, which glides to its place; its size is the lines that a lookup reads. */
  function moveDots(fits, about, down) {
    const group = svg.querySelector(".dots");
    const old = new Map([...group.children].map((dot) => [dot.dataset.kind, dot]));
    // Names are moved apart where dots lie close.
    let last = Infinity;
    const places = fits.map((fit) => ({ fit, y: down(fit.bitsPerKey) })).sort((a, b) => b.y - a.y);
    for (const place of places) {
      place.name = Math.min(place.y, last - 13);
      last = place.name;
    }
    // Names that would stand above the picture push the others down.
    let least = TOP;
    for (const place of [...places].reverse()) {
      place.name = Math.max(place.name, least);
      least = place.name + 13;
    }
    for (const { fit, y, name } of places) {
      const { kind, linesPerLookup, falsePositiveRate } = fit;
      const dot = old.get(kind) ?? draw("g", { class: "moves", "data-kind": kind }, draw("line", { class: "leader" }), draw("circle", { class: "dot" }), draw("text", {}));
      old.delete(kind);
      dot.classList.toggle("best", kind === about.plan.recommended);
      const x = across(about.request.falsePositiveRate ?? falsePositiveRate);
      dot.style.transform = `translate(${x}px, ${y}px)`;
      const [leader, circle, text] = dot.children;
      leader.setAttribute("x2", String(RIGHT + 12 - x));
      leader.setAttribute("y2", String(name - y));
      circle.setAttribute("r", String(3 + Math.min(linesPerLookup, 16) / 2));
      text.setAttribute("x", String(RIGHT + 15 - x));
      text.setAttribute("y", String(name - y + 4));
      text.textContent = `${kind} ${fit.bitsPerKey.toFixed(1)}`;
      if (!dot.isConnected) group.append(dot);
    }
    old.forEach((dot) => dot.remove());
  }

  function axes(top, down) {
    const all = [];
    for (let i = -9; i <= -1; i += RIGHT < 300 ? 4 : 2) {
      const x = across(10 ** i);
      all.push(draw("line", { class: "grid", x1: x, x2: x, y1: TOP, y2: BOTTOM }), draw("text", { class: "soft", x, y: BOTTOM + 18, "text-anchor": "middle" }, i < -5 ? `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[-i]}` : percent(10 ** i)));
    }
    for (let i = 0; i <= 4; i++) {
      const y = down((top * i) / 4);
      all.push(draw("line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y, y2: y }), draw("text", { class: "soft", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, String((top * i) / 4)));
    }
    return [...all, draw("text", { class: "soft", x: LEFT, y: BOTTOM + 36 }, RIGHT < 300 ? "absent keys with a “maybe”" : "absent keys that get a “maybe”; large dots read more lines")];
  }

  const bound = (down) => [draw("path", { class: "curve bound", d: CURVE_RATES.map((rate, i) => `${i ? "L" : "M"}${across(rate)} ${down(Math.log2(1 / rate))}`).join("") })];

  return (about) => {
    cancelAnimationFrame(later);
    svg.parentElement.hidden = about === null;
    if (about) later = requestAnimationFrame(() => paint(about));
  };
}
