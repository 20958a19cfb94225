// A chart of lines over time, as SVG: ticks, a crosshair for pointer and keyboard, a legend that hides lines.
"use strict";

const Chart = (() => {
  const HEIGHT = 200;
  const MARGIN = { top: 10, right: 14, bottom: 26, left: 46 };
  const MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, MONTH = 30 * DAY;
  const STEPS = [1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR,
    3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 3 * DAY, 7 * DAY, 14 * DAY, MONTH, 2 * MONTH, 3 * MONTH, 6 * MONTH, 12 * MONTH];
  const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
  const month = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric" });

  /** Return an element of HTML or SVG with attributes and children. */
  function draw(tag, attributes = {}, ...children) {
    const html = ["button", "div", "span"].includes(tag);
    const element = html ? document.createElement(tag) : document.createElementNS("http://www.w3.org/2000/svg", tag);
    set(element, attributes);
    element.append(...children);
    return element;
  }

  function set(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  }

  /** Return the moments, and their names, at which an axis of time has ticks: whole ones of the clock of here. */
  function moments(from, to, most) {
    const step = STEPS.find((one) => (to - from) / one <= most) || STEPS.at(-1);
    const begin = new Date(1000 * from);
    const [year, monthOf, date] = [begin.getFullYear(), begin.getMonth(), begin.getDate()];
    const ticks = [];
    for (let number = 0, at = 0; at <= to; number += 1) {
      const when = step < MONTH ? new Date(year, monthOf, date, 0, 0, number * step) : new Date(year, monthOf + (number * step) / MONTH, 1);
      at = when / 1000;
      if (at >= from && at <= to) ticks.push([at, named(when, step)]);
    }
    return ticks;
  }

  function named(when, step) {
    if (step >= MONTH) return month.format(when);
    if (step >= DAY || when.getHours() + when.getMinutes() + when.getSeconds() === 0) return day.format(when);
    return when.toLocaleTimeString("sv").slice(0, step < MINUTE ? 8 : 5);
  }

  /** Return values from 0 on in even steps of 1, 2, 2.5 or 5 times a power of ten; the last is no less than the top. */
  function values(top, most) {
    const power = 10 ** Math.floor(Math.log10(top / most));
    const step = power * [1, 2, 2.5, 5, 10].find((one) => one * power * most >= top * 0.999999);
    return Array.from({ length: Math.ceil(top / step - 1e-6) + 1 }, (_, number) => number * step);
  }

  /** Return the paths of a line that breaks where a value is missing, and of the points that stand alone. */
  function paths(xs, ys) {
    let line = "", alone = "";
    ys.forEach((y, at) => {
      if (y == null) return;
      const place = `${xs[at].toFixed(1)} ${y.toFixed(1)}`;
      if (ys[at - 1] != null) line += `L${place}`;
      else if (ys[at + 1] != null) line += `M${place}`;
      else alone += `M${place}h0`;
    });
    return [line, alone];
  }

  /** Lines of `kind.series`, each of a label, a column and a class; in `place`, whose width it keeps to. */
  class Chart {
    constructor(place, kind) {
      Object.assign(this, { place, kind, columns: null, index: null, hidden: new Set() });
      this.grid = draw("g", { class: "grid" });
      this.lines = kind.series.map(([, , look]) => [draw("path", { class: `line ${look}` }), draw("path", { class: `alone ${look}` })]);
      this.dots = kind.series.map(([, , look]) => draw("circle", { class: look, r: 4 }));
      this.rule = draw("line", { y1: MARGIN.top });
      this.tag = draw("rect", { rx: 4, height: 18 });
      this.moment = draw("text", { class: "when" });
      this.cross = draw("g", { class: "cross", visibility: "hidden" }, this.rule, ...[...this.dots].reverse(), this.tag, this.moment);
      this.svg = draw("svg", { tabindex: 0, role: "slider", "aria-label": kind.name, "aria-valuemin": 0 },
        this.grid, ...this.lines.flat().reverse(), this.cross);
      this.keys = kind.series.map((series, number) => this.key(series, number));
      place.replaceChildren(this.svg, draw("div", { class: "legend" }, ...this.keys));
      this.listen();
    }

    /** Return the button that names a line, shows its value, and hides it. */
    key([label, , look], number) {
      const button = draw("button", { type: "button", "aria-pressed": true }, draw("span", { class: `mark ${look}` }), `${label} `,
        draw("span", { class: "value" }));
      button.addEventListener("click", () => {
        if (!this.hidden.delete(number)) this.hidden.add(number);
        button.setAttribute("aria-pressed", !this.hidden.has(number));
        this.draw();
      });
      return button;
    }

    listen() {
      const follow = (event) => this.point(this.nearest(event.clientX - this.svg.getBoundingClientRect().left));
      this.svg.addEventListener("pointerdown", follow);
      this.svg.addEventListener("pointermove", follow);
      this.svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.point(null));
      this.svg.addEventListener("focus", () => this.svg.matches(":focus-visible") && this.point(this.known().at(-1)));
      this.svg.addEventListener("blur", () => this.point(null));
      this.svg.addEventListener("keydown", (event) => this.press(event));
      new ResizeObserver(() => this.place.clientWidth !== this.width && this.draw()).observe(this.place);
    }

    press(event) {
      const known = this.known();
      const at = this.index == null ? known.length : known.indexOf(this.index);
      const far = Math.ceil(known.length / 10);
      const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - far, PageUp: at + far,
        Home: 0, End: known.length }[event.key];
      if (event.key === "Escape") this.point(null);
      if (to === undefined) return;
      event.preventDefault();
      this.point(known[Math.max(0, Math.min(known.length - 1, to))]);
    }

    /** Show other columns, all of one length, `time` among them. What is pointed at stays the same moment. */
    show(columns) {
      const time = this.index == null ? null : this.columns.time[this.index];
      this.columns = columns;
      this.draw();
      if (time != null) this.point(this.nearest(this.x(time)));
    }

    /** Return the indexes at which a line that is shown has a value. */
    known() {
      const shown = this.kind.series.filter((_, number) => !this.hidden.has(number));
      return [...this.columns.time.keys()].filter((at) => shown.some(([, name]) => this.columns[name][at] != null));
    }

    nearest(x) {
      const away = (at) => Math.abs(this.x(this.columns.time[at]) - x);
      return this.known().reduce((best, at) => (best != null && away(best) < away(at) ? best : at), null);
    }

    draw() {
      this.width = this.place.clientWidth;
      if (!this.width || !this.columns) return;
      const { time } = this.columns;
      const [left, right, bottom] = [MARGIN.left, this.width - MARGIN.right, HEIGHT - MARGIN.bottom];
      const shown = this.kind.series.filter((_, number) => !this.hidden.has(number)).map(([, name]) => this.columns[name]);
      const most = shown.flat().reduce((one, other) => Math.max(one, other ?? 0), 0);
      const ticks = values(this.kind.top || most || 1, 4);
      const [from, to] = time.length > 1 ? [time[0], time.at(-1)] : [time[0] - 30, time[0] + 30];
      this.x = (moment) => left + ((moment - from) / (to - from)) * (right - left);
      this.y = (value) => (value == null ? null : bottom - (value / ticks.at(-1)) * (bottom - MARGIN.top));
      set(this.svg, { width: this.width, height: HEIGHT, "aria-valuemax": time.length - 1 });
      set(this.rule, { y2: bottom });
      this.grid.replaceChildren(
        ...ticks.flatMap((tick) => [draw("line", { x1: left, x2: right, y1: this.y(tick), y2: this.y(tick) }),
          draw("text", { x: left - 8, y: this.y(tick) + 4, "text-anchor": "end" }, this.kind.tick(tick))]),
        ...moments(from, to, Math.floor((right - left) / 58)).flatMap(([moment, name]) => [
          draw("line", { x1: this.x(moment), x2: this.x(moment), y1: bottom, y2: bottom + 4 }),
          draw("text", { x: Math.min(this.x(moment), this.width - 3.2 * name.length), y: HEIGHT - 8, class: "when" }, name)]),
      );
      this.lines.forEach((pair, number) => {
        const [, name] = this.kind.series[number];
        const drawn = this.hidden.has(number) ? ["", ""] : paths(time.map(this.x), this.columns[name].map(this.y));
        pair.forEach((path, at) => path.setAttribute("d", drawn[at]));
      });
      this.point(this.index);
    }

    /** Point at an index of the columns, or at none: then the legend has the latest values. */
    point(index) {
      this.index = this.known().includes(index) ? index : null;
      const at = this.index;
      const last = this.columns.time.length - 1;
      const values = this.kind.series.map(([label, name], number) => {
        const column = this.columns[name];
        const value = this.kind.value(at == null ? column.findLast((one) => one != null) : column[at]);
        this.keys[number].lastChild.textContent = value;
        return `${label} ${value}`;
      });
      const moment = new Date(1000 * this.columns.time[at ?? last]).toLocaleString("sv");
      set(this.svg, { "aria-valuenow": at ?? last, "aria-valuetext": `${at == null ? "Now" : moment}: ${values.join(", ")}` });
      this.cross.setAttribute("visibility", at == null ? "hidden" : "visible");
      const x = at == null ? 0 : this.x(this.columns.time[at]);
      const middle = Math.max(MARGIN.left + 60, Math.min(this.width - 66, x));
      for (const text of this.grid.querySelectorAll(".when")) {
        text.setAttribute("visibility", at != null && Math.abs(text.getAttribute("x") - middle) < 92 ? "hidden" : "visible");
      }
      if (at == null) return;
      set(this.rule, { x1: x, x2: x });
      this.dots.forEach((dot, number) => {
        const y = this.hidden.has(number) ? null : this.y(this.columns[this.kind.series[number][1]][at]);
        set(dot, { cx: x, cy: y ?? 0, display: y == null ? "none" : "inline" });
      });
      set(this.tag, { x: middle - 64, y: HEIGHT - 22, width: 128 });
      set(this.moment, { x: middle, y: HEIGHT - 9 });
      this.moment.textContent = moment;
    }
  }

  return Chart;
})();
