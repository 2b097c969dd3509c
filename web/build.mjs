// Builds the page into src/knowbase/http/page/ui (or the folder named as an argument): the same
// bytes from the same sources, wherever and whenever it runs.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "../src/knowbase/http/page/ui"));
const shared = {
  absWorkingDir: here,
  bundle: true,
  charset: "utf8",
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  legalComments: "none", // LICENSES.txt has them
  loader: { ".svg": "file" },
  metafile: true,
  minify: true,
  outdir: target,
  target: ["es2022", "chrome123", "firefox120", "safari17.5"], // light-dark(),
};

/** The built file of an entry, and the files that it cannot start without. */
async function built(entry, more) {
  const { metafile } = await build({ ...shared, ...more, entryPoints: [entry] });
  const [path, output] = Object.entries(metafile.outputs).find(([, one]) => one.entryPoint === entry);
  const needed = output.imports.filter((one) => one.kind === "import-statement");
  return { file: basename(path), needed: needed.map((one) => basename(one.path)) };
}

function licenses() {
  const packages = ["preact", "@preact/signals", "@preact/signals-core", "d3-force", "d3-dispatch", "d3-quadtree", "d3-timer"];
  const texts = packages.map((name) => {
    const folder = join(here, "node_modules", name);
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return texts.join("\n" + "-".repeat(72) + "\n\n");
}

function kept(name) {
  const text = readFileSync(join(here, "src", name));
  const [stem, ending] = name.split(".");
  const file = `${stem}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}.${ending}`;
  writeFileSync(join(target, file), text);
  return file;
}

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const layout = await built("src/layout.ts", { format: "esm" });
const app = await built("src/app.tsx", {
  format: "esm",
  splitting: true,
  define: { LAYOUT: JSON.stringify(`/ui/${layout.file}`) },
});
const style = await built("src/style.css", {});
const icon = kept("icon.svg");
writeFileSync(join(target, "LICENSES.txt"), licenses());
writeFileSync(join(target, "manifest.json"), JSON.stringify({ app: app.file, needed: app.needed, icon, style: style.file }, null, 1) + "\n");
