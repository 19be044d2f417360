// Looks at pages in a browser and says as JSON what it saw; what is right is for the test to say.
//
//     node look.mjs TOOLS PAGES
//
// TOOLS holds node_modules; PAGES holds rich.html and large.html, and gets the pictures
// taken, if COMAIL_PICTURES is set.

import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { audited, controlled } from "./audit.mjs";
import { packages, start } from "./start.mjs";
import { filtered, many, opened, printed, scriptless, sorted } from "./use.mjs";

const [tools, pages] = process.argv.slice(2).map((path) => resolve(path));
const axe = packages(tools)("axe-core").source;
const address = (name) => pathToFileURL(join(pages, name)).href;
// Pictures are for people, and take longer than all else.
const wanted = process.env.COMAIL_PICTURES;
const picture = (name) => (wanted ? join(pages, `${name}.png`) : undefined);

const browser = await start(tools);

// Opens a page in a context of its own, and notes all that it asks for and complains of.
const visit = async (name, options, look) => {
  const context = await browser.newContext(options);
  const noted = { requests: [], errors: [] };
  context.on("request", (request) => noted.requests.push(request.url()));
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) noted.errors.push(message.text());
  });
  page.on("pageerror", (error) => noted.errors.push(String(error)));
  await page.goto(address(name));
  const seen = await look(page, noted);
  await context.close();
  noted.requests = noted.requests.filter((url) => url !== address(name));
  return { ...noted, ...seen };
};

const wide = { viewport: { width: 1280, height: 900 } };
const narrow = { viewport: { width: 360, height: 740 }, hasTouch: true };
const looks = { audits: {} };
try {
  for (const colorScheme of ["light", "dark"]) {
    for (const [width, options] of Object.entries({ wide, narrow })) {
      const name = `${colorScheme}-${width}`;
      const look = (page) => audited(page, axe, picture(name));
      looks.audits[name] = await visit("rich.html", { ...options, colorScheme }, look);
    }
  }
  looks.sorted = await visit("rich.html", wide, sorted);
  looks.filtered = await visit("rich.html", wide, filtered);
  looks.opened = await visit("rich.html", wide, opened);
  const bare = { ...wide, javaScriptEnabled: false };
  looks.scriptless = await visit("rich.html", bare, scriptless);
  looks.printed = await visit("rich.html", wide, (page) => printed(page, picture("print")));
  looks.empty = await visit("empty.html", narrow, (page) => audited(page, axe, picture("empty")));
  looks.many = await visit("large.html", wide, many);
  looks.control = await visit("rich.html", wide, (page) => controlled(page, axe));
} finally {
  await browser.close();
}
process.stdout.write(`${JSON.stringify(looks, null, 1)}\n`);
