// Sorts, filters and searches the table of quests, which is whole without it.
"use strict";

(() => {
  const byId = (id) => document.getElementById(id);
  const [table, controls, found, none] = ["table", "controls", "found", "none"].map(byId);
  const [search, byState, byRule] = ["search", "by-state", "by-rule"].map(byId);
  const heads = [...table.querySelectorAll("thead th")];
  const words = new Intl.Collator(undefined, { numeric: true });
  const numbers = new Intl.NumberFormat("en");
  const fold = (text) => text.normalize("NFKC").toLowerCase();

  const quests = [...table.tBodies].map((body, place) => ({
    body,
    place,
    state: body.dataset.state,
    rules: body.dataset.rules.split("\n"),
    text: null,
  }));

  // All that a quest shows, put together when somebody first searches.
  const textOf = (quest) => (quest.text ??= fold(quest.body.textContent));

  const filter = () => {
    const sought = fold(search.value).split(/\s+/).filter(Boolean);
    const [state, rule] = [byState.value, byRule.value];
    let count = 0;
    for (const quest of quests) {
      const shown =
        (!state || quest.state === state) &&
        (!rule || quest.rules.includes(rule)) &&
        sought.every((word) => textOf(quest).includes(word));
      if (quest.body.hidden === shown) quest.body.hidden = !shown;
      count += shown ? 1 : 0;
    }
    const all = `${numbers.format(quests.length)} ${quests.length === 1 ? "quest" : "quests"}`;
    found.textContent = count === quests.length ? all : `${numbers.format(count)} of ${all}`;
    none.hidden = count > 0;
  };

  // What is not there comes last, whichever way the rest goes.
  const compare = (kind, sign) => (one, other) => {
    if (one.value === null || other.value === null) {
      return (one.value === null) - (other.value === null) || one.quest.place - other.quest.place;
    }
    const order = kind === "number" ? one.value - other.value : words.compare(one.value, other.value);
    return sign * order || one.quest.place - other.quest.place;
  };

  const valueOf = (quest, column, kind) => {
    const cell = quest.body.rows[0].cells[column];
    if (kind === "number") return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
    return cell.textContent.trim() || null;
  };

  const sort = (column) => {
    const head = heads[column];
    const falls = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const kind = head.dataset.sort;
    const values = quests.map((quest) => ({ quest, value: valueOf(quest, column, kind) }));
    values.sort(compare(kind, falls ? -1 : 1));
    const sorted = document.createDocumentFragment();
    for (const { quest } of values) sorted.append(quest.body);
    table.append(sorted);
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(column));
  });

  let waiting;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  byState.addEventListener("change", filter);
  byRule.addEventListener("change", filter);
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("reset", () => setTimeout(filter));

  // A row opens wherever it is clicked, unless somebody marks text in it.
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tbody > tr:first-child");
    if (!row || !getSelection().isCollapsed) return;
    const details = row.parentElement.querySelector("details");
    details.open = !details.open;
  });

  controls.hidden = false;
  // A browser may remember what was chosen before the page was loaded anew.
  filter();
})();
