// The crawl's course as three charts.
"use strict";

const Draw = (() => {
  const charts = {};
  const percent = (value) => (value == null ? "–" : `${(100 * value).toFixed(1)} %`);
  const small = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const large = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const plain = (value) => (value == null ? "–" : (value < 100 ? small : large).format(value));
  const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

  const kinds = {
    "chart-share": {
      name: "Harvest rate and coverage over time", top: 1, value: percent, tick: (value) => `${Math.round(100 * value)} %`,
      series: [["Harvest rate", "harvest", "first"], ["Estimated coverage", "coverage", "second"],
        ["Harvest rate, latest", "recent", "third"]],
      empty: "How the harvest rate and the coverage go appears here a few seconds after the crawl has begun.",
    },
    "chart-speed": {
      name: "Pages per second over time", value: plain, tick: (value) => short.format(value),
      series: [["Pages per second", "speed", "first"]],
      empty: "Pages per second appear here a few seconds after the crawl has begun.",
    },
    "chart-queue": {
      name: "The frontier over time", value: plain, tick: (value) => short.format(value),
      series: [["Relevant pages expected", "expected", "second"], ["URLs pending", "pending", "third"]],
      empty: "How many URLs are pending, and how many relevant pages are expected among them, appears here.",
    },
  };

  /** Show other columns. A chart of nothing says so, until there is something. */
  function draw(columns) {
    for (const [id, kind] of Object.entries(kinds)) {
      const place = document.getElementById(id);
      if (kind.series.some(([, name]) => columns[name].some((value) => value != null))) {
        charts[id] ||= new Chart(place, kind);
        charts[id].show(columns);
      } else {
        delete charts[id];
        place.replaceChildren(Object.assign(document.createElement("p"), { className: "empty", textContent: kind.empty }));
      }
    }
  }

  return { draw };
})();
