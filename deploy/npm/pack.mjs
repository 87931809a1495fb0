// node deploy/npm/pack.mjs VERSION DIST OUT writes the npm packages of a release into OUT: one for each
// platform, which holds the binary that goreleaser built into DIST, and @pawl-run/pawl, which depends on
// all of them and starts the one that fits. npm installs only that one, since each names its platform.
// To publish: npm publish --access public for each directory of OUT, @pawl-run/pawl last.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [version, dist, out] = process.argv.slice(2);
if (!version || !dist || !out) {
  console.error("usage: node deploy/npm/pack.mjs VERSION DIST OUT");
  process.exit(2);
}
const scope = "@pawl-run/";
const common = {
  version,
  license: "Apache-2.0",
  homepage: "https://github.com/pawl-run/pawl",
  repository: { type: "git", url: "git+https://github.com/pawl-run/pawl.git" },
};

function write(name, files, manifest) {
  const dir = join(out, name);
  for (const [path, from] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    copyFileSync(from, join(dir, path));
    chmodSync(join(dir, path), 0o755);
  }
  writeFileSync(join(dir, "package.json"), JSON.stringify({ name: scope + name, ...common, ...manifest }, null, 2) + "\n");
}

const built = JSON.parse(readFileSync(join(dist, "artifacts.json"), "utf8")).filter(
  (a) => a.type === "Binary" && a.extra.ID === "pawl",
);
if (built.length === 0) {
  console.error(`${dist}/artifacts.json names no binary of pawl; run goreleaser first`);
  process.exit(1);
}
const optionalDependencies = {};
for (const { goos, goarch, path } of built) {
  const os = goos === "windows" ? "win32" : goos;
  const cpu = goarch === "amd64" ? "x64" : goarch;
  const name = `pawl-${os}-${cpu}`;
  optionalDependencies[scope + name] = version;
  const program = goos === "windows" ? "bin/pawl.exe" : "bin/pawl";
  write(name, { [program]: path }, { description: `pawl for ${os} on ${cpu}`, os: [os], cpu: [cpu], files: ["bin"] });
}
write("pawl", { "pawl.cjs": join(import.meta.dirname, "pawl.cjs") }, {
  description: "Runs LLM agents in a loop that stops, survives a crash and waits for people",
  bin: { pawl: "pawl.cjs" },
  files: ["pawl.cjs"],
  engines: { node: ">=20.11" },
  optionalDependencies,
});
