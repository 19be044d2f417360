// Runs in an isolated world of each frame: it sees the page's elements, and the page's scripts do
// not see it. It keeps which text was painted at any time, and hands the page back as a document of
// what a reader sees, in the form that `page/rendered.rs` reads.
(() => {
  const MAX_NODES = 300000, MAX_HIDDEN = 500, MAX_TOKENS = 300, MAX_CHARS = 100;
  // The least height of a text, in pixels, and the least share of opacity, that a reader can see.
  const MIN_HEIGHT = 6, MIN_OPACITY = 0.1;
  // As wide as a narrow space, in letters' heights.
  const GAP = 0.2;
  const AT = /[@\uFF20\uFE6B]/;
  const EVERYWHERE = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  const painted = new WeakSet(), measured = new WeakSet();
  let states = new Map(), tokens = [], way = '', counted = 0;

  const root = () => document.documentElement;
  const above = (el) => el.assignedSlot || el.parentElement
    || (el.parentNode instanceof ShadowRoot ? el.parentNode.host : null);
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
    let shown = around.shown && style.display !== 'none'
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
    for (const rect of rectsOf(text)) {
      if (rect.width > 0 && rect.height >= MIN_HEIGHT && reaches(rect, state)) return true;
    }
    return false;
  }

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

  function blockOf(text) {
    let el = text.parentElement ?? text.parentNode.host;
    while (el && el !== document.body && !isBlock(stateOf(el).style)) el = above(el);
    return el;
  }

  const isMail = (el) => el.localName === 'a' && /^\s*m\s*a\s*i\s*l\s*t\s*o\s*:/i
    .test(el.getAttribute('href') ?? '');

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

  // Looks at the page as it is now. Text that has an address is not taken as painted before its
  // pixels were measured.
  function pass() {
    states = new Map(); tokens = []; way = ''; counted = 0;
    const blocks = new Map();
    for (const text of texts(root())) {
      if (!sees(text)) continue;
      const block = blockOf(text);
      let line = blocks.get(block);
      if (!line) blocks.set(block, line = { text: '', chars: [] });
      for (let i = 0; i < text.data.length; i++) line.chars.push([text, i]);
      line.text += text.data;
      painted.add(text);
    }
    for (const { text, chars } of blocks.values()) {
      if (!AT.test(text)) continue;
      for (const match of text.matchAll(/[^\s<>()[\]{},;:"'|]*[@\uFF20\uFE6B][^\s<>()[\]{},;:"'|]*/g)) {
        add(chars.slice(match.index, match.index + match[0].length), null);
      }
    }
    for (const link of mailLinks()) {
      const shown = [...texts(link)].filter(sees);
      if (shown.length === 0) {
        if (!measured.has(link) && isHit(link)) painted.add(link);
      } else if (!measured.has(link)) {
        add(shown.flatMap((text) => [...text.data].map((_, i) => [text, i])), link);
      }
    }
    return { hidden: unseen(), tokens: tokens.length };
  }

  function add(chars, link) {
    const nodes = new Set(chars.map(([text]) => text));
    const subject = link ?? chars[0][0];
    if (link === null && [...nodes].every((node) => measured.has(node))) return;
    if (link === null) for (const node of nodes) if (!measured.has(node)) painted.delete(node);
    if (tokens.length < MAX_TOKENS) {
      tokens.push({ chars: chars.slice(0, MAX_CHARS), nodes: [...nodes], link, subject, done: false });
    }
  }

  // How many addresses are in the page, and were not painted so far.
  function unseen() {
    let count = 0;
    for (const text of texts(root())) {
      if (AT.test(text.data) && !painted.has(text) && !pending(text)) count++;
    }
    for (const link of mailLinks()) if (!painted.has(link) && !pending(link)) count++;
    return count;
  }

  const pending = (node) => tokens.some((one) => !one.done
    && (one.link === node || one.nodes.includes(node)));

  // Scrolls to a character: first in the boxes around it that scroll, then in the window.
  function bring([text, at], block) {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    const holder = text.parentElement ?? text.parentNode.host;
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
  // that are in the window now.
  function aim(block) {
    if (block !== way) {
      way = block;
      for (const one of tokens) if (one.again) one.done = one.again = false;
    }
    const first = tokens.findIndex((one) => !one.done);
    if (first < 0) return null;
    bring(tokens[first].chars[0], block);
    const found = [];
    tokens.forEach((one, index) => {
      if (one.done) return;
      const boxes = boxesOf(one);
      const inside = boxes.every(([x, y, w, h]) =>
        x >= 0 && y >= 0 && x + w <= innerWidth && y + h <= innerHeight);
      if (index !== first && !(inside && boxes.length > 0)) return;
      one.covered = boxes.some(([x, y, w, h]) => !isFree(one, x + w / 2, y + h / 2));
      found.push({ index, boxes: one.link || runOn(boxes) ? boxes : [] });
    });
    return { first, found };
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
      const holder = node.parentElement ?? node.parentNode.host;
      for (let at = holder; at; at = above(at)) if (at === hit) return true;
      for (let at = hit; at; at = above(at)) if (at === holder) return true;
      return false;
    });
  }

  function boxesOf(token) {
    const boxes = [];
    const range = document.createRange();
    for (const [text, at] of token.chars) {
      if (!/[\p{L}\p{N}@\uFF20\uFE6B]/u.test(text.data[at] ?? '')) continue;
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const rect = range.getBoundingClientRect();
      boxes.push([rect.left, rect.top, rect.width, rect.height]);
    }
    return boxes;
  }

  const CLEAR = [['-webkit-text-fill-color', 'transparent'], ['text-shadow', 'none'],
    ['fill', 'transparent'], ['transition', 'none'], ['-webkit-text-stroke', '0']];
  let before = [];

  // Takes the letters of addresses away from the screen, and nothing else.
  function fade(indices) {
    before = [];
    for (const index of indices) {
      for (const node of tokens[index].nodes) {
        const el = node.parentElement ?? node.parentNode.host;
        if (before.some(([known]) => known === el)) continue;
        before.push([el, el.getAttribute('style')]);
        for (const [name, value] of CLEAR) el.style.setProperty(name, value, 'important');
      }
    }
  }

  function unfade() {
    for (const [el, style] of before) {
      if (style === null) el.removeAttribute('style'); else el.setAttribute('style', style);
      // A style that comes back may do so slowly.
      void getComputedStyle(el).webkitTextFillColor;
    }
    before = [];
    still();
  }

  // Takes what the pixels say.
  function settle(results, last) {
    for (const { index, painted: how } of results) {
      const token = tokens[index], seen = how === 'yes';
      token.done = true;
      // Elsewhere in the window, what covers it may not.
      token.again = !seen && !last && (token.covered || how === 'moving');
      if (token.link) {
        if (seen) { painted.add(token.link); measured.add(token.link); }
        continue;
      }
      for (const node of token.nodes) {
        if (seen) { painted.add(node); measured.add(node); }
        else if (!seen) { painted.delete(node); }
      }
    }
  }

  // Whether images are drawn behind an address: then what was measured without them says nothing.
  function images() {
    const found = new Set();
    for (const token of tokens) {
      const [text] = token.chars[0];
      for (let el = text.parentElement; el; el = above(el)) {
        const url = /url\("([^"]+)"\)/.exec(getComputedStyle(el).backgroundImage);
        if (url) found.add(url[1]);
      }
      const rect = rectsOf(text)[0];
      if (!rect) continue;
      for (const el of document.elementsFromPoint(rect.left + 1, rect.top + rect.height / 2)) {
        const url = /url\("([^"]+)"\)/.exec(getComputedStyle(el).backgroundImage);
        if (url) found.add(url[1]);
        if (el.localName === 'img' && el.currentSrc) found.add(el.currentSrc);
      }
    }
    return [...found].filter((url) => /^https?:/.test(url)).slice(0, 10);
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
    el.click();
    return true;
  }

  // Where the pointer may open a menu: on the boxes in which addresses are hidden, the nth of which
  // is scrolled to.
  let around = [];
  function findMenus() {
    const hidden = [...texts(root())].filter((text) => AT.test(text.data) && !painted.has(text));
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

  function pseudo(el, which) {
    const content = getComputedStyle(el, which).content;
    const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(content ?? '');
    if (!quoted || !isShown(stateOf(el))) return;
    const text = quoted[1].replace(/\\(.)/g, '$1');
    if (!/\S/.test(text)) return out.push(' ');
    out.push('<span drawn="">', escape(text), '</span>');
  }

  function write(node, inert) {
    if (node.nodeType === Node.COMMENT_NODE) return hide(node.data);
    if (node.nodeType === Node.TEXT_NODE) {
      if (inert || painted.has(node)) {
        const parent = node.parentElement ?? node.parentNode.host;
        const struck = !inert && parent && stateOf(parent).struck;
        out.push(struck ? '<s>' : '', escape(node.data), struck ? '</s>' : '');
      } else if (/\S/.test(node.data)) {
        out.push('<span hidden="">', escape(node.data), '</span>');
      } else out.push(' ');
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
    const lost = (isMail(node) && !painted.has(node)) || (tag === 'img' && !seesBox(node));
    if (lost && isMail(node)) hide(node.getAttribute('href').replace(/%40/gi, '@'));
    if (gap('Left')) out.push(' ');
    out.push('<', tag, box ? ` box="${box}"` : '', lost && tag === 'img' ? ' hidden=""' : '');
    const kept = [...KEPT, ...(KEPT_OF[tag] ?? [])];
    if (node.hasAttribute('itemprop')) kept.push('content');
    for (const name of new Set(kept)) {
      if (!node.hasAttribute(name) || (lost && name === 'href')) continue;
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
    pass, unseen, aim, fade, unfade, settle, images, still, scrollThrough, findControls, click,
    findMenus, pointAt, serialise, showsFrame,
  };
})();
