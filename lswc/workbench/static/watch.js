// Shows what the server of this page tells. What it tells comes from the web: it is text, never HTML.
"use strict";

const EVERY = 2000;

const GLOSSARY = {
  harvest: "Relevant pages downloaded, divided by all pages downloaded. A page is relevant if it is in the language of the crawl.",
  coverage: "An estimate: relevant pages downloaded, divided by those and the ones expected among pending URLs. Pages that nobody has linked to yet aren’t in it, so the true coverage is lower.",
  frontier: "The frontier: URLs that were found and aren’t finished. Each is fetched once.",
  expected: "How many relevant pages the pending URLs should bring, by what URLs like them have brought so far.",
  fresh: "An estimate: how many of the pages that are visited again should be as they were at their latest visit, by how often they have changed.",
  again: "Relevant pages, sitemaps and feeds are visited again within a budget (LSWC_REVISIT): those first that should have changed, or lead to new pages.",
  status: "Relevant: gave a relevant page. Undecided: none yet, of few. Irrelevant: none, of more than the strategy tolerates. Unvisited: gave no page at all.",
  cell: "Links of one kind that lead to servers of one kind are pending together, in a cell. The cell that should bring most comes first; under a fixed rule a cell is a tier.",
  control: "Rules for a domain with its subdomains (example.co.th), a server (www.example.co.th/) or how URLs begin (www.example.co.th/~somchai/). They are in force within seconds, also for what is pending.",
};

async function say(key, value, place, why) {
  try {
    await send("say", { key, value, place, why });
    alarm("");
    await refresh();
    if ($("history").open) await showChanges();
    return true;
  } catch (error) {
    alarm(error.message);
    return false;
  }
}

// --- tables: rows stay where they are and change their text, so that nobody loses their place

function table(place, columns, rows, empty) {
  if (!rows?.length) {
    if (place.dataset.empty !== empty) {
      place.replaceChildren(make("p", { className: "empty", textContent: empty }));
      place.dataset.empty = empty;
    }
    return;
  }
  delete place.dataset.empty;
  let grid = place.querySelector("table");
  if (!grid) {
    grid = headed(place, columns);
  }
  const sorted = order(place, rows);
  const body = grid.tBodies[0];
  while (body.rows.length > sorted.length) body.deleteRow(-1);
  sorted.forEach((row, at) => {
    const line = body.rows[at] || body.insertRow();
    columns.forEach((column, number) => cell(line.cells[number] || line.insertCell(), column, row));
  });
}

function headed(place, columns) {
  const line = make("tr");
  columns.forEach((column, number) => {
    const press = make("button", { type: "button", textContent: column.name });
    press.addEventListener("click", () => {
      const now = place.dataset.sort === `${number}` ? -place.dataset.way : column.number ? -1 : 1;
      Object.assign(place.dataset, { sort: number, way: now });
      place.resort?.();
    });
    const head = make("th", { scope: "col", className: column.number ? "number" : "" }, column.value ? press : column.name);
    line.append(head);
  });
  const grid = make("table", {}, make("thead", {}, line), make("tbody"));
  const box = make("div", { className: "scroll", tabIndex: 0 }, grid);
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", place.closest(".card")?.querySelector("h2")?.firstChild?.textContent || "table");
  place.replaceChildren(box);
  place.columns = columns;
  return grid;
}

