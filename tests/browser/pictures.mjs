// Draws the pictures of the README: the HTML page as page.png, a terminal as terminal.svg.
//
//     node pictures.mjs TOOLS PAGE SCREEN TO
//
// TOOLS holds node_modules, PAGE is the HTML page, SCREEN what tmux captured with its colours, and
// TO the directory of the pictures. What differs from day to day is the same in every picture.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { start } from "./start.mjs";

const [tools, page, screen, to] = process.argv.slice(2).map((path) => resolve(path));

const drawPage = async () => {
  const browser = await start(tools);
  try {
    const context = await browser.newContext({
      viewport: { width: 1200, height: 900 },
      colorScheme: "light",
    });
    const view = await context.newPage();
    await view.goto(pathToFileURL(page).href);
    const height = await view.evaluate(() => {
      for (const time of document.querySelectorAll("time")) {
        time.textContent = time.textContent.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d/, "2026-03-02 09:30");
      }
      for (const took of document.querySelectorAll("#table tbody td:nth-child(7)")) {
        took.textContent = "";
      }
      return document.querySelector("#quests").getBoundingClientRect().bottom;
    });
    const clip = { x: 0, y: 0, width: 1200, height: Math.ceil(height) + 24 };
    await view.screenshot({ path: join(to, "page.png"), fullPage: true, clip });
  } finally {
    await browser.close();
  }
};

// The numbers of ANSI colours, and what a terminal with a dark background shows for them.
const COLOURS = {
  31: "#f0857f",
  32: "#57c796",
  33: "#e7b453",
  34: "#86abff",
  35: "#d7a6ff",
  36: "#6fd3df",
  90: "#8b93a1",
};
const [WIDTH, LINE, EDGE] = [8.4, 20, 20];

// The parts of a line that look the same, each with its place in the line.
const parts = (line) => {
  const found = [];
  let [at, colour, bold, faint] = [0, null, false, false];
  for (const piece of line.split(/(\x1b\[[\d;]*m)/)) {
    const codes = piece.match(/^\x1b\[([\d;]*)m$/);
    if (!codes) {
      // A picture shows one space where there are several.
      for (const { 0: text, index } of piece.matchAll(/\S+(?: \S+)*/g)) {
        found.push({ at: at + index, text, colour, bold, faint });
      }
      at += piece.length;
      continue;
    }
    for (const code of codes[1].split(";").map(Number)) {
      if (code === 0) [colour, bold, faint] = [null, false, false];
      else if (code === 1) bold = true;
      else if (code === 2) faint = true;
      else if (code === 22) [bold, faint] = [false, false];
      else if (code === 39) colour = null;
      else if (COLOURS[code]) colour = COLOURS[code];
    }
  }
  return found;
};

const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const drawTerminal = () => {
  const lines = readFileSync(screen, "utf8").trimEnd().split("\n");
  const drawn = lines.flatMap((line, row) =>
    parts(line).map(({ at, text, colour, bold, faint }) => {
      const x = EDGE + at * WIDTH;
      const y = EDGE + (row + 0.75) * LINE;
      const looks = [
        colour && `fill="${colour}"`,
        bold && 'font-weight="700"',
        faint && 'fill-opacity="0.65"',
      ];
      const width = (text.length * WIDTH).toFixed(1);
      const attributes = [`x="${x.toFixed(1)}" y="${y}" textLength="${width}"`, ...looks];
      return `<text ${attributes.filter(Boolean).join(" ")}>${escaped(text)}</text>`;
    }),
  );
  const columns = Math.max(...lines.map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, "").length));
  const width = Math.round(columns * WIDTH + 2 * EDGE);
  const height = lines.length * LINE + 2 * EDGE;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="comail in a terminal">`,
    `<rect width="100%" height="100%" rx="10" fill="#1a1d23"/>`,
    `<g fill="#e6e8ec" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...drawn,
    "</g>",
    "</svg>",
    "",
  ];
  writeFileSync(join(to, "terminal.svg"), svg.join("\n"));
};

drawTerminal();
await drawPage();
