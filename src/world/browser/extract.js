// Runs in an isolated world of each frame: it sees the page's elements, and the page's scripts do
// not see it. It keeps which text was painted at any time, and hands the page back as a document of
// what a reader sees, in the form that `page/rendered.rs` reads.
(() => {
  const MAX_NODES = 300000, MAX_HIDDEN = 500, MAX_TOKENS = 300, MAX_CHARS = 100;
  const MAX_PARTS = 3000, MAX_PIECES = 60, MAX_DRAWN = 5000, MAX_LETTERS = 400;
  // The least height of a text, in pixels, the least room of a letter, in square pixels, and the
  // least share of opacity, that a reader can see.
  const MIN_HEIGHT = 6, MIN_ROOM = 12, MIN_OPACITY = 0.1;
  // As wide as a narrow space, in letters' heights.
  const GAP = 0.2;
  const AT = /[@\uFF20\uFE6B]/;
  // What reads on into an address.
  const WORD = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}@._+-]/u;
  const EVERYWHERE = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  // What is known of a character: nothing, that it is on the screen, that it is of an address that
  // is not.
  const UNKNOWN = 0, SEEN = 1, UNSEEN = 2;
  // Links that are on the screen, addresses that something touches, and what texts said when they
  // were measured, with a mark for each character.
  const clickable = new WeakSet(), touched = new WeakSet(), measured = new WeakMap();
  // What texts said when they last waited to be measured.
  const tried = new WeakMap();
  let states = new Map(), tokens = [], way = '', counted = 0, lines = [];

  const root = () => document.documentElement;
  const above = (el) => el.assignedSlot || el.parentElement
    || (el.parentNode instanceof ShadowRoot ? el.parentNode.host : null);
  // None if the page took the text away.
  const holderOf = (text) => text.parentElement ?? text.parentNode?.host ?? null;
  const cut = (a, b) => ({
    left: Math.max(a.left, b.left), top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom),
  });
  const clipsNothing = (text) => text === 'visible' || text === 'auto' || text === 'scroll';
  const isFlat = (rect) => rect.right - rect.left < 2 || rect.bottom - rect.top < 2;

  // What the elements around an element do to it: whether they show it, and where they cut it off.
  function stateOf(el) {
    const known = states.get(el);
    if (known) return known;
    const parent = above(el);
    const around = parent ? stateOf(parent)
      : { shown: true, opacity: 1, flow: EVERYWHERE, anchored: EVERYWHERE, fixed: false, struck: false, scroll: null };
    const style = getComputedStyle(el);
    const apart = style.position === 'absolute' || style.position === 'fixed';
    const fixed = around.fixed || style.position === 'fixed';
    let flow = style.position === 'fixed' ? EVERYWHERE : apart ? around.anchored : around.flow;
    const anchored = style.position === 'fixed' ? EVERYWHERE : around.anchored;
    const drawn = style.display !== 'contents' && style.display !== 'inline';
    const rect = drawn ? el.getBoundingClientRect() : null;
    const isPage = el === root() || el === document.body;
    let scroll = style.position === 'fixed' ? null : around.scroll;
    if (rect && !isPage && /auto|scroll/.test(style.overflowX + style.overflowY)) {
      // What is in it can be scrolled to, if a reader can see the box itself.
      scroll = { el, outer: { flow, fixed, scroll } };
      flow = EVERYWHERE;
    } else if (rect && !isPage && !(clipsNothing(style.overflowX) && clipsNothing(style.overflowY))) {
      flow = cut(flow, rect);
    }
    // Closed details keep the boxes of their text.
    let shown = around.shown && (style.display === 'contents' || el.checkVisibility())
      && style.contentVisibility !== 'hidden' && !isFlat(flow);
    const clip = /^rect\((.*)\)$/.exec(style.clip);
    if (clip && apart) {
      const [top, right, bottom, left] = clip[1].split(/[ ,]+/).map(parseFloat);
      shown = shown && !(right - left < 2 || bottom - top < 2);
    }
    shown = shown && !/^(inset\((5\d|[6-9]\d|100)(\.\d+)?%|(circle|ellipse)\(0)/.test(style.clipPath);
    const holds = style.position !== 'static' || style.transform !== 'none' || style.filter !== 'none';
    const breaks = apart || style.display === 'inline-block' || style.float !== 'none';
    const state = {
      shown, fixed, style, flow, scroll,
      opacity: around.opacity * parseFloat(style.opacity || '1'),
      anchored: holds ? flow : anchored,
      struck: (around.struck && !breaks) || style.textDecorationLine.includes('line-through')
        || el.localName === 'del' || el.localName === 's' || el.localName === 'strike',
    };
    states.set(el, state);
    return state;
  }

  function reaches(rect, state) {
    const page = root(), body = document.body;
    const at = cut(rect, state.flow);
    if (at.right <= at.left || at.bottom <= at.top) return false;
    if (state.scroll) {
      const { el, outer } = state.scroll;
      const box = el.getBoundingClientRect();
      const left = at.left - box.left + el.scrollLeft, top = at.top - box.top + el.scrollTop;
      const right = left + at.right - at.left, bottom = top + at.bottom - at.top;
      return right > 0 && bottom > 0 && left < el.scrollWidth && top < el.scrollHeight
        && box.width >= 2 && box.height >= MIN_HEIGHT && reaches(box, outer);
    }
    const rtl = getComputedStyle(page).direction === 'rtl';
    const shut = [page, body].some((el) => el && /hidden|clip/.test(getComputedStyle(el).overflowX));
    if (state.fixed) {
      return at.right > 0 && at.bottom > 0 && at.left < innerWidth && at.top < innerHeight;
    }
    const right = at.right + scrollX, left = at.left + scrollX;
    if (at.bottom + scrollY <= 0 || at.top + scrollY >= page.scrollHeight) return false;
    if (!rtl && right <= 0) return false;
    return left < (shut ? innerWidth : Math.max(page.scrollWidth, innerWidth))
      && (!rtl || right > -page.scrollWidth);
  }

  function isClear(color) {
    const alpha = /^rgba\(.*, *([\d.]+)\)$|\/ *([\d.]+)\)$/.exec(color);
    return alpha !== null && parseFloat(alpha[1] ?? alpha[2]) < MIN_OPACITY;
  }

  function isShown(state) {
    return state.shown && state.opacity >= MIN_OPACITY
      && state.style.visibility === 'visible';
  }

  function rectsOf(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getClientRects();
  }

  function sees(text) {
    const parent = text.parentNode instanceof ShadowRoot ? text.parentNode.host : text.parentElement;
    if (!parent || !/\S/.test(text.data)) return false;
    const state = stateOf(parent);
    if (!isShown(state)) return false;
    const { webkitTextFillColor: fill, webkitBackgroundClip: clip } = state.style;
    if (isClear(fill) && clip !== 'text') return false;
    if ((state.style.webkitTextSecurity ?? 'none') !== 'none') return false;
    const rects = [...rectsOf(text)];
    const room = rects.reduce((sum, rect) => sum + rect.width * rect.height, 0);
    if (room < MIN_ROOM * text.data.replace(/\s/g, '').length) return false;
    return rects.some((rect) => rect.width > 0 && rect.height >= MIN_HEIGHT && reaches(rect, state));
  }

  // What is known of the text as it is now.
  function marksOf(text) {
    const known = measured.get(text);
    if (known?.data === text.data) return known.marks;
    const marks = new Uint8Array(text.data.length);
    measured.set(text, { data: text.data, marks });
    return marks;
  }

  const isPainted = (text) => marksOf(text).includes(SEEN) && !marksOf(text).includes(UNSEEN);

  function seesBox(el) {
    const state = stateOf(el);
    const rect = el.getBoundingClientRect();
    return isShown(state) && rect.width >= 2 && rect.height >= 2 && reaches(rect, state);
  }

  // Whether a click in the middle of the element, or of a part of it, reaches it.
  function isHit(el) {
    if (!seesBox(el)) return false;
    el.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    for (const rect of el.getClientRects()) {
      let hit = document.elementFromPoint(rect.left + rect.width / 2, rect.top + rect.height / 2);
      while (hit?.shadowRoot?.elementFromPoint && hit !== el) {
        const inner = hit.shadowRoot.elementFromPoint(
          rect.left + rect.width / 2, rect.top + rect.height / 2);
        if (!inner || inner === hit) break;
        hit = inner;
      }
      for (let at = hit; at; at = above(at)) if (at === el) return true;
    }
    return false;
  }

  // The children that are laid out, those of an open shadow tree in place of the element's own.
  function childrenOf(node) {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.localName === 'slot' && node.assignedNodes) {
      const assigned = node.assignedNodes();
      if (assigned.length > 0) return assigned;
    }
    return node.childNodes;
  }

  function* texts(node) {
    const waiting = [node];
    while (waiting.length > 0) {
      const next = waiting.pop();
      if (++counted > MAX_NODES) throw new Error('too many nodes');
      if (next.nodeType === Node.TEXT_NODE) yield next;
      else if (next.nodeType === Node.ELEMENT_NODE && !UNREAD.has(next.localName)) {
        const children = childrenOf(next);
        for (let i = children.length - 1; i >= 0; i--) waiting.push(children[i]);
      }
    }
  }

  const UNREAD = new Set(['script', 'style', 'noscript', 'template', 'iframe', 'frame', 'textarea',
    'select', 'object', 'video', 'audio', 'canvas']);

  function isBlock(style) {
    return !/^(inline|contents|none|ruby)/.test(style.display) || style.float !== 'none'
      || style.position === 'absolute' || style.position === 'fixed';
  }

  function isInFlow(el) {
    const style = el && stateOf(el).style;
    return style && style.float === 'none' && !/^(absolute|fixed)$/.test(style.position);
  }

  function blockOf(text) {
    let el = holderOf(text);
    while (el && el !== document.body && !isBlock(stateOf(el).style)) el = above(el);
    return el;
  }

  // Whether the address of a link is in the code of a well-known protection.
  const isProtected = (el) => el.hasAttribute('data-cfemail')
    || (el.getAttribute('href') ?? '').startsWith('/cdn-cgi/l/email-protection#');

  const isMail = (el) => isProtected(el) || (el.localName === 'a'
    && /^\s*m\s*a\s*i\s*l\s*t\s*o\s*:/i.test(el.getAttribute('href') ?? ''));

  function mailLinks() {
    const found = [];
    const waiting = [document];
    while (waiting.length > 0) {
      const tree = waiting.pop();
      for (const el of tree.querySelectorAll('*')) {
        if (el.shadowRoot) waiting.push(el.shadowRoot);
        if (isMail(el)) found.push(el);
      }
    }
    return found;
  }

  // Looks at the page as it is now: what is not hidden waits to be measured, addresses first, and then
  // other texts: none, those that did not wait before, or all. What was seen once is not measured again.
  function pass(others) {
    states = new Map(); tokens = []; way = ''; counted = 0; lines = [];
    const seen = [...texts(root())].filter(sees), open = new Map();
    let before = null;
    for (const text of seen) {
      const block = blockOf(text);
      // A box between two texts parts them, unless it stands aside.
      if (before !== block && isInFlow(before)) open.delete(block);
      before = block;
      let line = open.get(block);
      if (!line) {
        lines.push(line = { text: '', chars: [], starts: new Map() });
        open.set(block, line);
      }
      line.starts.set(text, line.text.length);
      for (let i = 0; i < text.data.length; i++) line.chars.push([text, i]);
      line.text += text.data;
    }
    for (const line of lines) {
      if (!AT.test(line.text)) continue;
      for (const match of line.text.matchAll(/[^\s<>()[\]{},;:"'|]*[@\uFF20\uFE6B][^\s<>()[\]{},;:"'|]*/g)) {
        const from = match.index, to = from + match[0].length;
        const chars = line.chars.slice(from, to);
        const nodes = [...new Set(chars.map(([text]) => text))];
        if (nodes.every(isPainted)) continue;
        for (const [text, at] of chars) marksOf(text)[at] = UNSEEN;
        add({ chars, nodes, line, from, to });
      }
    }
    for (const link of mailLinks()) {
      if (clickable.has(link)) continue;
      const shown = [...texts(link)].filter(sees);
      const chars = shown.flatMap((text) => [...text.data].map((_, i) => [text, i]));
      if (shown.length > 0 || isHit(link)) add({ chars, nodes: shown, link });
    }
    if (others !== 'none') addParts(others === 'all' ? seen : seen.filter((text) => tried.get(text) !== text.data));
    return { hidden: unseen(), tokens: tokens.length };
  }

  function add(token) {
    if (tokens.length < MAX_TOKENS) tokens.push({ ...token, said: said(token) });
  }

  const said = ({ nodes }) => nodes.map((node) => node.data).join('\n');

  // Adds texts in parts of some words. Names stand at the ends of a page: those are measured first.
  function addParts(shown) {
    const parts = [];
    for (const text of shown) {
      tried.set(text, text.data);
      const marks = marksOf(text);
      const pieces = [...text.data.matchAll(/\S{1,8}/gu)]
        .map((match) => [match.index, match.index + match[0].length])
        .filter(([from, to]) => marks.subarray(from, to).includes(UNKNOWN));
      for (let at = 0; at < pieces.length; at += MAX_PIECES) {
        const some = pieces.slice(at, at + MAX_PIECES);
        parts.push({ chars: [[text, some[0][0]]], nodes: [text], pieces: some, said: text.data });
      }
    }
    const last = parts.splice(-MAX_PARTS / 2).reverse();
    tokens.push(...last, ...parts.slice(0, MAX_PARTS / 2));
  }

  // How many addresses are in the page, and were not painted so far.
  function unseen() {
    let count = 0;
    for (const text of texts(root())) {
      if (AT.test(text.data) && !isPainted(text) && !pending(text)) count++;
    }
    for (const link of mailLinks()) if (!clickable.has(link) && !pending(link)) count++;
    return count;
  }

  const pending = (node) => tokens.some((one) => !one.done && !one.pieces
    && (one.link === node || one.nodes.includes(node)));

  // Scrolls to a character: first in the boxes around it that scroll, then in the window.
  function bring({ chars, link }, block) {
    if (chars.length === 0) return link.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
    const [text, at] = chars[0];
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    const holder = holderOf(text);
    holder.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
    for (let scroll = stateOf(holder).scroll; scroll; scroll = scroll.outer.scroll) {
      const rect = range.getBoundingClientRect(), box = scroll.el.getBoundingClientRect();
      scroll.el.scrollBy({
        left: rect.left < box.left || rect.right > box.right ? rect.left - box.left - 20 : 0,
        top: rect.top - box.top - (box.height - rect.height) / 2, behavior: 'instant',
      });
    }
    const place = { start: 0.1, center: 0.5, end: 0.9 }[block] * innerHeight;
    scrollBy({ top: range.getBoundingClientRect().top - place, behavior: 'instant' });
  }

  // Scrolls to the first address that was not measured, and tells where the characters of all are
  // that are in the window now. If it is `late`, texts without addresses are not measured any more.
  function aim(block, late) {
    for (const one of tokens) if ((late && one.pieces) || !isThere(one)) one.done = true;
    if (block !== way) {
      way = block;
      for (const one of tokens) if (one.again) one.done = one.again = false;
    }
    const first = tokens.findIndex((one) => !one.done);
    if (first < 0) return null;
    bring(tokens[first], block);
    const found = [], taken = [], shown = textsInWindow();
    tokens.forEach((one, index) => {
      if (one.done || (index !== first && !isInWindow(one))) return;
      // A link that fades as a whole would take what it joins to an address with it.
      if (isWhole(one) !== isWhole(tokens[first])) return;
      const boxes = boxesOf(one);
      const inside = boxes.every(([x, y, w, h]) =>
        x >= 0 && y >= 0 && x + w <= innerWidth && y + h <= innerHeight);
      if (index !== first && !(inside && boxes.length > 0)) return;
      // Of texts that lie on each other, one is taken away at a time.
      const isOn = ([other, by]) => !by.nodes.some((node) => one.nodes.includes(node))
        && boxes.some((box) => meet(box, other, 0));
      if (taken.some(isOn)) return;
      taken.push(...boxes.map((box) => [box, one]));
      one.covered = boxes.some(([x, y, w, h]) => !isFree(one, x + w / 2, y + h / 2));
      one.behind = behind(one, boxes);
      if (one.line) one.touched = isTouched(one, boxes, shown);
      found.push({ index, boxes: !one.line || runOn(boxes) ? boxes : [], lines: linesOf(one) });
    });
    // What takes no click may be drawn there too.
    document.adoptedStyleSheets.push(solid);
    for (const { index, lines } of found) tokens[index].behind.push(...beside(lines));
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== solid);
    for (const { index } of found) plain(tokens[index]);
    return { found };
  }

  const isThere = ({ nodes, link }) => nodes.every((node) => node.isConnected) && (link?.isConnected ?? true);

  const isWhole = ({ nodes }) => nodes.length === 0;

  function textsInWindow() {
    const isIn = (rect) => rect.bottom > 0 && rect.top < innerHeight;
    return lines.flatMap((line) => [...line.starts]
      .map(([text, start]) => ({ line, text, start, rects: [...rectsOf(text)] }))
      .filter(({ rects }) => rects.some(isIn)));
  }

  function isInWindow({ nodes, link }) {
    const [rect] = nodes.length > 0 ? rectsOf(nodes[0]) : link.getClientRects();
    return rect && rect.bottom > 0 && rect.top < innerHeight;
  }

  // Whether one box stands in the line of another, with no more than a gap between them.
  function meet([x, y, w, h], [left, top, width, height], gap) {
    const across = Math.min(y + h, top + height) - Math.max(y, top);
    return across >= Math.min(h, height) / 2 && x < left + width + gap && left < x + w + gap;
  }

  // Whether a reader takes something else on the screen for a part of an address: letters that the
  // document parts from it, a field of a form, or a picture that has not the shape of an icon.
  function isTouched(one, boxes, shown) {
    const touches = (box) => boxes.some((own) => meet(own, box, GAP * 0.75 * own[3]));
    const range = document.createRange();
    for (const { line, text, start, rects } of shown) {
      if (!rects.some((rect) => touches(boxOf(rect)))) continue;
      for (let at = 0; at < text.data.length; at++) {
        if (!WORD.test(text.data[at]) || (line === one.line && !isApart(one, start + at))) continue;
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        const box = boxOf(range.getBoundingClientRect());
        if (touches(box) && !isUnder(holderOf(text), box)) return true;
      }
    }
    return [...document.querySelectorAll('input,textarea,select')].some((el) =>
      el.value && seesBox(el) && touches(contentOf(el)) && !isUnder(el, contentOf(el)))
      || [...document.querySelectorAll('img,svg,canvas,video,object,embed')].some((el) => {
        const box = boxOf(el.getBoundingClientRect());
        return !isIcon(box) && seesBox(el) && touches(box) && !one.nodes.some((node) => el.contains(node))
          && !isUnder(el, box);
      });
  }

  const isIcon = ([, , w, h]) => w < 1.7 * h && w > 0.8 * h;

  // Whether a box with a ground of its own, such as a dialog, lies on an element there.
  function isUnder(el, [x, y, w, h]) {
    for (let at = document.elementFromPoint(x + w / 2, y + h / 2); at; at = above(at)) {
      if (at.contains(el)) return false;
      const { style, opacity } = stateOf(at);
      if (opacity === 1 && style.backgroundColor.startsWith('rgb(')) return true;
    }
    return false;
  }

  // Whether nothing but white space is between an address and another place of its line.
  function isApart({ line, from, to }, place) {
    if (place >= from && place < to) return false;
    return !/\S/.test(place < from ? line.text.slice(place + 1, from) : line.text.slice(to, place));
  }

  const boxOf = (rect) => [rect.left, rect.top, rect.width, rect.height];

  function contentOf(el) {
    const [x, y, w, h] = boxOf(el.getBoundingClientRect());
    const style = stateOf(el).style;
    const [left, right] = ['Left', 'Right'].map((side) =>
      parseFloat(style[`padding${side}`]) + parseFloat(style[`border${side}Width`]));
    return [x + left, y, w - left - right, h];
  }

  // Whether letters stand from left to right, line by line, as in any address.
  function runOn(boxes) {
    return boxes.every(([x, y, , h], at) => {
      const [left, top] = boxes[at - 1] ?? [x, y];
      return Math.abs(y - top) > h / 2 || x >= left - 1;
    });
  }

  // Whether nothing but the address itself, or what is around it, takes a click there.
  function isFree(token, x, y) {
    const hit = document.elementFromPoint(x, y);
    return token.nodes.some((node) => {
      const holder = holderOf(node);
      for (let at = holder; at; at = above(at)) if (at === hit) return true;
      for (let at = hit; at; at = above(at)) if (at === holder) return true;
      return false;
    });
  }

  function boxesOf(token) {
    if (token.chars.length === 0) {
      return [token.link, ...token.link.querySelectorAll('*')].slice(0, MAX_PIECES)
        .map((el) => boxOf(el.getBoundingClientRect()))
        .filter(([, , w, h]) => w >= MIN_HEIGHT && h >= MIN_HEIGHT);
    }
    const boxes = [];
    const range = document.createRange();
    const put = (text, from, to) => {
      range.setStart(text, from);
      range.setEnd(text, to);
      boxes.push(boxOf(range.getBoundingClientRect()));
    };
    if (token.pieces) {
      const [text] = token.nodes;
      for (const [from, to] of token.pieces) if (to <= text.data.length) put(text, from, to);
      return boxes;
    }
    for (const [text, at] of token.chars.slice(0, MAX_CHARS)) {
      if (/[\p{L}\p{N}@\uFF20\uFE6B]/u.test(text.data[at] ?? '')) put(text, at, at + 1);
    }
    return boxes;
  }

  // The boxes of all characters of an address, those of each line together.
  function linesOf({ chars, line }) {
    const found = [], range = document.createRange();
    for (const [text, at] of line ? chars.slice(0, MAX_LETTERS) : []) {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const box = boxOf(range.getBoundingClientRect()), before = found.at(-1)?.at(-1);
      if (box[2] === 0) continue;
      if (before && Math.abs(box[1] - before[1]) <= box[3] / 2) found.at(-1).push(box);
      else found.push([box]);
    }
    return found;
  }

  // A name for the letters that are taken away, which the page cannot know beforehand.
  const FADED = `c${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`::highlight(${FADED}) { color: transparent !important;
    -webkit-text-fill-color: transparent !important; -webkit-text-stroke-color: transparent !important;
    text-shadow: none !important; }
    [${FADED}-before]::before, [${FADED}-after]::after { color: transparent !important;
    -webkit-text-fill-color: transparent !important; transition: none !important; }`);
  const solid = new CSSStyleSheet();
  solid.replaceSync('* { pointer-events: auto !important; }');
  let before = [];

  function change(el, names) {
    before.push([el, 'style', el.getAttribute('style')]);
    for (const [name, value] of [['transition', 'none'], ...names]) {
      el.style.setProperty(name, value, 'important');
    }
  }

  // Takes away lines in other colours under and over letters, which would vanish with them.
  function plain({ nodes }) {
    for (const node of nodes) {
      const colour = getComputedStyle(holderOf(node)).webkitTextFillColor;
      for (let el = holderOf(node); el; el = above(el)) {
        const { textDecorationLine: line, textDecorationColor: own } = getComputedStyle(el);
        if (line !== 'none' && own !== colour) change(el, [['text-decoration-line', 'none']]);
      }
    }
  }

  // Takes the letters of some texts away from the screen, and nothing else.
  function fade(indices) {
    const faded = indices.map((index) => tokens[index]);
    for (const one of faded) if (isWhole(one)) change(one.link, [['opacity', '0']]);
    fadeTexts(faded.flatMap(({ nodes }) => nodes));
  }

  function fadeTexts(nodes) {
    const ranges = [];
    for (const node of nodes) {
      const range = document.createRange();
      range.selectNodeContents(node);
      ranges.push(range);
      const holder = holderOf(node);
      if (holder instanceof SVGElement) change(holder, [['fill', 'transparent'], ['stroke', 'transparent']]);
      for (let el = holder; el; el = above(el)) {
        if (stateOf(el).style.webkitBackgroundClip === 'text') change(el, [['background', 'none']]);
      }
    }
    if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
    CSS.highlights.set(FADED, new Highlight(...ranges));
  }

  // Takes away everything that is read of what is in the window: the texts, the signs that style
  // sheets write, and icons.
  function fadeRead() {
    fadeTexts(textsInWindow().map(({ text }) => text));
    for (const el of document.querySelectorAll('img,svg')) {
      const isBroken = el.localName === 'img' && el.naturalWidth === 0;
      if (!isBroken && isIcon(boxOf(el.getBoundingClientRect()))
        && !tokens.some((one) => one.nodes.some((node) => el.contains(node)))) change(el, [['opacity', '0']]);
    }
    for (const el of [...document.querySelectorAll('*')].slice(0, MAX_DRAWN)) {
      for (const which of ['before', 'after']) {
        const text = drawnBy(el, `::${which}`);
        if (!text || WORD.test(text)) continue;
        before.push([el, `${FADED}-${which}`, null]);
        el.setAttribute(`${FADED}-${which}`, '');
      }
    }
  }

  function unfade() {
    CSS.highlights.delete(FADED);
    for (const [el, name, value] of before.reverse()) {
      if (value === null) el.removeAttribute(name); else el.setAttribute(name, value);
      // A style that comes back may do so slowly.
      void getComputedStyle(el).webkitTextFillColor;
    }
    before = [];
    still();
  }

  // Takes what the pixels say of each box.
  function settle(results, last) {
    for (const { index, seen, moving, struck, joined } of results) {
      const token = tokens[index];
      const { chars, link, nodes, pieces } = token;
      if (said(token) !== token.said) seen.fill(false);
      token.seen = chars.length > 0 ? seen.length > 0 && seen.every(Boolean) && !struck : seen.some(Boolean);
      token.done = true;
      // Elsewhere in the window, what covers it may not.
      token.again = !token.seen && !last && (token.covered || moving);
      if (link) {
        if (token.seen) clickable.add(link);
      } else if (pieces) {
        const marks = marksOf(nodes[0]);
        pieces.forEach(([from, to], at) => {
          for (let i = from; seen[at] && i < to; i++) if (marks[i] === UNKNOWN) marks[i] = SEEN;
        });
      } else if (token.seen) {
        for (const [text, at] of chars) marksOf(text)[at] = SEEN;
        for (const node of nodes) if (token.touched || joined) touched.add(node);
      }
    }
  }

  // The images that are drawn behind a text, or in a link without text.
  function behind({ chars, link }, [box]) {
    const els = chars.length > 0 ? [] : [link, ...link.querySelectorAll('*')];
    for (let el = chars[0]?.[0].parentElement; el; el = above(el)) els.push(el);
    if (box) els.push(...document.elementsFromPoint(box[0] + 1, box[1] + box[3] / 2));
    return imagesOf(els, ['']);
  }

  function imagesOf(els, parts) {
    return els.flatMap((el) => {
      const styles = parts.map((part) => getComputedStyle(el, part))
        .map(({ backgroundImage, content, listStyleImage }) => `${backgroundImage} ${content} ${listStyleImage}`);
      const urls = [...styles.join(' ').matchAll(/url\("([^"]+)"\)/g)].map(([, url]) => url);
      return [...urls, el.localName === 'img' ? el.currentSrc : null];
    }).filter((url) => /^https?:/.test(url ?? ''));
  }

  // The images that are drawn just before and behind the lines of an address. Until one is loaded,
  // it may be as small as a pixel.
  function beside(lines) {
    const ends = lines.flatMap((line) => {
      const [x, y, , h] = line[0], [left, top, width, height] = line.at(-1);
      return [[x - GAP * h, y, GAP * h, h], [left + width, top, GAP * height, height]];
    });
    const els = ends.flatMap(([x, y, w, h]) => [0.5, w / 2, w - 0.5]
      .flatMap((dx) => document.elementsFromPoint(x + dx, y + h / 2)));
    els.push(...[...document.images].filter((img) =>
      ends.some((end) => meet(end, boxOf(img.getBoundingClientRect()), 0))));
    return imagesOf([...new Set(els)], ['', '::before', '::after']);
  }

  // The images without which it is not sure whether a text is seen: those behind addresses, behind
  // other texts that are not seen without them, and in links to addresses.
  function images() {
    const unsure = tokens.filter((one) => !one.pieces || !one.seen);
    const links = mailLinks().filter((link) => !clickable.has(link) && isShown(stateOf(link)));
    const urls = [...unsure.map((one) => one.behind ?? []), ...links.map((link) => behind({ chars: [], link }, []))];
    return [...new Set(urls.flat())].slice(0, 10);
  }

  function still() {
    for (const one of document.getAnimations()) {
      try { one.finish(); } catch { one.pause(); }
    }
  }

  async function scrollThrough() {
    const step = Math.max(innerHeight - 100, 200);
    const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
    for (let y = 0, n = 0; y < root().scrollHeight && n < 25; y += step, n++) {
      scrollTo({ top: y, behavior: 'instant' });
      await frame(); await frame();
    }
    scrollTo({ top: 0, behavior: 'instant' });
    await frame();
    still();
  }

  const CONTROLS = 'summary,[aria-controls],[aria-expanded=false],[role=tab],[data-toggle],'
    + '[data-bs-toggle],[data-target],[data-bs-target],label[for],button,[role=button],'
    + 'a[href^="#"],a:not([href])';
  let controls = [];

  // The page's own controls that a reader can click, those that say that they open something first.
  function findControls() {
    const all = [...document.querySelectorAll(CONTROLS)].filter((el) => {
      if (el.closest('form') && /^(button|input)$/.test(el.localName) && el.type === 'submit') return false;
      if (el.localName === 'label') {
        const input = document.getElementById(el.htmlFor);
        return input && /^(checkbox|radio)$/.test(input.type) && seesBox(el);
      }
      return seesBox(el);
    });
    const rank = (el) => el.matches('summary,[aria-expanded=false],[role=tab]') ? 0
      : el.matches('[aria-controls],[data-toggle],[data-bs-toggle],label') ? 1 : 2;
    controls = all.map((el, at) => [rank(el), at, el]).sort((a, b) => a[0] - b[0] || a[1] - b[1])
      .map(([, , el]) => el).slice(0, 20);
    return controls.length;
  }

  function click(at) {
    const el = controls[at];
    if (!el?.isConnected || !isHit(el)) return false;
    // An element of a drawing has no method for it.
    if (el.click) el.click();
    else el.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    return true;
  }

  // Where the pointer may open a menu: on the boxes in which addresses are hidden, the nth of which
  // is scrolled to.
  let around = [];
  function findMenus() {
    const hidden = [...texts(root())].filter((text) => AT.test(text.data) && !isPainted(text));
    const boxes = [...hidden.map((text) => text.parentElement), ...mailLinks()].map((el) => {
      while (el && !seesBox(el)) el = above(el);
      return el;
    });
    around = [...new Set(boxes)].filter((el) => el && el !== document.body && el !== root()).slice(0, 10);
    return around.length;
  }

  function pointAt(at) {
    around[at].scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const rect = around[at].getBoundingClientRect();
    return [rect.left + Math.min(rect.width / 2, 40), rect.top + rect.height / 2];
  }

  // The page as a document.
  let out = [], hiddenLeft = 0;
  const escape = (text) => text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ' ')
    .replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
  const KEPT = ['id', 'class', 'role', 'alt', 'itemprop', 'itemscope', 'itemtype', 'data-cfemail'];
  const KEPT_OF = {
    a: ['href'], area: ['href'], base: ['href'], meta: ['name', 'property', 'http-equiv', 'content'],
    img: ['src'], script: ['type'], link: ['itemprop', 'href'], data: ['value'],
  };
  const EMPTY = new Set(['iframe', 'frame', 'textarea', 'select', 'object', 'video', 'audio', 'canvas',
    'input', 'embed']);

  function hide(text) {
    if (hiddenLeft <= 0 || !/[@\uFF20]|%40|&#64;|\[at\]|\(at\)/i.test(text)) return;
    hiddenLeft--;
    out.push('<span hidden="">', escape(text.slice(0, 4000)), '</span>');
  }

  // What a style sheet writes before or after what is in an element, if it is text alone.
  function drawnBy(el, which) {
    const content = getComputedStyle(el, which).content;
    const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(content ?? '');
    return quoted?.[1].replace(/\\(.)/g, '$1');
  }

  function pseudo(el, which) {
    const text = drawnBy(el, which);
    if (text === undefined || !isShown(stateOf(el))) return;
    if (!/\S/.test(text)) return out.push(' ');
    out.push('<span drawn="">', escape(text), '</span>');
  }

  function writeText(text) {
    const parent = holderOf(text);
    const marks = [[parent && stateOf(parent).struck, '<s>', '</s>'],
      [touched.has(text), '<span drawn="">', '</span>']].filter(([is]) => is);
    for (const [, open] of marks) out.push(open);
    const known = marksOf(text);
    // The spaces of what takes no room part nothing.
    const parts = known.includes(SEEN) || rectsOf(text).length > 0;
    for (let from = 0, to; from < known.length; from = to) {
      const isSeen = (at) => known[at] === SEEN || (parts && /\s/.test(text.data[at]));
      for (to = from + 1; to < known.length && isSeen(to) === isSeen(from);) to++;
      const run = escape(text.data.slice(from, to));
      out.push(isSeen(from) ? run : `<span hidden="">${run}</span>`);
    }
    for (const [, , close] of marks.reverse()) out.push(close);
  }

  function write(node, inert) {
    if (node.nodeType === Node.COMMENT_NODE) return hide(node.data);
    if (node.nodeType === Node.TEXT_NODE) {
      if (inert) out.push(escape(node.data));
      else if (/\S/.test(node.data)) writeText(node);
      else out.push(' ');
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const tag = /^[a-z][a-z0-9-]*$/.test(node.localName) ? node.localName : 'span';
    if (tag === 'script' && !/ld\+json/i.test(node.type)) return hide(node.textContent);
    if (tag === 'style' || tag === 'noscript' || tag === 'template') {
      return hide(tag === 'template' ? node.innerHTML : node.textContent);
    }
    const style = stateOf(node).style;
    const links = tag === 'a' || tag === 'area';
    let box = isBlock(style) ? 'b' : '';
    if (/^(inline-)?(flex|grid)$/.test(style.display)) box += 'f';
    if (/^(pre|pre-wrap|pre-line|break-spaces)$/.test(style.whiteSpace)) box += 'p';
    const gap = (side) => !isBlock(style) && style.display !== 'contents'
      && parseFloat(style[`margin${side}`]) + parseFloat(style[`padding${side}`])
        >= GAP * parseFloat(style.fontSize);
    const lost = (isMail(node) && !clickable.has(node)) || (tag === 'img' && !seesBox(node));
    const isHidden = lost && (tag === 'img' || isProtected(node));
    if (lost && !isHidden) hide(node.getAttribute('href').replace(/%40/gi, '@'));
    if (gap('Left')) out.push(' ');
    out.push('<', tag, box ? ` box="${box}"` : '', isHidden ? ' hidden=""' : '');
    const kept = [...KEPT, ...(KEPT_OF[tag] ?? [])];
    if (node.hasAttribute('itemprop')) kept.push('content');
    for (const name of new Set(kept)) {
      if (!node.hasAttribute(name) || (lost && !isHidden && name === 'href')) continue;
      let value = node.getAttribute(name);
      if (name === 'src') value = value.slice(0, 300);
      out.push(' ', name, '="', escape(value), '"');
    }
    out.push('>');
    for (const { name, value } of node.attributes) {
      if (!kept.includes(name)) hide(value);
    }
    if (tag === 'textarea' || tag === 'object') hide(node.textContent);
    if (tag === 'select') for (const option of node.options) hide(option.text);
    if (node === root()) {
      for (const other of document.childNodes) {
        if (other.nodeType === Node.COMMENT_NODE) hide(other.data);
      }
    }
    if (!EMPTY.has(tag)) {
      const bare = inert || tag === 'script' || tag === 'title';
      if (!bare) pseudo(node, '::before');
      for (const child of childrenOf(node)) write(child, bare);
      if (!bare) pseudo(node, '::after');
    }
    out.push('</', tag, '>');
    if (gap('Right')) out.push(' ');
  }

  function serialise() {
    states = new Map(); out = []; hiddenLeft = MAX_HIDDEN;
    write(root(), false);
    return out.join('');
  }

  // Whether a reader sees what is in a frame, which is scrolled to.
  function showsFrame(frame) {
    states = new Map();
    frame.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const rect = frame.getBoundingClientRect();
    return seesBox(frame) && rect.width > 20 && rect.height >= MIN_HEIGHT;
  }

  globalThis.comail = {
    pass, unseen, aim, fade, fadeRead, unfade, settle, images, still, scrollThrough, findControls, click,
    findMenus, pointAt, serialise, showsFrame,
  };
})();
