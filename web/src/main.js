// The page: the module that lies in it, the three tabs, and the address.
import { instantiate } from "../../bindings/wasm/js/petal.js";
import { choose } from "./choose.js";
import { see } from "./see.js";
import { size } from "./size.js";
import { $, readAddress, writeAddress } from "./tools.js";

/** The module's bytes, which build.mjs put into the page, packed by gzip. */
async function embedded() {
  const packed = Uint8Array.from(atob(MODULE), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function trouble(error) {
  const place = $("#trouble");
  place.hidden = false;
  place.textContent = `The page does not work: ${error.message}`;
}

async function main() {
  const petal = await instantiate(await embedded());
  const kinds = new Map(petal.kinds().map((kind) => [kind.name, kind]));
  const names = ["choose", "see", "size"];
  let current = null;
  const changed = (tab) => (settings) => {
    if (current === tab) writeAddress({ tab, ...settings });
  };
  const parts = {
    choose: choose(petal, kinds, changed("choose")),
    see: see(petal, changed("see")),
    size: size(petal, kinds, changed("size")),
  };

  function open(name, settings) {
    current = name;
    for (const one of names) {
      const tab = $(`#tab-${one}`);
      tab.setAttribute("aria-selected", String(one === name));
      tab.tabIndex = one === name ? 0 : -1;
      $(`#${one}`).hidden = one !== name;
    }
    if (settings) parts[name].read(settings);
    parts[name].update();
  }

  const fresh = new Set(names);
  const go = (name) => {
    open(name, fresh.has(name) ? {} : undefined);
    fresh.delete(name);
  };
  for (const name of names) {
    const tab = $(`#tab-${name}`);
    tab.addEventListener("click", () => go(name));
    tab.addEventListener("keydown", ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0;
      const next = key === "Home" ? names[0] : key === "End" ? names.at(-1) : step ? names.at((names.indexOf(name) + step) % names.length) : null;
      if (next === null) return;
      go(next);
      $(`#tab-${next}`).focus();
    });
  }
  const read = () => {
    // `#see` names a tab too.
    const { tab = location.hash.slice(1), ...settings } = Object.fromEntries(readAddress());
    const name = names.includes(tab) ? tab : "choose";
    fresh.delete(name);
    open(name, settings);
    // A link within the page lies on a tab that is hidden now.
    if (document.activeElement?.closest("[hidden]")) $(`#tab-${name}`).focus();
  };
  // The address has settings, and no place on the page.
  $(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    $("#panel").focus();
  });
  // A link to other settings of the same page.
  addEventListener("hashchange", read);
  read();
  document.documentElement.dataset.ready = "yes";
}

main().catch(trouble);
addEventListener("error", ({ error }) => trouble(error ?? new Error("a script failed")));
addEventListener("unhandledrejection", ({ reason }) => trouble(reason));
