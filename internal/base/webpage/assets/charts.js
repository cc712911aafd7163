  // Charts of lines: colours, axes, legends, the table behind each chart, the keyboard.
  // There are six hues, which the colour-blind tell apart. Dashes differ too, and with the seventh line the pairs of both.
  const dashes = [undefined, [9, 3], [2, 3], [9, 3, 2, 3], [5, 5], [14, 4]];
  const line = i => colour("c" + (i % 6 + 1));
  const dash = i => dashes[(i + Math.floor(i / 6)) % 6];
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

  // swatch paints the mark of an entry of a legend as its line is: with its dashes.
  function swatch(key, {colour, dash}) {
    let at = 0;
    const parts = (dash || []).flatMap((d, i) => [`${i % 2 ? "transparent" : colour()} ${at}px`, `${i % 2 ? "transparent" : colour()} ${at += d}px`]);
    key.style.background = dash ? `repeating-linear-gradient(90deg,${parts.join()})` : colour();
  }
  // legend names the lines of a figure and shows their values under the cursor.
  function legend(figure, entries) {
    const box = figure.querySelector(".legend"), at = make("span", {className: "at"});
    box.replaceChildren(at);
    const spans = entries.map(e => {
      const key = make("span", {className: "key"});
      swatch(key, e);
      const value = make("span");
      box.append(make("span", {}, key, e.label + " ", value));
      return {key, value, e};
    });
    return {
      show(place, values) {
        at.textContent = place === null ? "" : place;
        spans.forEach((s, i) => { s.value.textContent = values ? short(values[i]) + (s.e.unit ? " " + s.e.unit : "") : ""; });
      },
      repaint() { spans.forEach(s => swatch(s.key, s.e)); },
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
      if (ev.key === "Enter" && plot.open && known(plot.at)) plot.open(plot.at);
      const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20}[ev.key];
      if (!step) return;
      ev.preventDefault();
      const u = plot.u, n = u.data[0].length;
      plot.at = Math.min(n - 1, Math.max(0, (plot.at ?? (step > 0 ? -1 : n)) + step));
      u.setCursor({left: u.valToPos(u.data[0][plot.at], "x"), top: u.bbox.height / devicePixelRatio / 2});
    };
  }

  // brief returns the names of lines as the ends of lines have room for them: what all begin or end with is left out.
  function brief(names) {
    const turned = list => list.map(n => [...n].reverse().join(""));
    const same = list => {
      let at = 0;
      for (let n = 0; n < list[0].length && list.every(l => l[n] === list[0][n]); n++) if (/[\s_:·|{}@/]/.test(list[0][n])) at = n + 1;
      return list.map(l => l.slice(at));
    };
    const whole = names.map(n => n.replace(/ \(.*\)$/, "")), begun = same(whole), ended = list => turned(same(turned(list)));
    const cut = [ended(begun), ended(whole), begun].map(list => list.map(n => n.replace(/^[\s·|:]+|[\s·|:]+$/g, ""))).find(list => list.every(n => n.length > 2));
    // A long name keeps its end where another begins alike.
    const long = cut || whole, most = 16, alike = n => long.some(o => o !== n && o.startsWith(n.slice(0, most - 4)));
    return long.map(n => n.length <= most ? n : alike(n) ? "…" + n.slice(1 - most) : n.slice(0, most - 1) + "…");
  }
  // ends names the lines of a chart where they end: beside its right edge, as far as the chart is wide enough, and within
  // it those that end long before.
  function ends(entries) {
    const list = brief(entries.map(e => e.label)), width = 6.3 * Math.max(...list.map(n => n.length)) + 16;
    const room = u => entries.length > 1 && entries.length <= 8 && width < u.width / 4 ? width : 0;
    const draw = u => {
      if (!room(u)) return;
      const {ctx, bbox: box} = u, r = devicePixelRatio, right = box.left + box.width, {min, max} = u.scales.x;
      const last = entries.map((e, k) => {
        let i = u.data[0].length - 1;
        while (i >= 0 && (u.data[0][i] > max || !known(u.data[k + 1][i]))) i--;
        return i < 0 || u.data[0][i] < min ? null : {e, x: Math.min(right, u.valToPos(u.data[0][i], "x", true)), name: list[k], y: Math.min(box.top + box.height, Math.max(box.top, u.valToPos(u.data[k + 1][i], "y", true)))};
      }).filter(Boolean).sort((a, b) => a.y - b.y);
      const step = 13 * r, early = l => l.x < right - box.width / 8;
      const apart = list => {
        list.forEach((l, i) => { l.at = i ? Math.max(l.y, list[i - 1].at + step) : l.y; });
        for (let i = list.length - 1, most = box.top + box.height; i >= 0; i--, most -= step) list[i].at = Math.min(list[i].at, most);
        return list;
      };
      ctx.save();
      ctx.setLineDash([]);
      lettering(ctx, 11, "middle", "left");
      for (const l of apart(last.filter(early))) {
        Object.assign(ctx, {strokeStyle: colour("panel"), lineWidth: 3 * r, lineJoin: "round"});
        ctx.strokeText(l.name, l.x + 5 * r, l.at);
        ctx.fillText(l.name, l.x + 5 * r, l.at);
      }
      for (const l of apart(last.filter(l => !early(l)))) {
        ctx.strokeStyle = l.e.colour();
        // A line may end a little before the axis does: a thin one leads from there to its name.
        for (const [from, y, to, at, width] of [[l.x, l.y, right + r, l.y, 0.5], [right + r, l.y, right + 8 * r, l.at, 1.6]]) {
          ctx.lineWidth = width * r;
          ctx.beginPath();
          ctx.moveTo(from, y);
          ctx.lineTo(to, at);
          ctx.stroke();
        }
        ctx.fillText(l.name, right + 11 * r, l.at);
      }
      ctx.restore();
    };
    return {room, draw};
  }

  // add draws a chart into a figure, in place of the one that is there. names is its legend; hovered is called with the
  // index of the point under the cursor, null for none. options.ends are the entries of lines that are named at their
  // ends.
  function add(figure, names, hovered, options, values) {
    const box = figure.querySelector(".plot"), old = plots.findIndex(p => p.el === box);
    if (old >= 0) { plots[old].u.destroy(); plots.splice(old, 1); }
    const plot = {figure, el: box, repaint: names.repaint};
    const under = u => u.cursor.left >= 0 ? u.cursor.idx ?? null : null;
    const tails = options.ends ? ends(options.ends) : null, pad = options.padding || [null, null, null, null];
    plot.u = new uPlot({
      width: widthOf(box), legend: {show: false}, pxAlign: false, cursor: {drag: {x: false, y: false}, points: {show: false}}, ...options,
      padding: tails ? [pad[0], u => Math.max(20, tails.room(u)), pad[2], pad[3]] : pad,
      hooks: {...options.hooks, draw: [...(options.hooks?.draw || []), ...(tails ? [tails.draw] : [])], setCursor: [u => hovered(under(u), u)]},
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

  // The looks of lines: an area has no dashes, percentiles share a hue and differ in width and dashes.
  const looks = {
    area: {dash: undefined, width: 1.6}, thin: {width: 1}, dash: {dash: [6, 5], width: 1, colour: "soft"}, bad: {dash: [3, 2], width: 1.6, colour: "bad"},
    p50: {dash: undefined, width: 2, hue: 0}, p90: {dash: [6, 3], width: 1.3, hue: 0}, p99: {dash: [2, 2], width: 1.2, hue: 0},
  };
  // curves returns what a chart of lines {label, look, hue} needs: look is one of looks or nothing, hue the place of the
  // colour, that of the line without it. bands are pairs of lines with the second's colour between them. few reports
  // that points are so few that each is shown.
  function curves(lines, bands, few) {
    const drawn = lines.map((l, i) => {
      const hue = l.hue ?? looks[l.look]?.hue ?? i;
      const style = {dash: dash(hue), width: 1.6, ...looks[l.look]};
      return {...style, colour: () => style.colour ? colour(style.colour) : line(hue)};
    });
    const veil = i => () => alpha(drawn[i].colour(), +colour("fill"));
    const entries = unit => lines.map((l, i) => ({label: l.label, colour: drawn[i].colour, dash: drawn[i].dash, unit}));
    return {
      entries, ends: entries(""),
      series: [{}, ...lines.map((l, i) => ({
        label: l.label, stroke: drawn[i].colour, spanGaps: true, points: {show: (u, k) => few(k - 1, u), size: 6, fill: drawn[i].colour},
        width: drawn[i].width, dash: drawn[i].dash, fill: l.look === "area" ? veil(i) : undefined,
      }))],
      bands: (bands || []).map(b => ({series: [b[0] + 1, b[1] + 1], fill: veil(b[1])})),
    };
  }
  // overTime are the axes of a chart over time, which ends at end(), in seconds.
  const overTime = end => [axis({values: (u, list) => list.map(v => clock(v, end())), space: 70, size: 30}), axis({size: 56, values: ticks})];

  // shaded returns the hooks of a chart over time that shade spans below its grid and name them above its lines.
  const shaded = spans => ({
    drawClear: [u => within(u, (ctx, box, r, X) => {
      ctx.fillStyle = colour("shade");
      for (const s of spans()) ctx.fillRect(X(s.from), box.top, X(s.to) - X(s.from), box.height);
    })],
    draw: [u => within(u, (ctx, box, r, X) => {
      lettering(ctx, 10, "top", "left").fillStyle = colour("soft");
      Object.assign(ctx, {strokeStyle: colour("panel"), lineWidth: 3 * r, lineJoin: "round"});
      for (const s of spans()) {
        if (X(s.to) - X(s.from) < 50 * r) continue;
        ctx.strokeText(s.name, X(s.from) + 4 * r, box.top + 3 * r);
        ctx.fillText(s.name, X(s.from) + 4 * r, box.top + 3 * r);
      }
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
  // measured are the parts of an axis with its marks at values that were measured, such as the loads of a sweep, as far
  // as there is room for their names. ends are those of the axis.
  const measured = (list, [lo, hi], log) => {
    const sorted = [...new Set(list)].filter(known).sort((a, b) => a - b), scale = v => log ? Math.log(v) : v;
    const splits = u => {
      const width = (u.bbox.width / devicePixelRatio || u.width - 70) / ((scale(hi) - scale(lo)) || 1);
      const half = v => 3.4 * tick(v).length + 4, room = (a, b) => (scale(b) - scale(a)) * width >= half(a) + half(b);
      const kept = [];
      for (const v of sorted) if (!kept.length || room(kept[kept.length - 1], v)) kept.push(v);
      // The largest has its mark in any case.
      const last = sorted[sorted.length - 1];
      while (kept.length > 1 && kept[kept.length - 1] !== last && !room(kept[kept.length - 1], last)) kept.pop();
      if (kept.length && kept[kept.length - 1] !== last) kept.push(last);
      return kept;
    };
    return {splits, filter: (u, s) => s};
  };
  // logarithmic are the parts of an axis that is perhaps logarithmic.
  const logarithmic = (on, range) => on ? {splits: () => logSplits(...range), filter: (u, s) => s} : {};
