#!/usr/bin/env node
// Starts the program of this platform, which npm installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");

const name = `comail-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/comail`);
} catch {
  console.error(
    `error: the npm package ${name} is not installed\n` +
      "hint: install comail without --omit=optional; if no package exists for this platform, " +
      "build comail from source with cargo",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both processes, and comail decides how to end. Other signals reach this
// process alone.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
