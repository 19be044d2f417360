// Opens saved pages in a browser, and says of each address in them whether a reader sees it.
//
//     node addresses.mjs TOOLS LIST
//
// TOOLS holds node_modules; LIST is a file with the path of a page in each line. Prints a line of
// JSON for each page: its number in LIST, the made-up URL that it was opened at, and its addresses,
// each with whether it is painted as text, is in a link that can be clicked, or cannot be told from
// what was saved, whether the page is blank without a script, whether its pixels are on the screen,
// whether a reader has to open something to see it, all other places where it is, and what is around
// it. No request leaves the machine.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

import { bring, differ, fade, laidOut, look, nextControl, nextMenu } from "./seen.mjs";
import { start } from "./start.mjs";

const [tools, list] = process.argv.slice(2).map((path) => resolve(path));
const pages = readFileSync(list, "utf8").split("\n").filter(Boolean);

/** How many pages are open at the same time. */
const TABS = 4;
/** How long a page may take until it begins, in milliseconds. */
const PATIENCE = 20_000;
/** How long it may load then, in milliseconds, before it is looked at as it is. */
const LOADING = 5_000;
/** How long the timers of a page may run on once it is loaded, in milliseconds. */
const SETTLING = 300;

/** How often a reader points at a page, and clicks on it, to see an address that is hidden. */
const POINTS = 15;
const CLICKS = 60;
/** How long what opens may take, in milliseconds. */
const OPENING = 120;
/** How long a reader stays with one page at most, in milliseconds. */
const STAYING = 30_000;

// What stands for everything that a page asks for: nothing, but images have a size.
const IMAGE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="30"><rect width="120" height="30" fill="#777"/></svg>';
const empty = (kind) =>
  ({
    document: { contentType: "text/html", body: "" },
    image: { contentType: "image/svg+xml", body: IMAGE },
    script: { contentType: "text/javascript", body: "" },
    stylesheet: { contentType: "text/css", body: "" },
  })[kind] ?? { contentType: "text/plain", body: "" };

// Should a request ever pass by the routes, it finds no host. A browser that died is started again.
let browser;
const running = () => {
  browser = (browser ?? Promise.resolve()).then((before) =>
    before?.isConnected() ? before : start(tools, "--host-resolver-rules=MAP * ~NOTFOUND"),
  );
  return browser;
};

// A page that is opened beside this one may not have any yet.
const frameOf = (request) => {
  try {
    return request.frame();
  } catch {
    return null;
  }
};

// A tab of its own, in which one page is opened after the other.
const opened = async () => {
  const context = await (await running()).newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    serviceWorkers: "block",
  });
  const page = await context.newPage();
  // What a click opens beside the page is closed again.
  context.on("page", (other) => other.close().catch(() => {}));
  const session = await context.newCDPSession(page);
  const tab = { context, page, session, body: undefined };
  await context.route("**/*", (route) => {
    const request = route.request();
    const frame = frameOf(request);
    if (!frame || frame.page() !== page) return route.abort("aborted");
    const isPage = request.isNavigationRequest() && !frame.parentFrame();
    if (!isPage) return route.fulfill(empty(request.resourceType()));
    // A script that finds itself on another host may want to leave: the page stays.
    if (tab.body === undefined) return route.abort("aborted");
    const { body } = tab;
    tab.body = undefined;
    return route.fulfill({ contentType: "text/html", body });
  });
  return tab;
};

// The page's own scripts may have changed what globals do: this runs in a world of its own.
const asked = async ({ session }, question) => {
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
  });
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: question,
    contextId: executionContextId,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
  return result.value;
};

// Each has an origin of its own, and so no other's storage.
const address = (number) => `https://page-${number}.example.com/`;

const lookAt = (tab, source) => asked(tab, `(${look})(${source})`);

const visit = async (tab, number) => {
  const body = readFileSync(pages[number]);
  tab.body = body;
  await tab.page.goto(address(number), { timeout: PATIENCE, waitUntil: "commit" });
  await tab.page.waitForLoadState("load", { timeout: LOADING }).catch((why) => {
    // Some load for ever, and some stop as their script tries to leave.
    if (why.name !== "TimeoutError") throw why;
  });
  await tab.page.waitForTimeout(SETTLING);
  const source = JSON.stringify(body.toString("utf8"));
  const addresses = await lookAt(tab, source);
  return { source, addresses };
};