function order(place, rows) {
  place.resort = () => table(place, place.columns, rows, "");
  const at = place.dataset.sort;
  const heads = place.querySelectorAll("th");
  heads.forEach((head, number) => {
    if (`${number}` === at) head.setAttribute("aria-sort", place.dataset.way > 0 ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
  if (at === undefined) return rows;
  const value = place.columns[at].value;
  const compare = (one, other) => {
    const [a, b] = [value(one), value(other)];
    return (typeof a === "number" || typeof b === "number" ? (a ?? -1) - (b ?? -1) : String(a).localeCompare(String(b))) * place.dataset.way;
  };
  return [...rows].sort(compare);
}

function cell(td, column, row) {
  td.className = column.number ? "number" : column.time ? "time" : "text";
  if (column.fill) {
    column.fill(td, row);
    return;
  }
  change(td, column.text ? column.text(row) : `${column.value(row) ?? ""}`);
}

/** A column of names that lead to what is known of them, with what ``below`` says of each. */
const lookUp = (name, value, below = () => "") => ({
  name, value,
  fill: (td, row) => {
    if (!td.firstChild) td.replaceChildren(make("a"), make("span", { className: "why" }));
    const [link, more] = td.children;
    link.href = `look?q=${encodeURIComponent(value(row))}`;
    change(link, value(row));
    change(more, below(row));
  },
});

function change(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const times = (name, value) => ({ name, value, time: true, text: (row) => moment(value(row)) });

const numbers = (name, value, text = count) => ({ name, value, number: true, text: (row) => text(value(row)) });

/** A column of a name, with a bar for its share of the largest and, below, what it means. */
const barred = (name, value, size, largest, why) => ({
  name, value,
  fill: (td, row) => {
    if (!td.firstChild) td.replaceChildren(make("span"), make("span", { className: "share" }), make("span", { className: "why" }));
    const [label, bar, below] = td.children;
    change(label, value(row));
    bar.style.width = `${largest ? (100 * size(row)) / largest : 0}%`;
    bar.hidden = !size(row);
    change(below, why?.(row) || "");
  },
});

const most = (rows, size) => Math.max(0, ...(rows || []).map(size));

// --- the numbers

function show(crawl) {
  document.title = `${crawl.language} · ${STATES[crawl.state]} · lswc`;
  $("name").textContent = crawl.name;
  $("about").textContent = [crawl.language, crawl.strategy, `kept in ${crawl.store}`].filter(Boolean).join(" · ");
  const { began, seconds: ran, left } = crawl.times;
  const runs = crawl.state === "running";
  $("times").textContent = began == null ? "" : [
    `began ${moment(began)}`, `ran for ${lasted(ran)}`,
    runs && (left == null ? "no end in sight yet" : `at this rate nothing is pending in ${lasted(left)}`),
  ].filter(Boolean).join(" · ");
  $("replay").hidden = !crawl.replay;
  $("replay").firstElementChild.href = crawl.replay || "#";
  const since = crawl.state === "silent" ? ` since ${moment(crawl.time)}` : "";
  const silent = crawl.workers.filter((worker) => worker.state === "silent").length;
  const lost = silent && crawl.state !== "silent" ? ` · no sign of life of ${silent} of ${crawl.workers.length} workers` : "";
  $("state").className = `pill ${crawl.state} ${silent ? "lost" : ""}`;
  set("state-text", `${STATES[crawl.state]}${crawl.reason ? `: ${crawl.reason}` : ""}${since}${lost}`);
  toDo(crawl.alerts);
  tiles(crawl);
  panels(crawl);
  control(crawl);
  const { age, seconds: took, error } = crawl.count;
  const counted = age == null ? "The whole frontier is being counted …" : `The whole frontier was counted ${seconds(age)} ago, in ${seconds(took)}.`;
  set("foot", error || counted);
}

function set(id, text) {
  change($(id), text);
}

function speedMore(crawl) {
  const waits = crawl.workers.map((worker) => worker.waits).filter(Boolean);
  return [`${crawl.under_way} under way`, ...new Set(waits)].join("; ");
}

function tiles(crawl) {
  const { disk } = crawl;
  const { at_least: least, expected, at_most: most } = crawl.outlook;
  set("n-pages", large(crawl.pages));
  set("n-pages-more", `${bytes(crawl.received)} received`);
  set("n-harvest", percent(crawl.harvest_rate));
  const live = ["running", "paused", "offline"].includes(crawl.state);
  set("n-harvest-more", `${large(crawl.relevant)} relevant` + (crawl.guessed ? `, ${large(crawl.guessed)} guessed` : "")
    + (live && crawl.recent_harvest_rate != null ? `; ${percent(crawl.recent_harvest_rate)} in the latest minute` : ""));
  set("n-harvest-usual", crawl.usual_harvest);
  set("n-coverage", percent(crawl.coverage_at_most));
  set("n-coverage-more", crawl.coverage_at_most == null ? "" : "of what it knows of, an estimate");
  set("n-speed", live ? decimal.format(crawl.pages_per_second) : "–");
  set("n-speed-more", live ? speedMore(crawl) : "nothing runs");
  set("n-pending", large(crawl.pending));
  set("n-pending-more", crawl.postponed ? `${large(crawl.postponed)} of them postponed` : "");
  set("n-expected", large(Math.round(expected)));
  set("n-expected-more", `of those pending; ${large(Math.floor(least))} to ${large(Math.ceil(most))}`);
  const again = crawl.freshness;
  $("fresh").hidden = !again;
  set("n-fresh", percent(again?.fresh));
  set("n-fresh-more", again ? `of ${large(again.pages)} visited again; ${large(again.due)} due now` : "");
  set("n-servers", large(crawl.servers));
  const relevant = crawl.by_status?.relevant;
  set("n-servers-more", relevant ? `${large(relevant)} relevant` : "");
  set("n-disk", disk ? bytes(disk.free) : "–");
  set("n-disk-more", disk ? `${percent(disk.free / disk.total)} of ${bytes(disk.total)}` : "");
}

/** What somebody should do. Rows stay, so that a link in them keeps the focus. */
function toDo(alerts) {
  $("todo").hidden = !alerts.length;
  const rows = $("alerts");
  while (rows.children.length > alerts.length) rows.lastChild.remove();
  alerts.forEach(({ level, cause, step, link }, at) => {
    if (!rows.children[at]) {
      rows.append(make("li", {}, make("span"), make("p", {}, make("strong"), " ", make("span"), " ", make("a", { textContent: "Look at it" }))));
    }
    const [chip, text] = rows.children[at].children;
    rows.children[at].className = level;
    chip.className = "chip";
    change(chip, level);
    change(text.children[0], cause);
    change(text.children[1], step);
    text.children[2].hidden = !link;
    text.children[2].href = link || "#";
  });
}

/** What is crawl of pages visited again, a row each. */
function revisits(again) {
  $("again-card").hidden = !again;
  if (!again) return;
  table($("again"), [
    { name: "what", value: (row) => row[0] },
    { name: "number", value: (row) => row[1], number: true, text: (row) => row[1] },
  ], [
    ["pages, sitemaps, feeds", count(again.pages)],
    ["due now", count(again.due)],
    ["next one due", again.next_due == null ? "–" : moment(again.next_due)],
    ["visits a day, at most", count(Math.round(again.budget))],
    ["of these used, in this run", percent(again.used)],
    ["visits that found a change", count(again.changed)],
    ["visits that found none", count(again.unchanged)],
    ["pages gone", count(again.gone)],
    ["new relevant pages found by them", count(again.finds)],
  ], "");
}

/** What all workers fetch, the longest first. */
const fetching = (workers) => workers.flatMap((worker) => worker.fetching).sort((a, b) => b.seconds - a.seconds).slice(0, 25);

function panels(crawl) {
  const { under_way: under, tallies, outlook, workers, completion } = crawl;
  table($("fetching"), [
    lookUp("URL", (row) => row.url),
    numbers("tries", (row) => row.tries + 1),
    numbers("expected", (row) => row.expected, percent),
    numbers("since", (row) => row.seconds, seconds),
  ], fetching(workers), crawl.state === "running" && under === 0 ? "Nothing at this moment: all servers rest." : "The URLs that are being fetched appear here while the crawl runs, the longest first.");

  const { groups } = outlook;
  table($("groups"), [
    barred("URLs", (row) => row.name, (row) => row.pending, most(groups, (row) => row.pending)),
    numbers("pending", (row) => row.pending),
    numbers("pages so far", (row) => row.pages),
    { ...numbers("relevant so far", (row) => row.relevant / row.pages || 0), text: (row) => share(row.relevant, row.pages) },
  ], groups, "How many URLs are pending, by what is expected of them, appears here.");
  table($("cells"), [
    { name: "cell", value: (row) => row.name },
    numbers("pending", (row) => row.pending),
    numbers("expected", (row) => row.expected, percent),
    numbers("pages", (row) => row.pages),
  ], outlook.best, "Nothing is pending.");

  revisits(crawl.freshness);
  statuses(crawl.by_status);
  const servers = [
    lookUp("server", (row) => row.server), numbers("pages", (row) => row.downloaded),
    { ...numbers("relevant", (row) => row.relevant / row.downloaded || 0), text: (row) => share(row.relevant, row.downloaded) },
    numbers("pending", (row) => row.pending),
  ];
  const counting = crawl.count.age == null ? "The frontier is being counted …" : null;
  const meaning = (name) => crawl.sentences[name] || "";
  table($("largest"), servers, crawl.largest, counting || "The servers with most pages appear here once pages come.");
  table($("longest"), servers, crawl.longest, counting || "No URL is pending.");
  table($("families"), [
    lookUp("family of", (row) => row[0], (row) => `most by ${row[3]}: ${large(row[4])}`),
    numbers("sites", (row) => row[1]), { ...numbers("pages", (row) => row[2]), text: (row) => `${large(row[2])} (${share(row[2], crawl.pages)})` },
  ], crawl.families, counting || "Sites that one other site at most links to appear here by the site that introduced them.");
  change($("ended"), completion ? `${large(completion.complete)} complete, ${large(completion.cut_number)} cut short, ${large(completion.failed_number)} ended without a page.` : "");
  table($("cut"), [
    lookUp("server", (row) => row[0], (row) => `${row[1]}: ${meaning(row[1])}`), numbers("URLs left out", (row) => row[2]),
  ], completion?.cut, counting || "Servers of which a quota or a full frontier left out URLs appear here.");
  table($("failed"), [
    lookUp("server", (row) => row[0], (row) => (row[1] ? `${row[1]}: ${meaning(row[1])}` : "")),
  ], completion?.failed, counting || "Servers whose URLs all ended without a page appear here.");
  const without = crawl.without_page;
  change($("pageless-number"), without.servers ? Object.entries(without.reasons).map(([name, number]) => `${name} ${large(number)}`).join(", ") : "");
  table($("pageless"), [
    lookUp("server", (row) => row.name, (row) => Object.keys(row.reasons).map((name) => `${name}: ${meaning(name)}`).join("\n")),
    { name: "why", value: (row) => Object.entries(row.reasons).map(([name, number]) => `${name} ${large(number)}`).join(", ") },
    numbers("linked by relevant pages", (row) => row.linked),
  ], without.first, "Servers that answered and gave no page appear here, the most promising first.");
  table($("slowest"), [
    lookUp("server", (row) => row.server), numbers("answers", (row) => row.answers), numbers("takes", (row) => row.seconds, seconds),
  ], crawl.slowest, "The servers that take longest to answer appear here while the crawl runs.");

  const counts = (id, name, of, number, empty) => {
    const rows = Object.entries(of);
    table($(id), [
      barred(name, (row) => row[0], (row) => row[1], most(rows, (row) => row[1]), (row) => meaning(row[0])),
      numbers(number, (row) => row[1]),
    ], rows, empty);
  };
  counts("discarded", "reason", tallies.left_out, "URLs", "Links that the strategy or a limit leaves out are counted here by reason.");
  counts("errors", "error", tallies.errors, "URLs", "No errors so far. They are counted here by kind.");
  counts("postponed", "after", tallies.postponed, "URLs", "Nothing is postponed. URLs that couldn’t be had are tried again later.");
  counts("languages", "language", tallies.languages, "pages", "The languages of the pages are counted here.");

  $("workers-card").hidden = crawl.store !== "Redis";
  table($("workers"), [
    { name: "worker", value: (row) => `${row.host} ${row.folder}` },
    { name: "does", value: (row) => STATES[row.state] || row.state, fill: does },
    numbers("pages in this run", (row) => row.pages),
    numbers("pages per second", (row) => row.pages_per_second, (value) => decimal.format(value ?? 0)),
    numbers("under way", (row) => row.under_way),
    times("heard", (row) => row.time),
  ], workers, "Workers appear here when they join the crawl.");
}

function does(td, row) {
  if (!td.firstChild) td.replaceChildren(make("span", { className: "chip" }));
  td.firstChild.className = `chip ${{ running: "good", paused: "wait", offline: "wait", silent: "bad" }[row.state] || ""}`;
  change(td.firstChild, STATES[row.state] || row.state || "");
}

const ORDER = ["relevant", "undecided", "irrelevant", "unvisited"];

function statuses(found) {
  const place = $("servers");
  const rows = found && ORDER.map((name) => [name, found[name] || 0]);
  const all = rows ? rows.reduce((sum, row) => sum + row[1], 0) : 0;
  let stack = place.querySelector(".stack");
  if (!stack) {
    place.replaceChildren(make("div", { className: "stack" }), make("div"));
    stack = place.firstChild;
    stack.setAttribute("aria-hidden", "true");
    ORDER.forEach((name) => stack.append(make("span", { className: name })));
  }
  stack.hidden = !all;
  (rows || []).forEach(([, number], at) => {
    stack.children[at].style.width = `${all ? (100 * number) / all : 0}%`;
    stack.children[at].hidden = !number;
  });
  table(place.lastChild, [
    { name: "status", value: (row) => row[0], fill: (td, row) => {
      if (!td.firstChild) td.replaceChildren(make("span"), make("span"));
      td.children[0].className = `swatch ${row[0]}`;
      td.children[1].textContent = row[0];
    } },
    numbers("servers", (row) => row[1]),
    { ...numbers("share", (row) => row[1]), text: (row) => share(row[1], all) },
  ], all ? rows : null, found ? "Servers appear here once URLs are found." : "The servers are being counted …");
}

// --- instructions to the crawl

const WORDS = {
  block: () => "blocked", block_family: () => "blocked, with the sites that it introduced", pause: () => "paused",
  delay: (value) => `rests ${value} s`, max_pages: (value) => `at most ${count(value)} pages`,
  max_bytes: (value) => `at most ${bytes(value)}`, max_depth: (value) => `at most ${value} links from the seeds`,
  tolerate: (value) => `${value} irrelevant pages tolerated`, priority: (value) => `priority ${value}`,
  generated: (value) => `if machines wrote it: ${value}`,
};

const FLAGS = { block: true, block_family: true, pause: true, generated: "keep" };

function words(key, value) {
  if (value === false) return `not ${WORDS[key]?.(true) || key}`;
  return WORDS[key]?.(value) || `${key} ${value}`;
}

let paused = false;

function control({ control: whole, rules, control_error: error, state }) {
  const may = Boolean(token);
  paused = Boolean(whole.pause);
  $("pause").hidden = !may || (state === "closed" && !paused);
  set("pause", paused ? "Let it go on" : "Pause the crawl");
  $("say").hidden = !may;
  $("locked").hidden = may;
  const rows = [];
  for (const key of ["pause", "stop", "hours", "requests"]) {
    if (whole[key] || whole[key] === 0) rows.push(["the whole crawl", key, whole[key], whole.why]);
  }
  for (const [place, rule, why] of rules) {
    for (const [key, value] of Object.entries(rule)) rows.push([place, key, value, why]);
  }
  const columns = [
    { name: "place", value: (row) => row[0] }, { name: "instruction", value: (row) => words(row[1], row[2]) },
    { name: "why", value: (row) => row[3] || "" },
  ];
  if (may) columns.push({ name: "change", fill: takeBack });
  table($("rules"), columns, rows, error || "None. Block or pause a site here, or after you have looked it up.");
}

function takeBack(td, row) {
  td.className = "number";
  const place = row[0] === "the whole crawl" ? "" : row[0];
  let press = td.querySelector("button");
  if (!press) {
    press = make("button", { type: "button", className: "small", textContent: "Take back" });
    press.addEventListener("click", () => say(press.dataset.key, null, press.dataset.place, ""));
    td.replaceChildren(press);
  }
  Object.assign(press.dataset, { key: row[1], place });
  press.setAttribute("aria-label", `Take back: ${row[0]}, ${words(row[1], row[2])}`);
}

/** Ask why the crawl is to be paused, then pause it. */
function askToPause() {
  const dialog = $("ask");
  $("ask-why").value = dialog.returnValue = "";
  dialog.showModal();
  $("ask-why").focus();
}

async function showChanges() {
  const answer = await ask("api/changes");
  table($("changes"), [
    times("when", (row) => Date.parse(row.time) / 1000),
    { name: "place", value: (row) => row.place || "the whole crawl" },
    { name: "instruction", value: (row) => (row.value == null ? `${row.key} taken back` : words(row.key, row.value)) },
    { name: "why", value: (row) => row.why }, { name: "by", value: (row) => row.by },
  ], answer.changes, "No instructions were given before.");
}

// --- the page

function explain() {
  for (const head of document.querySelectorAll("[data-term]")) {
    const id = `tip-${head.dataset.term}`;
    const press = make("button", { type: "button", textContent: head.textContent });
    press.setAttribute("aria-describedby", id);
    const tip = make("span", { id, className: "tip", textContent: GLOSSARY[head.dataset.term] });
    tip.setAttribute("role", "tooltip");
    head.classList.add("term");
    head.replaceChildren(press, tip);
    const side = () => head.classList.toggle("right", head.getBoundingClientRect().left + Math.min(336, 0.7 * innerWidth) > innerWidth - 16);
    press.addEventListener("mouseenter", side);
    press.addEventListener("focus", side);
    press.addEventListener("keydown", (event) => event.key === "Escape" && press.blur());
  }
}

let version = -1;
let columns = null;
let timer = 0;

async function refresh() {
  clearTimeout(timer);
  try {
    const crawl = await ask(`api/state?course=${version}`);
    if (crawl.course.columns) {
      ({ version, columns } = crawl.course);
      Draw.draw(columns);
    }
    show(crawl);
    if (!$("alert").hidden && $("alert").dataset.lost) alarm("");
    delete $("alert").dataset.lost;
  } catch (error) {
    $("alert").dataset.lost = "yes";
    alarm(error instanceof TypeError ? "The watch doesn’t answer any more: start it again. The crawl doesn’t need it." : error.message);
  }
  if (!document.hidden) timer = setTimeout(refresh, EVERY);
}

$("pause").addEventListener("click", () => (paused ? say("pause", null, "", "") : askToPause()));
$("ask").addEventListener("close", () => $("ask").returnValue === "yes" && say("pause", true, "", $("ask-why").value));
$("ask-no").addEventListener("click", () => $("ask").close(""));
$("say-key").addEventListener("change", () => {
  const flag = $("say-key").value in FLAGS;
  $("say-value-label").hidden = flag;
  $("say-value").required = !flag;
});
$("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const key = $("say-key").value;
  const value = key in FLAGS ? FLAGS[key] : Number($("say-value").value);
  if (await say(key, value, $("say-place").value, $("say-why").value)) $("say").reset();
  $("say-key").dispatchEvent(new Event("change"));
});
$("history").addEventListener("toggle", () => $("history").open && showChanges().catch((error) => alarm(error.message)));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    $("q").focus();
  }
});
document.addEventListener("visibilitychange", () => !document.hidden && refresh());
explain();
refresh();
