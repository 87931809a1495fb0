#!/usr/bin/env node
// Starts the binary of this platform and ends as it does.
const { spawn } = require("node:child_process");

const name = `@pawl-run/pawl-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/pawl${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`pawl: the package ${name} is not installed; install without --omit=optional, or build pawl for this platform with go install`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its interrupt to both.
process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (err) => {
  console.error(`pawl: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
