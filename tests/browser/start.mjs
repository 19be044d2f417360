// Starts the Chromium of the system with the npm packages in TOOLS.

import { createRequire } from "node:module";
import { join, resolve } from "node:path";

export const packages = (tools) => createRequire(join(resolve(tools), "of.cjs"));

export const start = (tools, ...more) =>
  packages(tools)("playwright-core").chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });
