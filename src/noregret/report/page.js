"use strict";
// Draws the charts of the page as SVG from the JSON in #data.  Nothing is loaded, and text from
// data goes in as text, never as markup.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  let made = 0;

  const html = (tag, parent, props = {}) => parent.appendChild(Object.assign(document.createElement(tag), props));
  const svg = (tag, parent, attributes = {}) => {
    const node = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return parent.appendChild(node);
  };

  // Numbers ------------------------------------------------------------------------------------

  const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
  const tiny = (v) => v !== 0 && Math.abs(v) < 1e-4;
  const text = (v) => {
    if (v === null || v === undefined) return "–";
    if (tiny(v) || Math.abs(v) >= 1e12) return v.toExponential(2).replace("e+", "e");
    return Math.abs(v) >= 1e5 ? whole.format(v) : plain.format(v);
  };
  const brief = (v) => {
    if (tiny(v) || Math.abs(v) >= 1e15) return v.toExponential(1).replace(".0e", "e").replace("e+", "e");
    return Math.abs(v) >= 1e4 ? compact.format(v) : plain.format(v);
  };

  // Round numbers between a and b, about n of them.
  const ticks = (a, b, n) => {
    const raw = (b - a) / Math.max(1, n);
    if (!(raw > 0)) return [a];
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((k) => k * power >= raw * 0.999) * power;
    const found = [];
    for (let k = Math.ceil(a / step - 1e-9); k * step <= b + step * 1e-9; k += 1) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  };
  const decades = (a, b) => {
    const low = Math.ceil(Math.log10(a) - 1e-9);
    const high = Math.floor(Math.log10(b) + 1e-9);
    if (high <= low) return ticks(a, b, 4);
    const step = Math.ceil((high - low + 1) / 6);
    return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, k) => 10 ** (low + k * step));
  };

  // Dates instead of rows, where rows have times: between two that are known, in proportion.
  const clock = JSON.parse(document.getElementById("clock").textContent);
  const moment = (row) => {
    const k = Math.min(Math.max(1, place(clock.rows, row)), clock.rows.length - 1);
    const [r0, r1, t0, t1] = [clock.rows[k - 1], clock.rows[k], clock.at[k - 1], clock.at[k]];
    return new Date(1000 * (t0 + ((row - r0) / (r1 - r0)) * (t1 - t0))).toISOString();
  };
  const dated = (row, span) => {
    const iso = moment(row);
    const days = clock.rows.length > 1 ? (Math.abs(Date.parse(moment(row + span)) - Date.parse(iso))) / 864e5 : 0;
    if (days > 3) return iso.slice(0, 10);
    return `${iso.slice(5, 10)} ${iso.slice(11, 16)}`;
  };

  // The first place in the sorted xs that is at least x.
  const place = (xs, x) => {
    let low = 0;
    let high = xs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const nearest = (xs, x) => {
    const k = place(xs, x);
    if (k === 0) return 0;
    if (k === xs.length) return k - 1;
    return x - xs[k - 1] <= xs[k] - x ? k - 1 : k;
  };

  // Series come with steps instead of places, and bands may be told by the names of two lines.
  const unpack = (view) => {
    const places = (steps) => {
      let x = 0;
      return steps.map((step) => (x += step));
    };
    for (const one of view.series) {
      if (one.dx) one.x = places(one.dx);
      if (one.dx2) one.x2 = places(one.dx2);
    }
    for (const one of view.series) {
      if (!one.upper) continue;
      const [top, floor] = [one.upper, one.lower].map((name) => view.series.find((other) => other.name === name));
      const both = top.x.map((_, k) => k).filter((k) => top.y[k] !== null && floor.y[k] !== null);
      one.x = one.x2 = both.map((k) => top.x[k]);
      [one.y, one.y2] = [both.map((k) => top.y[k]), both.map((k) => floor.y[k])];
    }
  };

  // A chart ------------------------------------------------------------------------------------

  const chart = (figure, spec) => {
    const id = `clip${(made += 1)}`;
    const state = { choice: spec.start, view: 0, zoom: null, log: false, hidden: null };
    const bar = html("div", figure, { className: "bar" });
    const picture = svg("svg", figure, { role: "img" });
    const legend = html("div", figure, { className: "legend" });
    const note = html("figcaption", figure, { className: "note" });
    const choice = () => spec.choices[state.choice];
    const view = () => choice().views[Math.min(state.view, choice().views.length - 1)];
    const shown = () => view().series.filter((one) => !state.hidden.has(one.name));
    let scale = null;

    const hideFar = () => {
      state.hidden = new Set(view().series.filter((one) => one.off).map((one) => one.name));
    };

    const button = (parent, label, title, act) => {
      const made_ = html("button", parent, { type: "button", textContent: label, title });
      made_.addEventListener("click", act);
      return made_;
    };

    // The bar: which choice, which view, zoom.
    const controls = () => {
      bar.replaceChildren();
      if (spec.heading) html("strong", bar, { textContent: spec.heading });
      if (spec.choices.length > 1) {
        const menu = html("select", bar, { title: "What to show" });
        menu.setAttribute("aria-label", "What to show");
        for (const one of spec.choices) html("option", menu, { textContent: one.label });
        menu.selectedIndex = state.choice;
        menu.addEventListener("change", () => {
          state.choice = menu.selectedIndex;
          state.zoom = null;
          hideFar();
          controls();
          draw();
        });
      } else if (choice().label) html("span", bar, { className: "kind", textContent: choice().label });
      if (choice().views.length > 1) {
        const group = html("span", bar, { className: "group" });
        choice().views.forEach((one, k) => {
          const made_ = button(group, one.label, one.y, () => {
            state.view = k;
            state.zoom = null;
            controls();
            draw();
          });
          made_.setAttribute("aria-pressed", String(view() === one));
        });
      }
      const right = html("span", bar, { className: "group space" });
      if (view().log) {
        const made_ = button(right, "log", "Logarithmic scale", () => {
          state.log = !state.log;
          controls();
          draw();
        });
        made_.setAttribute("aria-pressed", String(state.log));
      }
      if (!view().fixed) {
        button(right, "+", "Zoom in", () => zoomBy(0.5));
        button(right, "−", "Zoom out", () => zoomBy(2));
        const whole_ = button(right, "all", "Show all (or double-click the chart)", () => zoomTo(null));
        whole_.disabled = state.zoom === null;
      }
    };

    // Extents of x and y among what is shown.
    const extentX = () => {
      if (view().fixed) return view().fixed;
      let [a, b] = [Infinity, -Infinity];
      for (const one of view().series) {
        for (const xs of [one.x, one.x2 || []]) {
          if (xs.length) [a, b] = [Math.min(a, xs[0]), Math.max(b, xs[xs.length - 1])];
        }
      }
      if (!(a <= b)) return [0, 1];
      return a < b ? [a, b] : [a - 0.5, b + 0.5];
    };
    const extentY = ([x0, x1], log) => {
      if (view().range) return view().range;
      let [a, b] = [Infinity, -Infinity];
      const admit = (xs, ys) => {
        const start = Math.max(0, place(xs, x0) - 1);
        const stop = Math.min(xs.length - 1, place(xs, x1));
        for (let k = start; k <= stop; k += 1) {
          const v = ys[k];
          if (v !== null && v !== undefined && (!log || v > 0)) [a, b] = [Math.min(a, v), Math.max(b, v)];
        }
      };
      for (const one of shown()) {
        admit(one.x, one.y);
        if (one.x2) admit(one.x2, one.y2);
        if (one.kind === "bars") a = Math.min(a, 0);
      }
      if (!(a <= b)) return log ? [0.1, 1] : [0, 1];
      if (log) return [a / 1.1, b * 1.1];
      if (view().zero) [a, b] = [Math.min(a, 0), Math.max(b, 0)];
      const pad = a < b ? (b - a) * 0.04 : Math.max(1e-12, Math.abs(a) * 0.1);
      return [a === 0 ? 0 : a - pad, b + pad];
    };

    // Points as a path; only those in sight, and one to either side.
    const trail = (xs, ys) => {
      const start = Math.max(0, place(xs, scale.x0) - 1);
      const stop = Math.min(xs.length - 1, place(xs, scale.x1));
      let d = "";
      let pen = "M";
      for (let k = start; k <= stop; k += 1) {
        const bad = ys[k] === null || ys[k] === undefined || (scale.log && ys[k] <= 0);
        if (bad) pen = "M";
        else {
          d += `${pen}${scale.x(xs[k]).toFixed(1)},${scale.y(ys[k]).toFixed(1)}`;
          pen = "L";
        }
      }
      return d;
    };

    const paint = (group, one) => {
      const classes = (base) => [base, `c${one.c}`, one.dash || "", one.faint ? "faint" : "", one.quiet ? "quiet" : "", one.solid ? "solid" : ""].filter(Boolean).join(" ");
      const mine = { "data-name": one.name };
      if (one.kind === "band") {
        const floor = scale.log ? one.y2.map((v) => (v > 0 ? v : scale.bottom)) : one.y2;
        const back = trail([...one.x2], floor).slice(1).split(/[LM]/).reverse().join("L");
        const there = trail(one.x, one.y);
        if (there && back) svg("path", group, { d: `${there}L${back}Z`, class: classes("area"), ...mine });
      } else if (one.kind === "bars") {
        one.y.forEach((v, k) => {
          const [left, right] = [scale.x(one.x[k]), scale.x(one.x[k + 1])];
          const top = scale.y(v || 0);
          svg("rect", group, { x: left + 0.5, y: top, width: Math.max(0, right - left - 1), height: Math.max(0, scale.y(0) - top), class: classes("box"), ...mine });
        });
      } else {
        const inSight = place(one.x, scale.x1) - place(one.x, scale.x0);
        const dotted = one.dots === "always" || (one.dots && inSight <= scale.width / 3);
        if (!dotted) svg("path", group, { d: trail(one.x, one.y), class: classes("line"), ...mine });
        if (one.mark || dotted) {
          const radius = one.mark ? 3.5 : 2;
          one.x.forEach((x, k) => {
            if (x >= scale.x0 && x <= scale.x1 && one.y[k] !== null) {
              svg("circle", group, { cx: scale.x(x).toFixed(1), cy: scale.y(one.y[k]).toFixed(1), r: radius, class: classes("mark"), ...mine });
            }
          });
        }
      }
    };

    const draw = (paper = false) => {
      const width = paper ? (spec.heading ? 340 : 690) : Math.max(260, figure.clientWidth - 24);
      const tallest = paper ? 250 : 380;
      const height = Math.round(Math.min(spec.heading && width < 700 ? 280 : tallest, Math.max(210, width * 0.5)));
      const [x0, x1] = state.zoom || extentX();
      const log = state.log && Boolean(view().log);
      const [y0, y1] = extentY([x0, x1], log);
      const marks = log ? decades(y0, y1) : ticks(y0, y1, height / 55);
      const left = 14 + 7 * Math.max(...marks.map((v) => brief(v).length), 2) + 12;
      const box = { left, right: width - 22, top: 8, bottom: height - 40 };
      const [h0, h1] = log ? [Math.log(y0), Math.log(y1)] : [y0, y1];
      scale = {
        x0, x1, log, bottom: y0, width: box.right - box.left,
        x: (v) => box.left + ((v - x0) / (x1 - x0)) * (box.right - box.left),
        y: (v) => box.bottom - (((log ? Math.log(v) : v) - h0) / (h1 - h0)) * (box.bottom - box.top),
        back: (px) => x0 + ((px - box.left) / (box.right - box.left)) * (x1 - x0),
      };
      picture.replaceChildren();
      picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
      picture.setAttribute("aria-label", [spec.heading, choice().label, view().label, view().y].filter(Boolean).join(", "));
      const clip = svg("clipPath", svg("defs", picture), { id });
      svg("rect", clip, { x: box.left, y: box.top - 2, width: box.right - box.left + 2, height: box.bottom - box.top + 4 });
      for (const v of marks) {
        svg("line", picture, { x1: box.left, x2: box.right, y1: scale.y(v), y2: scale.y(v), class: "grid" });
        svg("text", picture, { x: box.left - 6, y: scale.y(v) + 4, "text-anchor": "end" }).textContent = brief(v);
      }
      const dates = Boolean(clock.rows) && view().x === "row";
      for (const v of ticks(x0, x1, (box.right - box.left) / (dates ? 110 : 75))) {
        svg("line", picture, { x1: scale.x(v), x2: scale.x(v), y1: box.bottom, y2: box.bottom + 4, class: "axis" });
        svg("text", picture, { x: scale.x(v), y: box.bottom + 17, "text-anchor": "middle" }).textContent = dates ? dated(v, x1 - x0) : brief(v);
      }
      svg("line", picture, { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: "axis" });
      svg("text", picture, { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }).textContent = dates ? "time" : view().x;
      svg("text", picture, { transform: `translate(11 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }).textContent = view().y;
      const group = svg("g", picture, { "clip-path": `url(#${id})`, class: "series" });
      for (const one of shown()) paint(group, one);
      const over = svg("g", picture);
      listen(over, svg("rect", picture, { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, fill: "transparent", class: "glass" }), box);
      keys(null);
      note.textContent = choice().note || "";
    };

    // The legend shows the values under the pointer, and hides or shows a series on a click.
    const keys = (x) => {
      legend.replaceChildren();
      for (const one of view().series) {
        const off = state.hidden.has(one.name);
        const made_ = html("button", legend, { type: "button", className: off ? "off" : "", title: "Hide or show" });
        made_.setAttribute("aria-pressed", String(!off));
        made_.style.color = "inherit";
        made_.style.background = "none";
        const filled = one.kind === "line" ? one.dash || "" : `fill ${one.solid ? "solid" : ""}`;
        html("span", made_, { className: `swatch c${one.c} ${filled}` });
        html("span", made_, { textContent: one.name });
        if (x !== null && !off) html("span", made_, { className: "value", textContent: ` ${value(one, x)}` });
        made_.addEventListener("click", () => {
          if (off) state.hidden.delete(one.name);
          else state.hidden.add(one.name);
          draw();
        });
      }
      if (x !== null) {
        const dates = clock.rows && view().x === "row";
        const where = dates ? moment(Math.round(x)).slice(0, 16).replace("T", " ") : `${view().x} ${text(view().fixed ? x : Math.round(x))}`;
        html("span", legend, { className: "at", textContent: where });
      }
    };
    const value = (one, x) => {
      if (one.kind === "bars") return text(one.y[Math.min(one.y.length - 1, Math.max(0, place(one.x, x) - 1))]);
      const top = one.y[nearest(one.x, x)];
      if (one.kind !== "band") return text(top);
      const floor = one.y2[nearest(one.x2, x)];
      return one.solid || one.upper ? text(top - floor) : `${text(floor)} to ${text(top)}`;
    };

    const zoomTo = (range) => {
      const [a, b] = extentX();
      state.zoom = range && [Math.max(a, range[0]), Math.min(b, range[1])];
      if (state.zoom && (state.zoom[1] - state.zoom[0] < 2 || (state.zoom[0] <= a && state.zoom[1] >= b))) {
        state.zoom = state.zoom[1] - state.zoom[0] < 2 ? [state.zoom[0], state.zoom[0] + 2] : null;
      }
      controls();
      draw();
    };
    const zoomBy = (factor) => {
      const [a, b] = state.zoom || extentX();
      const [middle, half] = [(a + b) / 2, ((b - a) / 2) * factor];
      zoomTo([middle - half, middle + half]);
    };

    const listen = (over, glass, box) => {
      let from = null;
      const at = (event) => {
        const matrix = picture.getScreenCTM().inverse();
        const px = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix).x;
        return Math.min(box.right, Math.max(box.left, px));
      };
      glass.addEventListener("pointermove", (event) => {
        const px = at(event);
        over.replaceChildren();
        if (from !== null && !view().fixed) {
          svg("rect", over, { x: Math.min(px, from), y: box.top, width: Math.abs(px - from), height: box.bottom - box.top, class: "pick" });
        } else {
          svg("line", over, { x1: px, x2: px, y1: box.top, y2: box.bottom, class: "hair" });
          for (const one of shown()) {
            if (one.kind !== "line" || !one.x.length) continue;
            const k = nearest(one.x, scale.back(px));
            const seen = one.y[k] !== null && one.x[k] >= scale.x0 && one.x[k] <= scale.x1 && !(scale.log && one.y[k] <= 0);
            if (seen) svg("circle", over, { cx: scale.x(one.x[k]), cy: scale.y(one.y[k]), r: 4, class: `hot c${one.c}` });
          }
        }
        keys(scale.back(px));
      });
      glass.addEventListener("pointerleave", () => {
        if (from === null) {
          over.replaceChildren();
          keys(null);
        }
      });
      glass.addEventListener("pointerdown", (event) => {
        from = at(event);
        glass.setPointerCapture(event.pointerId);
      });
      glass.addEventListener("pointerup", (event) => {
        const [a, b] = [from, at(event)].sort((u, v) => u - v);
        from = null;
        over.replaceChildren();
        if (b - a > 6 && !view().fixed) zoomTo([scale.back(a), scale.back(b)]);
      });
      glass.addEventListener("pointercancel", () => {
        from = null;
        over.replaceChildren();
      });
      glass.addEventListener("dblclick", () => zoomTo(null));
    };

    hideFar();
    controls();
    let last = 0;
    new ResizeObserver(() => {
      if (figure.clientWidth && figure.clientWidth !== last) {
        last = figure.clientWidth;
        draw();
      }
    }).observe(figure);
    return draw;
  };

  // The page -----------------------------------------------------------------------------------

  const specs = JSON.parse(document.getElementById("data").textContent);
  for (const one of specs) for (const choice of one.choices) choice.views.forEach(unpack);
  const drawings = [...document.querySelectorAll("figure[data-chart]")].map((figure) => chart(figure, specs[Number(figure.dataset.chart)]));

  const root = document.documentElement;
  const remember = (theme) => {
    root.dataset.theme = theme;
    try {
      localStorage.setItem("noregret-theme", theme);
    } catch (_) { /* a page opened from a file may have no storage */ }
  };
  try {
    const theme = localStorage.getItem("noregret-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (_) { /* as above */ }
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    remember(dark ? "light" : "dark");
  });

  // On paper every certificate is open, and charts are as wide as a page.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
    for (const draw of drawings) draw(true);
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
    for (const draw of drawings) draw();
  });
})();
