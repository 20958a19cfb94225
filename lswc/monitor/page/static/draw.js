// Draws the crawl's course with uPlot, in the colours of the style sheet.
"use strict";

const Draw = (() => {
  const charts = {};
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const percent = (value) => (value == null ? "–" : `${(100 * value).toFixed(1)} %`);
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const plain = (value) => (value == null ? "–" : number.format(value));
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

  const kinds = {
    "chart-share": {
      series: [["Harvest rate", "harvest", "--series-1"], ["Harvest rate, latest", "recent", "--series-3"],
        ["Coverage, at most", "coverage", "--series-2"]],
      value: percent, tick: (value) => `${Math.round(100 * value)} %`, range: [0, 1],
      empty: "How the harvest rate and the coverage go appears here a few seconds after the crawl has begun.",
    },
    "chart-speed": {
      series: [["Pages a second", "speed", "--series-1"]], value: plain, tick: (value) => short.format(value),
      empty: "Pages a second appear here a few seconds after the crawl has begun.",
    },
    "chart-queue": {
      series: [["URLs waiting", "waiting", "--series-3"], ["Relevant pages expected", "expected", "--series-2"]],
      value: plain, tick: (value) => short.format(value),
      empty: "How many URLs wait, and how many relevant pages are expected among them, appears here.",
    },
  };

  const two = (value) => `${value}`.padStart(2, "0");

  /** Times of an axis: days, or hours and minutes, or seconds too, by how much it spans. */
  function times(u, ticks) {
    const span = u.scales.x.max - u.scales.x.min;
    return ticks.map((tick) => {
      const at = new Date(1000 * tick);
      const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
      if (span > 5 * 86400) return day.slice(span > 300 * 86400 ? 0 : 5);
      const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
      if (span > 86400) return `${day.slice(5)} ${time}`;
      return span > 600 ? time : `${time}:${two(at.getSeconds())}`;
    });
  }

  /** Say the latest values below a chart, while nobody points at others. */
  function latest(u) {
    if (u.cursor.idx == null) u.setLegend({ idx: u.data[0].length - 1 }, false);
  }

  function options(kind, width) {
    const grid = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: colour("--quiet"), grid, ticks: { show: false }, font: "11px system-ui", gap: 6 };
    return {
      width, height: 232 - 26,
      cursor: { drag: { x: true, y: false } },
      scales: { y: { range: kind.range || ((u, low, high) => [0, high > 0 ? high * 1.08 : 1]) } },
      axes: [{ ...axis, space: 84, size: 28, values: times }, { ...axis, size: 46, values: (u, ticks) => ticks.map(kind.tick) }],
      series: [{ label: "Time", value: (u, time) => (time == null ? "–" : new Date(1000 * time).toLocaleString("sv")) },
        ...kind.series.map(([label, , name]) => ({
          label, stroke: colour(name), width: 1.8, value: (u, value) => kind.value(value),
          points: { show: (u) => u.data[0].length < 3, size: 6 },
        }))],
      legend: { live: true, markers: { width: 0, fill: (u, at) => (at ? colour(kind.series[at - 1][2]) : "transparent") } },
      hooks: { setCursor: [latest] },
    };
  }

  function draw(columns) {
    for (const [id, kind] of Object.entries(kinds)) {
      const place = document.getElementById(id);
      const data = [columns.time, ...kind.series.map(([, name]) => columns[name])];
      const first = data[1].findIndex((value) => value != null);
      if (first < 0) {
        charts[id]?.destroy();
        delete charts[id];
        place.replaceChildren(Object.assign(document.createElement("p"), { className: "empty", textContent: kind.empty }));
        continue;
      }
      if (!charts[id]) {
        place.replaceChildren();
        charts[id] = new uPlot(options(kind, place.clientWidth), data, place);
      } else {
        charts[id].setData(data);
      }
      latest(charts[id]);
      const said = kind.series.map(([label, name]) => `${label} ${kind.value(columns[name].findLast((value) => value != null))}`);
      place.setAttribute("role", "img");
      place.setAttribute("aria-label", `Now: ${said.join(", ")}`);
    }
  }

  function forget() {
    for (const id of Object.keys(charts)) {
      charts[id].destroy();
      delete charts[id];
    }
  }

  function fit() {
    for (const [id, chart] of Object.entries(charts)) {
      const width = document.getElementById(id).clientWidth;
      if (width && width !== chart.width) chart.setSize({ width, height: chart.height });
    }
  }

  return { draw, fit, forget };
})();
