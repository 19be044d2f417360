// node manifests.js VERSION PLATFORM DIR: writes the package.json of both npm packages.
"use strict";

const { writeFileSync } = require("node:fs");

// The platforms for which a release publishes a package. npm installs the one that fits.
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

const [version, platform, directory] = process.argv.slice(2);
const shared = {
  version,
  description: "A quest runner that verifies every answer of an agent",
  license: "MIT",
};
const write = (name, own) =>
  writeFileSync(
    `${directory}/${name}/package.json`,
    JSON.stringify({ name, ...shared, ...own }, null, 2) + "\n",
  );

if (!PLATFORMS.includes(platform)) throw new Error(`no npm package is published for ${platform}`);
const [os, cpu] = platform.split("-");
write(`comail-${platform}`, { os: [os], cpu: [cpu], files: ["bin/comail"], preferUnplugged: true });
write("comail", {
  bin: { comail: "comail.js" },
  files: ["comail.js"],
  engines: { node: ">=18" },
  optionalDependencies: Object.fromEntries(PLATFORMS.map((each) => [`comail-${each}`, version])),
});
