// What an auditor of accessibility finds, and whether the page fits its width.

// Opens what is closed where it stands for others of its kind, so that it is looked at too.
const open = (page) =>
  page.evaluate(() => {
    const rows = [...document.querySelectorAll("#table tbody details")].slice(6, 9);
    for (const details of [...document.querySelectorAll(".numbers"), ...rows]) details.open = true;
  });

const findings = async (page, axe) => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations.map(({ id, impact, nodes }) => ({
    id,
    impact,
    where: nodes.slice(0, 3).map((node) => node.target.join(" ")),
  }));
};

// Tables and what is in them that are broader than their place: nothing shows that they go on.
const cut = (page) =>
  page.$$eval("main .card > *, main table, main caption, main td, main th", (all) => {
    const broader = all.filter((it) => {
      const goesOn = getComputedStyle(it).overflowX === "visible" || it.matches(".scroll");
      return goesOn && it.clientWidth > 0 && it.scrollWidth > it.clientWidth + 1;
    });
    return broader.map((it) => `${it.localName}.${it.className}: ${it.textContent.slice(0, 40)}`);
  });

// Answers that are broken although the whole of one, or each part of it, fits into a line.
const broken = (page) =>
  page.$$eval("#table .part", (parts) =>
    parts
      .filter((part) => {
        const text = document.createRange();
        text.selectNodeContents(part);
        const lines = new Set([...text.getClientRects()].map((line) => Math.round(line.top)));
        if (lines.size < 2) return false;
        const room = part.parentElement.clientWidth;
        part.style.whiteSpace = "nowrap";
        part.style.maxWidth = "none";
        const fits = text.getBoundingClientRect().width <= room;
        part.style.whiteSpace = part.style.maxWidth = "";
        return fits;
      })
      .map((part) => part.textContent),
  );

// How many quests a picture of the whole page would show without their rows.
const unseen = (page) =>
  page.$$eval("#table tbody th", (names) =>
    names.filter((name) => !name.checkVisibility({ contentVisibilityAuto: true })).length,
  );

export const audited = async (page, axe, path) => {
  await open(page);
  if (path) await page.screenshot({ path, fullPage: true });
  const sideways = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
  return { sideways, cut: await cut(page), broken: await broken(page), unseen: await unseen(page), findings: await findings(page, axe) };
};

// A page that does what ours must not: each of the checks has to say so.
export const controlled = async (page, axe) => {
  await page.evaluate(async () => {
    const violated = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      violated.push(event.effectiveDirective);
    });
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = true";
    const image = document.createElement("img");
    image.src = "missing.png";
    const broad = document.createElement("canvas");
    broad.width = 3000;
    document.body.append(script, image, broad, document.createElement("button"));
    document.body.setAttribute("style", "color: #eee");
    while (violated.length < 3) await new Promise((done) => setTimeout(done, 5));
    globalThis.violated = violated;
  });
  const { scrollWidth, ran, violated } = await page.evaluate(() => ({
    scrollWidth: document.documentElement.scrollWidth,
    ran: globalThis.ran ?? false,
    violated: globalThis.violated,
  }));
  await page.evaluate(() => console.error("a complaint"));
  const width = page.viewportSize().width;
  await page.$$eval("#table .part", (parts) => {
    for (const part of parts) part.style.maxWidth = "3rem";
  });
  const all = await findings(page, axe);
  return { sideways: scrollWidth - width, ran, violated: violated.sort(), findings: all, broken: await broken(page) };
};
