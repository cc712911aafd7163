  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const colour = name => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const line = i => colour("c" + (i % 8 + 1));
  const alpha = (hex, a) => {
    const n = parseInt(hex.slice(1), 16);
    return `rgba(${n >> 16},${n >> 8 & 255},${n & 255},${a})`;
  };
  const make = (tag, props, ...children) => {
    const e = Object.assign(document.createElement(tag), props);
    e.append(...children);
    return e;
  };
  const short = v => {
    if (v === null || v === undefined || !isFinite(v)) return "–";
    const a = Math.abs(v);
    if (a >= 1000) return Math.round(v).toLocaleString("en-US");
    if (a >= 100) return String(+v.toFixed(1));
    if (a >= 1 || a === 0) return String(+v.toFixed(2));
    return String(+v.toPrecision(3));
  };
  const tick = v => {
    const a = Math.abs(v);
    if (a >= 1e6) return +(v / 1e6).toPrecision(4) + "M";
    if (a >= 1e4) return +(v / 1e3).toPrecision(4) + "k";
    return String(+v.toPrecision(6));
  };
  const plots = [];      // every chart on the page
  const widthOf = el => Math.max(200, el.clientWidth);
  const axis = (extra) => Object.assign({
    stroke: () => colour("soft"), font: "11px system-ui,sans-serif", labelFont: "11px system-ui,sans-serif",
    grid: {stroke: () => colour("faint"), width: 1}, ticks: {stroke: () => colour("line"), width: 1, size: 4},
  }, extra);

  // The legend names the lines and shows the values under the cursor.
  function legend(el, entries, lead) {
    el.textContent = "";
    const at = make("span", {className: "at"});
    if (lead) el.append(at);
    const spans = entries.map(e => {
      const key = make("span", {className: "key"});
      key.style.background = e.colour();
      const value = make("span");
      el.append(make("span", {}, key, e.label + " ", value));
      return {key, value, e};
    });
    return {
      show(place, values) {
        at.textContent = place === null ? "" : place;
        spans.forEach((s, i) => { s.value.textContent = values ? short(values[i]) + (s.e.unit ? " " + s.e.unit : "") : ""; });
      },
      repaint() { spans.forEach(s => { s.key.style.background = s.e.colour(); }); },
    };
  }

  // A table of what a chart shows is made when it is asked for.
  function behind(figure, head, columns) {
    const details = figure.querySelector("details");
    details.hidden = false;
    details.ontoggle = () => {
      if (!details.open || details.querySelector("table")) return;
      const names = make("tr", {}, ...head.map(h => make("th", {scope: "col", className: "n", textContent: h})));
      const body = make("tbody");
      columns[0].forEach((x, i) => body.append(make("tr", {}, ...columns.map(c => make("td", {className: "n", textContent: typeof c[i] === "string" ? c[i] : short(c[i])})))));
      details.append(make("div", {className: "scroll tall", tabIndex: 0}, make("table", {}, make("thead", {}, names), body)));
    };
    details.querySelector("div.scroll")?.remove();
    details.open = false;
  }

  // Arrow keys move the cursor of a chart that has the focus.
  function keys(el, plot) {
    el.onkeydown = ev => {
      const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20}[ev.key];
      if (!step) return;
      ev.preventDefault();
      const u = plot.u, n = u.data[0].length;
      plot.at = Math.min(n - 1, Math.max(0, (plot.at ?? (step > 0 ? -1 : n)) + step));
      u.setCursor({left: u.valToPos(u.data[0][plot.at], "x"), top: u.bbox.height / devicePixelRatio / 2});
    };
  }

  function add(plot, el, options, values) {
    plot.el = el;
    plot.u = new uPlot(options, values, el);
    plots.push(plot);
    keys(el, plot);
    return plot;
  }

  const logSplits = (lo, hi) => {
    const out = [];
    for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi) + 1; e++) for (const m of [1, 2, 5]) {
      const v = m * 10 ** e;
      if (v >= lo && v <= hi) out.push(v);
    }
    if (out.length < 3) { // less than a decade: even steps
      const step = (hi - lo) / 4;
      return [0, 1, 2, 3, 4].map(i => +(lo + i * step).toPrecision(3)).filter(v => v >= lo && v <= hi);
    }
    return out;
  };

  const repaint = () => { for (const p of plots) { p.repaint(); p.u.redraw(true, true); } };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", "Switch to the " + (isDark() ? "light" : "dark") + " theme"); };
  button.hidden = false;
  label();
  button.onclick = () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); repaint(); remember(); };
  // A page of a server has the same theme as the one before.
  const remember = () => { try { document.cookie = "aiperf-theme=" + root.dataset.theme + ";path=/;max-age=31536000;samesite=lax"; } catch { /* no cookies here */ } };
  dark.addEventListener("change", () => { label(); repaint(); });

  const fit = () => { for (const p of plots) { const w = widthOf(p.el); if (w !== p.u.width) p.u.setSize({width: w, height: p.u.height}); } };
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(document.body);

  // Paper is light and some 700 pixels wide; what is folded is shown.
  let before = null;
  addEventListener("beforeprint", () => {
    before = {theme: root.dataset.theme, open: [...document.querySelectorAll("details:not(.screen):not([open])")]};
    root.dataset.theme = "light";
    before.open.forEach(d => { d.open = true; });
    const paper = Math.min(680, document.body.clientWidth);
    for (const p of plots) p.u.setSize({width: p.figure.parentElement.classList.contains("two") ? Math.floor((paper - 12) / 2) - 30 : paper - 30, height: p.u.height});
    repaint();
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    if (before.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
    before.open.forEach(d => { d.open = false; });
    before = null;
    fit();
    repaint();
  });
  // finished is called when all charts are drawn.
  const finished = () => { root.dataset.drawn = plots.length; };
