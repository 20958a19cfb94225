// Lists the crawls of a folder, and starts and stops them.
"use strict";

const OFTEN = 3000;
let later = 0;

async function tell(what, name, button) {
  button.disabled = true;
  try {
    await send(what, { name });
    alarm("");
  } catch (error) {
    alarm(error.message);
  }
  await look();
}

function row(one) {
  const what = one.is_live ? "stop" : "start";
  const isNew = ["planned", "starting"].includes(one.state);
  const press = make("button", { className: "small", type: "button", textContent: one.is_live ? "Stop" : isNew ? "Start" : "Go on" });
  press.setAttribute("aria-label", `${press.textContent} ${one.name}`);
  press.disabled = ["starting", "unreadable"].includes(one.state);
  press.addEventListener("click", () => tell(what, one.name, press));
  const state = STATES[one.state] + (one.reason ? `: ${one.reason}` : "") + (one.wrong ? `; ${one.wrong}` : "");
  const cells = [
    one.state === "unreadable" ? one.name : make("a", { href: isNew ? `plan?crawl=${encodeURIComponent(one.name)}` : `${encodeURIComponent(one.name)}/`, textContent: one.name }), one.language ?? "", state,
    large(one.pages), percent(one.harvest_rate), one.is_live ? decimal.format(one.pages_per_second) : "–", large(one.pending),
    moment(one.began), lasted(one.seconds), one.is_live ? lasted(one.left) : "–", token ? press : "",
  ];
  return make("tr", {}, ...cells.map((cell, at) => make("td", { className: at > 2 && at < 7 ? "number" : "" }, cell)));
}

async function look() {
  clearTimeout(later);
  try {
    const answer = await ask("api/crawls");
    $("name").textContent = answer.name;
    $("about").textContent = `${count(answer.crawls.length)} ${answer.crawls.length === 1 ? "crawl" : "crawls"}, ${count(answer.crawls.filter((one) => one.is_live).length)} running`;
    $("crawls").replaceChildren(...answer.crawls.map(row));
    $("none").hidden = answer.crawls.length > 0;
    $("locked").hidden = Boolean(token);
  } catch (error) {
    alarm(reason(error));
  }
  if (!document.hidden) later = setTimeout(look, OFTEN);
}

document.addEventListener("visibilitychange", () => !document.hidden && look());
look();
