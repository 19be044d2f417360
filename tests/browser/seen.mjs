// What a reader of an open page sees of the addresses in it.

// Sent to the page as text: it uses nothing from outside. `source` is the text of its HTML.
export const look = (source) => {
  const ADDRESS =
    /(?<![\p{Script=Latin}\p{N}._+'-])[a-z0-9](?:[a-z0-9._+'-]*[a-z0-9_+-])?@[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+/giu;
  const UNSEEN = { text: false, link: false, unclear: false };
  const found = new Map();
  const put = (address, place, around) => {
    const key = address.toLowerCase().replace(/[.-]+$/, "");
    const known = found.get(key) ?? { address: key, ...UNSEEN, blank, places: [] };
    found.set(key, known);
    if (place in UNSEEN) known[place] = true;
    else if (!known.places.includes(place)) known.places.push(place);
    known.around ??= around.replace(/\s+/g, " ").trim();
  };
  const scan = (raw, place, prefix = "") => {
    if (!raw.includes("@")) return;
    const text = raw.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
    for (const { 0: address, index } of text.matchAll(ADDRESS)) {
      const around = text.slice(Math.max(0, index - 60), index + address.length + 40);
      // Part of a URL that can be read is no address that can be written to.
      const isOfUrl = place === "text" && /:\/\/\S*$/.test(text.slice(Math.max(0, index - 300), index));
      put(address, isOfUrl ? "URL in the text" : place, prefix + around);
    }
  };
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return unescape(text);
    }
  };

  // Some pages are blank until a script that is not there shows them.
  const blank = ![document.documentElement, document.body].every(
    (element) => element?.checkVisibility({ opacityProperty: true, visibilityProperty: true }),
  );
  for (const element of [document.documentElement, document.body]) {
    const shown = { opacity: "1", visibility: "visible", animation: "none", transition: "none" };
    if (element && getComputedStyle(element).display === "none") shown.display = "block";
    for (const [name, value] of Object.entries(shown)) {
      element?.style.setProperty(name, value, "important");
    }
  }
  // A click opens these.
  for (const details of document.querySelectorAll("details")) details.open = true;

  // The part of a box that can be seen: on the page, and inside what cuts it off.
  const wide = document.scrollingElement ?? document.documentElement;
  const seen = (box, element) => {
    let [left, top] = [box.left + scrollX, box.top + scrollY];
    let [right, bottom] = [box.right + scrollX, box.bottom + scrollY];
    const cut = (l, t, r, b) => {
      [left, top] = [Math.max(left, l), Math.max(top, t)];
      [right, bottom] = [Math.min(right, r), Math.min(bottom, b)];
    };
    cut(0, 0, wide.scrollWidth, Math.max(wide.scrollHeight, document.body?.scrollHeight ?? 0));
    for (let it = element; it && it !== document.body; it = it.parentElement) {
      const style = getComputedStyle(it);
      if (["hidden", "clip"].includes(style.overflowX) || style.clip !== "auto") {
        const place = it.getBoundingClientRect();
        cut(place.left + scrollX, place.top + scrollY, place.right + scrollX, place.bottom + scrollY);
      }
      if (style.position === "fixed") break;
    }
    return right - left >= 2 && bottom - top >= 4;
  };
  const shows = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const isPainted = (element, boxes) =>
    shows(element) && [...boxes].some((box) => seen(box, element));
  const opaque = (element) => {
    const alpha = getComputedStyle(element).color.match(/[,/]\s*([\d.]+)\)$/u);
    return !getComputedStyle(element).color.startsWith("rgba") || Number(alpha?.[1] ?? 1) > 0;
  };

  // The page's text as it is painted, a line for each block, and what of it is not painted.
  const lines = { text: "", hidden: "" };
  const NEVER = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "TEXTAREA", "OPTION", "IFRAME"]);
  let last;
  const write = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = range.getClientRects();
    const parent = node.parentElement;
    const text = node.data;
    if (!boxes.length) lines.hidden += `${text}\n`;
    else if (isPainted(parent, boxes) && opaque(parent)) {
      // Words that stand apart are two words, whatever joins them in the tree.
      const first = boxes[0];
      if (last && (first.left - last.right > 1 || first.top >= last.bottom)) lines.text += " ";
      lines.text += text;
      last = boxes[boxes.length - 1];
    } else lines.hidden += `${text}\n`;
  };
  const part = () => {
    lines.text += "\n";
    lines.hidden += "\n";
    last = undefined;
  };
  const walk = (element) => {
    if (NEVER.has(element.tagName)) return;
    // What is not laid out parts no words.
    const { display } = getComputedStyle(element);
    const parts = element.tagName === "BR" || !["inline", "contents", "none"].includes(display);
    // The words of a link to an address are words of their own.
    const mailto = element.tagName === "A" && /^\s*mailto:/i.test(element.getAttribute("href"));
    if (parts) part();
    else if (mailto) lines.text += " ";
    for (const node of (element.shadowRoot ?? element).childNodes) {
      if (node.nodeType === Node.TEXT_NODE) write(node);
      else if (node.nodeType === Node.ELEMENT_NODE) walk(node);
    }
    if (parts) part();
    else if (mailto) lines.text += " ";
  };
  if (document.body) walk(document.body);
  scan(lines.text, "text");
  scan(lines.hidden, "hidden text");

  // Links that can be clicked, those that cannot, and those without words and pictures, for which a
  // style sheet that is not there may have drawn an icon.
  const PICTURES = "img, svg, picture, canvas, video, object, input, button";
  for (const link of document.querySelectorAll("a[href], area[href]")) {
    const href = link.getAttribute("href").trim();
    if (!/^mailto:/i.test(href)) continue;
    const parts = [link, ...link.querySelectorAll("*")];
    const isSeen =
      link.tagName === "AREA" || parts.some((it) => isPainted(it, it.getClientRects()));
    // An SVG may be drawn by a file that is not there.
    const draws = (it) => !(it instanceof SVGSVGElement) || it.getBBox().width > 0;
    const isBare = !link.textContent.trim() && ![...link.querySelectorAll(PICTURES)].some(draws);
    const isIcon = link.tagName !== "AREA" && isBare && parts.every(shows);
    const html = link.outerHTML.slice(0, 200);
    const addressees = decoded(href.slice("mailto:".length).split("?")[0]);
    scan(addressees, isIcon ? "unclear" : isSeen ? "link" : "hidden link", `${html} | `);
  }

  // Cloudflare's scripts decode these.
  const PROTECTED = "/cdn-cgi/l/email-protection#";
  for (const element of document.querySelectorAll(`[data-cfemail], [href*='${PROTECTED}']`)) {
    const code = element.dataset.cfemail ?? element.getAttribute("href").split(PROTECTED)[1];
    const [key, ...bytes] = (code.match(/../g) ?? []).map((it) => parseInt(it, 16));
    scan(String.fromCharCode(...bytes.map((byte) => byte ^ key)), "protected", element.outerHTML);
  }

  // All that the source and the rendered page hold, whether or not it is shown.
  const gather = (root) => {
    const nodes = document.createNodeIterator(root, NodeFilter.SHOW_ALL);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (node.nodeType === Node.COMMENT_NODE) scan(node.data, "comment");
      if (node.nodeType === Node.TEXT_NODE) {
        const parent = node.parentElement;
        const type = parent?.getAttribute("type") ?? "";
        const place = {
          SCRIPT: type.includes("ld+json") ? "JSON-LD" : "script",
          STYLE: "style",
          NOSCRIPT: "noscript",
          TEXTAREA: "form",
          OPTION: "form",
        }[parent?.tagName];
        scan(node.data, place ?? "tree");
        if (place === "JSON-LD" || place === "script") {
          scan(node.data.replace(/\\u0040|&#0?64;|&#x40;|%40/gi, "@"), place);
        }
      }
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      if (node.content instanceof DocumentFragment) gather(node.content);
      for (const { name, value } of node.attributes) {
        const isProperty = name === "content" && /\bemail\b/.test(node.getAttribute("itemprop"));
        const place = isProperty ? "microdata" : `attribute ${name}`;
        const before = `<${node.localName}> `;
        scan(value, place, before);
        if (value.includes("%40")) scan(decoded(value), place, before);
      }
    }
  };
  gather(document);
  gather(new DOMParser().parseFromString(source, "text/html"));
  // The elements that hold each address are marked with a number, so that their pixels can be compared.
  const holders = (address) => {
    const includes = (text) => text.toLowerCase().replace(/\p{Default_Ignorable_Code_Point}/gu, "").includes(address);
    const links = [...document.querySelectorAll("a[href]")].filter((it) => includes(decoded(it.getAttribute("href"))));
    const nodes = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    const around = [];
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (!node.data.includes("@") || NEVER.has(node.parentElement.tagName)) continue;
      let element = node.parentElement;
      for (let steps = 0; steps < 4 && element && !includes(element.textContent); steps++) element = element.parentElement;
      if (element && includes(element.textContent)) around.push(element);
    }
    return [...new Set([...links, ...around])].filter(shows).slice(0, 8);
  };
  for (const element of document.querySelectorAll("[data-looked]")) delete element.dataset.looked;
  let marks = 0;
  for (const one of found.values()) {
    one.marks = one.text || one.link ? holders(one.address).map((element) => {
      if (!element.dataset.looked) element.dataset.looked = ++marks;
      return Number(element.dataset.looked);
    }) : [];
  }

  // A page that is left at once, or is blank without a script that is not there, shows nothing here.
  const all = [...found.values()];
  if (!lines.text.trim()) for (const address of all) address.unclear = true;
  return all;
};

