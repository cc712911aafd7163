  // Charts of lines: colours, axes, legends, the table behind each chart, the keyboard.
  const line = i => colour("c" + (i % 8 + 1));
  const dash = i => i < 8 ? undefined : i < 16 ? [7, 4] : [2, 3]; // there are eight colours
  const alpha = (hex, a) => {
    const n = parseInt(hex.slice(1), 16);
    return `rgba(${n >> 16},${n >> 8 & 255},${n & 255},${a})`;
  };
  const tick = v => {
    const a = Math.abs(v);
    if (a >= 1e6) return +(v / 1e6).toPrecision(4) + "M";
    if (a >= 1e4) return +(v / 1e3).toPrecision(4) + "k";
    return String(+v.toPrecision(6));
  };
  const ticks = (u, list) => list.map(v => v === null ? "" : tick(v));
  // clock is a time on an axis that ends at a time, both in seconds.
  const clock = (s, end) => {
    if (end <= 180) return +s.toFixed(3) + " s";
    const sign = s < 0 ? "-" : "", t = Math.round(Math.abs(s)), p = n => String(n).padStart(2, "0");
    if (end < 7200) return sign + Math.floor(t / 60) + ":" + p(t % 60);
    return sign + Math.floor(t / 3600) + ":" + p(Math.floor(t / 60) % 60) + ":" + p(t % 60);
  };
  const font = "11px system-ui,sans-serif";
  const axis = extra => Object.assign({
    stroke: () => colour("soft"), font, labelFont: font,
    grid: {stroke: () => colour("faint"), width: 1}, ticks: {stroke: () => colour("line"), width: 1, size: 4},
  }, extra);

  // legend names the lines of a figure and shows their values under the cursor.
  function legend(figure, entries) {
    const box = figure.querySelector(".legend"), at = make("span", {className: "at"});
    box.replaceChildren(at);
    const spans = entries.map(e => {
      const key = make("span", {className: "key"});
      key.style.background = e.colour();
      const value = make("span");
      box.append(make("span", {}, key, e.label + " ", value));
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
  function keys(plot) {
    plot.el.onkeydown = ev => {
      const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20}[ev.key];
      if (!step) return;
      ev.preventDefault();
      const u = plot.u, n = u.data[0].length;
      plot.at = Math.min(n - 1, Math.max(0, (plot.at ?? (step > 0 ? -1 : n)) + step));
      u.setCursor({left: u.valToPos(u.data[0][plot.at], "x"), top: u.bbox.height / devicePixelRatio / 2});
    };
  }

  // add draws a chart into a figure, in place of the one that is there. names is its legend; hovered is called with the
  // index of the point under the cursor, null for none.
  function add(figure, names, hovered, options, values) {
    const box = figure.querySelector(".plot"), old = plots.findIndex(p => p.el === box);
    if (old >= 0) { plots[old].u.destroy(); plots.splice(old, 1); }
    const plot = {figure, el: box, repaint: names.repaint};
    const under = u => u.cursor.left >= 0 ? u.cursor.idx ?? null : null;
    plot.u = new uPlot({
      width: widthOf(box), legend: {show: false}, pxAlign: false, cursor: {drag: {x: false, y: false}, points: {show: false}}, ...options,
      hooks: {...options.hooks, setCursor: [u => hovered(under(u), u)]},
    }, values, box);
    plots.push(plot);
    keys(plot);
    return plot;
  }

  // within draws on a chart, inside its axes.
  function within(u, draw) {
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx, bbox, devicePixelRatio, v => u.valToPos(v, "x", true), v => u.valToPos(v, "y", true));
    ctx.restore();
  }
  const lettering = (ctx, size, baseline, align) => Object.assign(ctx, {font: size * devicePixelRatio + "px system-ui,sans-serif", fillStyle: colour("ink"), textBaseline: baseline, textAlign: align});

  // curves returns what a chart of lines {label, look, hue} needs: look is area, dash, thin, bad or nothing, hue the place of
  // the colour, that of the line without it. bands are pairs of lines with the second's colour between them. few reports
  // that points are so few that each is shown.
  function curves(lines, bands, few) {
    const colours = lines.map((l, i) => () => l.look === "dash" ? colour("soft") : l.look === "bad" ? colour("bad") : line(l.hue ?? i));
    const veil = i => () => alpha(line(i), +colour("fill"));
    return {
      entries: unit => lines.map((l, i) => ({label: l.label, colour: colours[i], unit})),
      series: [{}, ...lines.map((l, i) => ({
        label: l.label, stroke: colours[i], spanGaps: true, points: {show: (u, k) => few(k - 1, u), size: 6, fill: colours[i]},
        width: l.look === "thin" || l.look === "dash" ? 1 : 1.6, dash: l.look === "dash" ? [6, 5] : l.dash, fill: l.look === "area" ? veil(l.hue ?? i) : undefined,
      }))],
      bands: (bands || []).map(b => ({series: [b[0] + 1, b[1] + 1], fill: veil(b[1])})),
    };
  }
  // overTime are the axes of a chart over time, which ends at end(), in seconds.
  const overTime = end => [axis({values: (u, list) => list.map(v => clock(v, end())), space: 70, size: 30}), axis({size: 56, values: ticks})];

  // shaded returns the hooks of a chart over time that shade spans below its grid and name them above it.
  const shaded = spans => ({
    drawClear: [u => within(u, (ctx, box, r, X) => {
      ctx.fillStyle = colour("shade");
      for (const s of spans()) ctx.fillRect(X(s.from), box.top, X(s.to) - X(s.from), box.height);
    })],
    drawAxes: [u => within(u, (ctx, box, r, X) => {
      lettering(ctx, 10, "top", "left").fillStyle = colour("soft");
      for (const s of spans()) if (X(s.to) - X(s.from) > 50 * r) ctx.fillText(s.name, X(s.from) + 4 * r, box.top + 3 * r);
    })],
  });

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
  // logarithmic are the parts of an axis that is perhaps logarithmic.
  const logarithmic = (on, range) => on ? {splits: () => logSplits(...range), filter: (u, s) => s} : {};
