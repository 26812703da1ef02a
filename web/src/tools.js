// Numbers as people read them, elements, and the settings in the address.

export const $ = (selector, within = document) => within.querySelector(selector);

/** An element with attributes and children. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

/** An element of a picture. */
export function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
}

/** A number with three digits that count, and never more zeros than needed. */
export function short(number) {
  if (number === 0) return "0";
  if (number >= 1000) return Math.round(number).toLocaleString("en");
  return String(Number(number.toPrecision(3)));
}

/** A rate in percent, or as one in n where percents are hard to read. */
export function percent(rate) {
  if (rate === 0) return "never";
  if (rate >= 1e-5) return `${short(100 * rate)} %`;
  return `1 in ${Math.round(1 / rate).toLocaleString("en")}`;
}

/** A false-positive rate as a sentence. */
export function absent(rate) {
  if (rate === 0) return "It is never wrong.";
  return `Of absent keys, ${percent(rate)} ${rate >= 1e-5 ? "get" : "gets"} a “maybe”.`;
}

/**
 * The rate of a filter as a sentence, the same wherever the page says it. A filter that grows has a lower rate at first;
 * one that forgets has the rate of a full window.
 */
export function wrong(petal, { capabilities }, spec) {
  const first = petal.size(spec).falsePositiveRate;
  if (capabilities.includes("grow")) {
    const [now, limit] = [percent(first), percent(spec.falsePositiveRate)];
    return `Of absent keys, ${now} ${first >= 1e-5 ? "get" : "gets"} a “maybe” at first${now === limit ? "" : `, and never more than ${limit}`}.`;
  }
  if (!capabilities.includes("age")) return absent(first);
  // After this many keys each generation is full.
  return absent(petal.size(spec, 64 * spec.capacity).falsePositiveRate).replace(/\.$/, " when the window is full.");
}

/** Bytes in the unit that fits. */
export function bytes(number) {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
  let unit = 0;
  let value = number;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : short(value)} ${units[unit]}`;
}

/** How a slider's place and a number belong together: evenly by the number's logarithm. */
export function logarithmic(least, greatest, steps) {
  const span = Math.log(greatest / least);
  const nice = (value) => Number(value.toPrecision(2));
  return {
    at: (number) => Math.round((steps * Math.log(Math.min(Math.max(number, least), greatest) / least)) / span),
    number: (place) => nice(least * Math.exp((span * place) / steps)),
  };
}

/** Connects a slider with the field next to it; `changed` hears of either. */
export function slider(range, field, scale, changed, factor = 1) {
  const show = () => {
    const number = Number(field.value) / factor;
    range.value = scale.at(number);
    range.setAttribute("aria-valuetext", `${field.value}${factor === 100 ? " percent" : ""}`);
  };
  range.addEventListener("input", () => {
    field.value = Number((scale.number(Number(range.value)) * factor).toPrecision(6));
    show();
    changed();
  });
  field.addEventListener("input", () => {
    show();
    changed();
  });
  return show;
}

/** What stands behind the # of the address. */
export function readAddress() {
  return new URLSearchParams(location.hash.slice(1));
}

export function writeAddress(settings) {
  const text = new URLSearchParams(Object.entries(settings).filter(([, value]) => value !== "" && value !== undefined));
  history.replaceState(null, "", `#${text}`);
}
