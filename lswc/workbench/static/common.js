// What the pages share. What their server tells comes from the web: it is text, never HTML.
"use strict";

const STATES = {
  running: "running", paused: "paused", offline: "offline", closed: "ended", silent: "no sign of life",
  unknown: "nothing reported yet", planned: "not begun", starting: "starting",
  unreadable: "can’t be read by the user of this watch",
};

const $ = (id) => document.getElementById(id);
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

const count = (value) => (value == null ? "–" : whole.format(value));
const large = (value) => (value == null ? "–" : value >= 1e6 ? compact.format(value) : whole.format(value));
const percent = (value) => (value == null ? "–" : `${(100 * value).toFixed(1)} %`);
const seconds = (value) => (value == null ? "–" : value < 10 ? `${value.toFixed(1)} s` : value < 600 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`);
const moment = (value) => (value == null ? "" : new Date(1000 * value).toLocaleString("sv"));
const share = (part, all) => (all ? percent(part / all) : "–");

function bytes(value) {
  if (value == null) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(value, 1)) / 3));
  return `${decimal.format(value / 1000 ** power)} ${units[power]}`;
}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child != null));
  return element;
}

// --- the token, which the address holds after "#", where no server sees it

let token = decodeURIComponent(location.hash.slice(1));
try {
  if (/^[\w-]{20,}$/.test(token)) sessionStorage.setItem("token", token);
  token = sessionStorage.getItem("token") || "";
} catch { /* without storage it lasts until the page is loaded again */ }
if (location.hash.length > 20) history.replaceState(null, "", location.pathname);

// --- asking

async function ask(path, options) {
  const response = await fetch(path, options);
  const type = response.headers.get("content-type") || "";
  const answer = type.startsWith("application/json") ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(answer.error || `${response.status}`);
  return answer;
}

/** Ask for a change, with the token. */
const send = (name, values) => ask(`api/${name}`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Lswc-Token": token },
  body: JSON.stringify(values),
});

/** What is shown of an error of asking. */
const reason = (error) => (error instanceof TypeError ? "The watch doesn’t answer any more: start it again." : error.message);

function alarm(text) {
  $("alert").textContent = text;
  $("alert").hidden = !text;
}

function lasted(value) {
  if (value == null) return "–";
  const minutes = Math.round(value / 60);
  if (minutes < 2) return seconds(value);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  return [days && `${days} d`, (days || hours) && `${hours} h`, !days && `${minutes % 60} min`].filter(Boolean).join(" ");
}