// The texts and links with an address that are laid out and not hidden: when there is a new one, the
// page is worth another look.
export const laidOut = () => {
  const shows = (element) =>
    element.getClientRects().length > 0 &&
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  const holders = [...document.querySelectorAll("a[href^='mailto:' i]")].map((it) => [it.href, it]);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (text.data.includes("@")) holders.push([text.data, text.parentElement]);
  }
  const place = ({ left, top, right, bottom }) =>
    right + scrollX > 0 && bottom + scrollY > 0 && right - left >= 2 && bottom - top >= 4;
  const seen = holders.filter(([, it]) => shows(it) && place(it.getBoundingClientRect()));
  return seen.map(([words]) => words);
};

// Where the pointer may open what hides an address: on the boxes around it that are on the page,
// the innermost first, up to the item of a list. Each is given once, and then nothing.
export const nextMenu = () => {
  const shows = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width >= 2 && height >= 4 && element.checkVisibility({ visibilityProperty: true });
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const hidden = [...document.body.querySelectorAll("a[href^='mailto:' i]")];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const holder = text.parentElement;
    if (text.data.includes("@") && !["SCRIPT", "STYLE", "NOSCRIPT"].includes(holder.tagName)) hidden.push(holder);
  }
  for (const holder of hidden) {
    if (holder.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    for (let it = holder; it && it !== document.body; it = it.parentElement) {
      if (!shows(it)) continue;
      if (!("pointed" in it.dataset)) {
        it.dataset.pointed = "";
        it.scrollIntoView({ block: "center", behavior: "instant" });
        const { left, top, width, height } = it.getBoundingClientRect();
        return [left + Math.min(width / 2, 40), top + Math.min(height / 2, 40)];
      }
      if (it.matches("li")) break;
    }
  }
  return null;
};

