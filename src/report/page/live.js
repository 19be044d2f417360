// Loads the page of a server again after an event of the ledger, unless somebody reads a part of it.
"use strict";

(() => {
  const pause = 3000;
  let changed = false;
  const isRead = () =>
    document.hidden ||
    !getSelection().isCollapsed ||
    document.activeElement.matches("input") ||
    document.querySelector("details[open]") !== null;
  const events = new EventSource(`v1/log?from=${document.body.dataset.next}`);
  events.addEventListener("message", () => {
    changed = true;
  });
  setInterval(() => {
    if (changed && !isRead()) location.reload();
  }, pause);
})();