const isShown = (one) => (one.text || one.link) && one.painted;

// Does to the page what a reader does to see more of it, with a real pointer, as long as an address
// is hidden that opening may show: scrolls, points, and clicks. What appears is marked as opened.
const open = async (tab, source, addresses) => {
  const until = Date.now() + STAYING;
  const hides = (one) => !isShown(one) && one.places.some((place) => place.startsWith("hidden"));
  const known = new Set(await asked(tab, `(${laidOut})()`));
  const isDone = async () => {
    if (!addresses.some(hides) || Date.now() > until) return true;
    await tab.page.waitForTimeout(OPENING);
    const now = await asked(tab, `(${laidOut})()`);
    if (now.every((words) => known.has(words))) return false;
    for (const words of now) known.add(words);
    for (const one of await lookAt(tab, source)) {
      const before = addresses.find(({ address }) => address === one.address);
      if ((before && isShown(before)) || !(one.text || one.link)) continue;
      one.painted = await isPainted(tab, one);
      // What a script has written only now was hidden in it.
      if (!before) addresses.push({ ...one, opened: true });
      else if (one.painted) {
        const { text, link, painted, around } = one;
        Object.assign(before, { text, link, painted, around, opened: true });
      }
    }
    return !addresses.some(hides);
  };
  const { mouse } = tab.page;
  if (await isDone()) return;
  for (let screens = 0; screens < 10; screens += 1) {
    await mouse.wheel(0, 800);
    await tab.page.waitForTimeout(OPENING);
  }
  for (let times = 0; times < POINTS && !(await isDone()); times += 1) {
    const place = await asked(tab, `(${nextMenu})()`);
    if (!place) break;
    await mouse.move(...place);
  }
  for (let times = 0; times < CLICKS && !(await isDone()); times += 1) {
    const place = await asked(tab, `(${nextControl})(false)`);
    if (!place) break;
    await mouse.move(...place);
    const now = await asked(tab, `(${nextControl})(true)`);
    if (now) await mouse.click(...now);
  }
  await isDone();
};

// Whether the screen shows one of these elements. Without any, nothing can be compared.
const isPainted = async (tab, { address, marks }) => {
  const picture = async () => (await tab.session.send("Page.captureScreenshot")).data;
  for (const mark of marks) {
    const boxes = await asked(tab, `(${bring})(${mark}, ${JSON.stringify(address)})`);
    const before = await picture();
    await asked(tab, `(${fade})(${mark}, 0)`);
    const after = await picture();
    await asked(tab, `(${fade})(${mark}, 1)`);
    if (await (await blank()).evaluate(differ, [before, after, boxes])) return true;
  }
  return marks.length === 0;
};

// A page of its own, in which pictures are compared.
let comparing;
const blank = async () => {
  if (!comparing || comparing.isClosed()) comparing = await (await running()).newPage();
  return comparing;
};

const withinTime = (work) => {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error("it does not answer")), 2 * PATIENCE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

/** How often a page is opened that cannot be looked at. */
const TRIES = 3;

let next = 0;
const work = async () => {
  let tab;
  while (next < pages.length) {
    const number = next++;
    let told;
    for (let tries = 0; tries < TRIES && !told?.addresses; tries += 1) {
      told = undefined;
      try {
        tab ??= await opened();
        const { source, addresses } = await withinTime(visit(tab, number));
        for (const one of addresses) one.painted = await withinTime(isPainted(tab, one));
        told = { addresses };
        await withinTime(open(tab, source, addresses));
      } catch (why) {
        // A page may hang when it is clicked: then it is as it was seen before.
        told ??= { failed: String(why) };
        tab?.context.close().catch(() => {});
        tab = undefined;
      }
    }
    const page = { page: number, url: address(number), ...told };
    process.stdout.write(`${JSON.stringify(page)}\n`);
  }
};
try {
  await Promise.all(Array.from({ length: TABS }, work));
} finally {
  await (await browser)?.close();
}
