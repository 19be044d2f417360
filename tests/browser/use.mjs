// What people do with the table of quests.
//
// What is far away is laid out when it comes near, and moves under a pointer that waits for it: so
// keys are pressed, and clicks are told to what they are meant for.

const ROWS = "#table tbody";

// The quests that are shown, in order: the text of one column each.
const column = (page, index) =>
  page.$$eval(
    ROWS,
    (bodies, at) =>
      bodies.filter((body) => !body.hidden).map((body) => body.rows[0].cells[at].textContent.trim()),
    index,
  );

const states = (page) =>
  page.$$eval(ROWS, (bodies) => [
    ...new Set(bodies.filter((body) => !body.hidden).map((body) => body.dataset.state)),
  ]);

const RULE = "Rule, whenever it fired";

const head = (page, index) => page.locator(`#table thead th:nth-child(${index + 1})`);

const sortedBy = async (page, index, go) => {
  await go(head(page, index).getByRole("button"));
  return {
    aria: await page.$$eval("#table thead th", (heads) =>
      heads.map((it) => it.getAttribute("aria-sort")),
    ),
    column: await column(page, index),
  };
};

export const sorted = async (page) => {
  const click = (button) => button.dispatchEvent("click");
  const enter = (button) => button.press("Enter");
  return {
    before: await column(page, 0),
    names: await sortedBy(page, 1, click),
    back: await sortedBy(page, 1, enter),
    states: await sortedBy(page, 2, click),
    answers: await sortedBy(page, 3, click),
    tries: await sortedBy(page, 5, click),
    times: await sortedBy(page, 6, click),
    last: await sortedBy(page, 7, click),
    again: await sortedBy(page, 0, click),
  };
};

const found = (page) => page.locator("#found").textContent();

// Waits until what was typed or chosen has been heeded: the count of quests changes with it.
const after = async (page, act) => {
  const before = await found(page);
  await act();
  await page.waitForFunction(
    (was) => document.getElementById("found").textContent !== was,
    before,
  );
  return { found: await found(page), names: await column(page, 1), states: await states(page) };
};

export const filtered = async (page) => {
  const type = (text) => after(page, () => page.getByLabel("Search").fill(text));
  const search = async (text) => {
    const seen = await type(text);
    await type("");
    return seen;
  };
  const choose = (label, value) => after(page, () => page.getByLabel(label, { exact: true }).selectOption(value));
  const clear = () => after(page, () => page.getByRole("button", { name: "Clear" }).press("Enter"));
  return {
    done: await choose("State", "DONE"),
    rule: await choose(RULE, "email-obfuscated"),
    cleared: await clear(),
    earlier: await choose(RULE, "mx-missing"),
    both: await choose("State", "DONE"),
    again: await clear(),
    made_up: await search("info@company-8.example"),
    markup: await search("<script>"),
    korean: await search("한빛"),
    evidence: await search("SEOUL  contact"),
    nothing: await type("no such thing anywhere"),
    told: await page.locator("#none").isVisible(),
  };
};

export const opened = async (page) => {
  const first = page.locator(ROWS).first();
  const inside = first.locator(".inside");
  const before = await inside.isVisible();
  await first.locator("summary").focus();
  await page.keyboard.press("Enter");
  const byKey = await inside.isVisible();
  const marked = await first.locator("mark").allTextContents();
  const numbered = await first.locator(".excerpt").first().getAttribute("start");
  await first.locator("th").dispatchEvent("click");
  return { before, byKey, marked, numbered, byClick: await inside.isVisible() };
};

export const scriptless = async (page) => {
  const first = page.locator(ROWS).first();
  await first.locator("summary").press("Enter");
  return {
    names: await column(page, 1),
    controls: await page.locator("#controls").isVisible(),
    buttons: await page.locator("button:visible").count(),
    open: await first.locator(".inside").isVisible(),
    charts: await page.locator("svg[role=img]:visible").count(),
  };
};

export const printed = async (page, path) => {
  await page.emulateMedia({ media: "print" });
  if (path) await page.screenshot({ path, fullPage: true });
  return {
    controls: await page.locator("#controls").isVisible(),
    rows: await page.locator(`${ROWS} th`).evaluateAll(
      (names) => names.filter((name) => name.checkVisibility({ contentVisibilityAuto: true })).length,
    ),
  };
};

// All of it within the page: to find one element, locators look at all half a million.
export const many = (page) =>
  page.evaluate(async () => {
    const find = (selector) => document.querySelector(selector);
    const frame = () => new Promise(requestAnimationFrame);
    const until = async (holds) => {
      while (!holds()) await frame();
    };
    const rows = () => [...find("#table").tBodies].filter((row) => !row.hidden);
    const isNear = (row) => row.rows[0].cells[1].checkVisibility({ contentVisibilityAuto: true });
    const type = async (text, count) => {
      find("#search").value = text;
      find("#search").dispatchEvent(new Event("input"));
      await until(() => rows().length === count);
    };
    const all = rows();
    find("#found").scrollIntoView({ behavior: "instant" });
    await until(() => isNear(all[0]));
    const laidOut = [isNear(all[0]), isNear(all.at(-1))];
    await type("company 9876 ", 1);
    const one = rows().map((row) => row.rows[0].cells[1].textContent);
    const found = find("#found").textContent;
    await type("", all.length);
    find("#table thead th:nth-child(7) button").click();
    const times = rows().map((row) => Number(row.rows[0].cells[6].dataset.v ?? 1e9));
    return { laidOut, one, found, times, said: find("#quests .word").textContent };
  });