// Where the next control is that a reader can click to see more of the page, if there is one: each
// is given once, those first that name what holds a hidden address. If it `stays`, the last one is
// given again: the page may have moved under the pointer.
export const nextControl = (stays) => {
  const OPENERS =
    "summary, button, [role='button'], [role='tab'], [aria-controls], [aria-expanded], [aria-haspopup]," +
    "[data-toggle], [data-bs-toggle], [data-target], label[for], a[href^='#'], a[href^='javascript:' i], a:not([href])";
  const NAMES = ["aria-controls", "data-target", "data-bs-target", "for", "href"];
  const named = (control) =>
    NAMES.map((name) => control.getAttribute(name) ?? "")
      .map((value) => document.getElementById(value.replace(/^#/, "")))
      .some((part) => part && /@|mailto:/i.test(part.innerHTML));
  const says = (control) => control.matches("summary, [aria-controls], [aria-expanded], [aria-haspopup], [data-toggle], [data-bs-toggle], [role='tab']");
  const rank = (control) => (named(control) ? 0 : says(control) ? 1 : 2);
  const waiting = stays
    ? [...document.querySelectorAll("[data-clicked=last]")]
    : [...document.querySelectorAll(OPENERS)].filter((it) => !("clicked" in it.dataset) && it.checkVisibility());
  if (!stays) waiting.sort((a, b) => rank(a) - rank(b));
  for (const control of waiting) {
    for (const last of document.querySelectorAll("[data-clicked=last]")) last.dataset.clicked = "";
    control.dataset.clicked = "last";
    control.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    for (const { left, top, width, height } of control.getClientRects()) {
      const [x, y] = [left + width / 2, top + height / 2];
      const hit = width >= 2 && height >= 2 && document.elementFromPoint(x, y);
      if (hit && (control.contains(hit) || hit.shadowRoot?.contains(control))) return [x, y];
    }
  }
  return null;
};

// Scrolls to a marked element, and tells where an address is in it, or all that it holds.
export const bring = (mark, address) => {
  const element = document.querySelector(`[data-looked="${mark}"]`);
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const ranges = [];
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    const at = node.data.toLowerCase().indexOf(address);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + address.length);
    ranges.push(range);
  }
  const parts = ranges.length ? ranges : [element, ...element.querySelectorAll("*")];
  return parts.flatMap((it) =>
    [...it.getClientRects()].map(({ left, top, width, height }) => [left, top, width, height]),
  );
};

// Takes a marked element off the screen, and back.
export const fade = (mark, opacity) => {
  const { style } = document.querySelector(`[data-looked="${mark}"]`);
  for (const [name, value] of [["transition", "none"], ["animation", "none"], ["opacity", opacity]]) {
    style.setProperty(name, value, "important");
  }
};

// Whether two pictures differ in one of these boxes, with a contrast of at least 1.5 (WCAG 2.2).
export const differ = async ([one, other, boxes]) => {
  const pixels = async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = await Promise.all([one, other].map(pixels));
  const light = (data, at) => {
    const part = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = [0, 1, 2].map((of) => part(data[at + of] / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  for (const [left, top, width, height] of boxes) {
    for (let y = Math.max(0, Math.floor(top)); y < Math.min(a.height, top + height); y++) {
      for (let x = Math.max(0, Math.floor(left)); x < Math.min(a.width, left + width); x++) {
        const at = 4 * (y * a.width + x);
        const [p, q] = [light(a.data, at), light(b.data, at)];
        if (Math.max(p, q) / Math.min(p, q) >= 1.5) return true;
      }
    }
  }
  return false;
};
