// The package as others get it: packed by npm, and installed in a folder of this process; a server; a browser.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const place = mkdtempSync(join(tmpdir(), "petal-package-"));
export const installed = join(place, "node_modules", "@petal-filter", "petal");
after(() => rmSync(place, { recursive: true, force: true }));

const packed = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", place], { cwd: root }));
mkdirSync(installed, { recursive: true });
execFileSync("tar", ["-xf", join(place, packed[0].filename), "-C", installed, "--strip-components=1"]);

/** A server of some folders, on this machine alone. */
export async function serve(folder) {
  const types = { ".js": "text/javascript", ".html": "text/html", ".wasm": "application/octet-stream" };
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url, "http://localhost").pathname);
    try {
      if (!path.startsWith(folder)) throw new Error("outside");
      const bytes = readFileSync(path);
      response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

export const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
export const CHROMIUM = "/usr/bin/chromium";
export const skip = !existsSync(CHROMIUM) && `there is no ${CHROMIUM}`;
