  const cells = data.cells, known = v => v !== null && v !== undefined;
  const figure = key => data.figures[key];
  const metric = key => data.metrics.find(m => m.key === key);
  const missed = i => cells[i].verdict === "infeasible";
  const doubtful = i => cells[i].verdict === "client-limited";
  const controls = document.getElementById("controls");
  const pick = id => document.getElementById(id);
  const replace = el => {
    const old = plots.findIndex(p => p.el === el);
    if (old >= 0) { plots[old].u.destroy(); plots.splice(old, 1); }
  };

  // A group is a line of a chart: the cells that are equal in the parameters that it is named after.
  function groups(x, by) {
    const others = data.parameters.map((p, i) => i).filter(i => i !== x);
    const named = by === "all" ? others : by === "none" ? [] : [+by];
    const found = new Map();
    cells.forEach((c, i) => {
      const name = named.map(k => data.parameters[k].name + " " + (data.parameters[k].values[c.at[k]] ?? "–")).join(", ");
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(i);
    });
    const order = name => named.map(k => cells[found.get(name)[0]].at[k]);
    return [...found.keys()].sort((a, b) => {
      const p = order(a), q = order(b), k = p.findIndex((v, i) => v !== q[i]);
      return k < 0 ? 0 : p[k] - q[k];
    }).map(name => ({name, cells: found.get(name)}));
  }
  // unique reports whether no line of a choice has two cells at the same place of the axis.
  const unique = (x, by) => groups(x, by).every(g => new Set(g.cells.map(i => cells[i].at[x])).size === g.cells.length);
  const linesOf = x => {
    const others = data.parameters.map((p, i) => i).filter(i => i !== x && data.parameters[i].values.length > 1);
    const list = [["none", "– (one line)"], ...others.map(i => [String(i), data.parameters[i].name])];
    if (others.length > 1) list.push(["all", "combination of the others"]);
    return list;
  };
  const colours = i => () => line(i), dashes = i => i < 8 ? undefined : i < 16 ? [7, 4] : [2, 3];

  // scatter draws cells as points, each series its own; a series may be joined by a line.
  function scatter(el, o) {
    replace(el);
    const figureEl = el.closest("figure");
    const used = new Map(); // the series of a cell
    o.series.forEach((s, k) => s.cells.forEach(i => { if (!s.silent) used.set(i, k); }));
    const order = [...new Set(o.series.flatMap(s => s.cells))].filter(i => known(o.x(i)) && known(o.y(i))).sort((a, b) => o.x(a) - o.x(b) || a - b);
    const xs = order.map(o.x), within = o.series.map(s => new Set(s.cells));
    const columns = o.series.map((s, k) => order.map(i => within[k].has(i) ? o.y(i) : null));
    const names = legend(figureEl.querySelector(".legend"), o.series.map(s => ({label: s.label, colour: s.colour, unit: ""})), true);
    let lo = Math.min(...xs), hi = Math.max(...xs);
    if (o.alsoX) for (const v of o.alsoX) if (known(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    const log = o.log && lo > 0;
    const gap = hi > lo ? (hi - lo) * 0.04 : Math.abs(hi) * 0.1 || 1;
    const range = o.categories ? [-0.5, o.categories.length - 0.5] : log ? [lo / (hi / lo) ** 0.04, hi * (hi / lo) ** 0.04] : [o.zero ? Math.min(0, lo) : lo - gap, hi + gap];
    if (log && range[0] === range[1]) { range[0] /= 2; range[1] *= 2; }
    const ys = order.flatMap(i => [o.y(i), o.low && o.low(i), o.high && o.high(i)]).filter(known).concat(o.lines.map(l => l.y).filter(known));
    const span = Math.max(...ys) - Math.min(...ys);
    const top = o.close ? Math.min(1, Math.max(...ys) + span * 0.15 || 1) : Math.max(...ys, 0), bottom = o.close ? Math.max(0, Math.min(...ys) - span * 0.15) : Math.min(...ys, 0);
    const marks = u => {
      const {ctx, bbox} = u, r = devicePixelRatio, X = v => u.valToPos(v, "x", true), Y = v => u.valToPos(v, "y", true);
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.lineWidth = r;
      ctx.font = 10.5 * r + "px system-ui,sans-serif";
      for (const l of o.lines) {
        ctx.strokeStyle = colour("bad");
        ctx.setLineDash([6 * r, 4 * r]);
        ctx.beginPath();
        if (known(l.y)) { ctx.moveTo(bbox.left, Y(l.y)); ctx.lineTo(bbox.left + bbox.width, Y(l.y)); }
        else { ctx.moveTo(X(l.x), bbox.top); ctx.lineTo(X(l.x), bbox.top + bbox.height); }
        ctx.stroke();
      }
      ctx.setLineDash([]);
      order.forEach(i => {
        const k = used.get(i);
        if (k === undefined) return;
        const x = X(o.x(i)), y = Y(o.y(i)), s = o.series[k];
        ctx.strokeStyle = ctx.fillStyle = s.colour();
        if (o.low && known(o.low(i)) && known(o.high(i))) {
          ctx.lineWidth = 1.5 * r;
          ctx.beginPath();
          ctx.moveTo(x, Y(o.low(i)));
          ctx.lineTo(x, Y(o.high(i)));
          for (const v of [o.low(i), o.high(i)]) { ctx.moveTo(x - 3 * r, Y(v)); ctx.lineTo(x + 3 * r, Y(v)); }
          ctx.stroke();
        }
        ctx.lineWidth = 1.8 * r;
        ctx.beginPath();
        if (missed(i)) {
          const d = 3.5 * r;
          ctx.moveTo(x - d, y - d); ctx.lineTo(x + d, y + d); ctx.moveTo(x + d, y - d); ctx.lineTo(x - d, y + d);
          ctx.stroke();
        } else {
          ctx.arc(x, y, 3.4 * r, 0, 2 * Math.PI);
          if (doubtful(i)) { ctx.fillStyle = colour("panel"); ctx.fill(); ctx.stroke(); } else ctx.fill();
        }
      });
      const taken = []; // by texts: one that would cover another is left out
      order.forEach(i => {
        const text = o.text && o.text(i);
        if (!text) return;
        const x = X(o.x(i)), y = Y(o.y(i)), width = ctx.measureText(text).width;
        const left = x + width + 8 * r > bbox.left + bbox.width, from = left ? x - width - 6 * r : x + 6 * r;
        const up = y - 20 * r < bbox.top ? y + 18 * r : y - 4 * r, box = [from, up - 12 * r, from + width, up];
        if (taken.some(b => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) return;
        taken.push(box);
        ctx.fillStyle = colour("ink");
        ctx.textBaseline = "bottom";
        ctx.textAlign = "left";
        ctx.fillText(text, from, up);
      });
      for (const [name, i] of o.special || []) { // a letter in a ring
        const x = X(o.x(i)), y = Y(o.y(i)), away = name === "K" ? -15 : 15, up = Math.min(Math.max(y + away * r, bbox.top + 9 * r), bbox.top + bbox.height - 9 * r);
        ctx.strokeStyle = ctx.fillStyle = colour("ink");
        ctx.lineWidth = 1.4 * r;
        ctx.beginPath();
        ctx.arc(x, y, 6 * r, 0, 2 * Math.PI);
        ctx.stroke();
        ctx.font = "bold " + 11 * r + "px system-ui,sans-serif";
        ctx.textAlign = "center";
        ctx.textBaseline = "middle";
        ctx.fillText(name, x, up);
      }
      ctx.restore();
    };
    const behindAll = u => {
      const b = o.boundary;
      if (!b || !known(b.value) && !known(b.low)) return;
      const {ctx, bbox} = u, r = devicePixelRatio, X = v => u.valToPos(v, "x", true);
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      if (known(b.low) && known(b.high)) {
        ctx.fillStyle = colour("shade");
        ctx.fillRect(X(b.low), bbox.top, Math.max(r, X(b.high) - X(b.low)), bbox.height);
      }
      if (known(b.value)) {
        ctx.fillStyle = colour("soft");
        ctx.fillRect(X(b.value) - r / 2, bbox.top, r, bbox.height);
      }
      ctx.restore();
    };
    const at = (u) => {
      const {left, top: up} = u.cursor;
      if (known(left) && left >= 0 && o.near) { // the nearest point in both directions
        let best = null, least = Infinity;
        order.forEach((i, k) => {
          const d = (u.valToPos(xs[k], "x") - left) ** 2 + (u.valToPos(o.y(i), "y") - up) ** 2;
          if (d < least) { least = d; best = k; }
        });
        return best;
      }
      return left < 0 ? null : u.cursor.idx;
    };
    const tickX = v => o.categories ? o.categories[v] ?? "" : tick(v);
    const room = () => Math.max(3, Math.floor((widthOf(el) - 70) / (o.categories.length || 1) / 6.5)); // characters of a name
    const named = v => { const text = tickX(v); return !o.categories || text.length <= room() ? text : text.slice(0, room() - 1) + "…"; };
    const options = {
      width: widthOf(el), height: o.height || 210, legend: {show: false}, pxAlign: false,
      cursor: {drag: {x: false, y: false}, points: {show: false}},
      scales: {x: {time: false, distr: log ? 3 : 1, range: () => range}, y: {range: () => [bottom, top === bottom ? 1 : top + (top - bottom) * 0.08]}},
      axes: [axis({space: 46, size: 30, values: (u, list) => list.map(v => v === null ? "" : named(v)),
        ...(o.categories ? {splits: () => o.categories.map((c, i) => i)} : log ? {splits: () => logSplits(range[0], range[1]), filter: (u, s) => s} : {}),
        label: o.xLabel, labelSize: o.xLabel ? 18 : undefined}), axis({size: 56, values: (u, list) => list.map(tick), label: o.yLabel, labelSize: o.yLabel ? 18 : undefined})],
      series: [{}, ...o.series.map((s, k) => ({label: s.label, stroke: s.colour, spanGaps: true, points: {show: false}, width: s.join ? 1.5 : 0, dash: s.dash, paths: s.join ? undefined : () => null}))],
      hooks: {
        drawClear: [behindAll],
        draw: [marks],
        setCursor: [u => {
          const k = at(u);
          if (k === null || k === undefined) { names.show(null); return; }
          const x = xs[k];
          if (o.near) names.show(cells[order[k]].label + ": " + o.told(order[k]));
          else names.show((o.xName ? o.xName + " " : "") + tickX(x), o.series.map((s, j) => { const n = order.findIndex((i, m) => xs[m] === x && within[j].has(i)); return n < 0 ? null : columns[j][n]; }));
        }],
      },
    };
    const plot = add({figure: figureEl, repaint: names.repaint}, el, options, [xs, ...columns]);
    behind(figureEl, o.head, o.table(order));
    return plot;
  }

  function curve(c) {
    const x = +pick("axis").value || 0, by = pick("lines").value || "none", stat = pick("stat").value;
    const key = c.keys[stat] || c.keys.avg || Object.values(c.keys)[0], m = metric(key), f = figure(key), p = data.parameters[x];
    const figureEl = document.getElementById(c.id);
    const title = figureEl.querySelector("figcaption b");
    title.textContent = m.title;
    const place = i => p.number ? cells[i].numbers[x] : cells[i].at[x] < 0 ? null : cells[i].at[x];
    const lines = groups(x, by).map((g, k) => ({label: g.name || m.title, cells: g.cells, colour: colours(k), dash: dashes(k), join: p.number && unique(x, by)}));
    const b = data.boundary && data.boundary.parameter === x ? data.boundary : null;
    const special = b ? [["K", b.knee], ["R", b.recommended]].map(([name, load]) => [name, cells.findIndex((c, i) => known(load) && place(i) === load && known(f.mean[i]))]).filter(s => s[1] >= 0) : [];
    const limits = data.limits.filter(l => l.key === key);
    scatter(figureEl.querySelector(".plot"), {
      x: place, y: i => f.mean[i], low: f.low && (i => f.low[i]), high: f.high && (i => f.high[i]), series: lines, log: pick("logarithmic").checked && p.number,
      categories: p.number ? null : p.values, lines: limits.map(l => ({y: l.value})), boundary: b, alsoX: b ? [b.value] : [], special,
      close: m.tag === "accuracy.overall", xName: p.name, xLabel: p.name + (p.unit ? " (" + p.unit + ")" : ""),
      head: [p.name, ...(data.parameters.length > 1 ? ["cell"] : []), m.title + " (" + m.unit + ")", ...(f.low ? ["low", "high"] : [])],
      table: order => [order.map(i => p.values[cells[i].at[x]] ?? ""), ...(data.parameters.length > 1 ? [order.map(i => cells[i].label)] : []), order.map(i => f.mean[i]), ...(f.low ? [order.map(i => f.low[i]), order.map(i => f.high[i])] : [])],
    });
  }

  // efficient returns the cells that no other cell beats on both axes.
  function efficient(of, x, y, largeX, smallY) {
    const a = i => largeX ? -x[i] : x[i], b = i => smallY ? -y[i] : y[i];
    return of.filter(i => !of.some(j => a(j) <= a(i) && b(j) >= b(i) && (a(j) < a(i) || b(j) > b(i))));
  }
  function front() {
    const figureEl = document.getElementById("front");
    const kx = pick("frontx").value, ky = pick("fronty").value, mx = metric(kx), my = metric(ky), x = figure(kx).mean, y = figure(ky).mean;
    const all = cells.map((c, i) => i).filter(i => known(x[i]) && known(y[i]));
    const judged = data.limits.length ? all.filter(i => !missed(i) && !doubtful(i)) : all;
    const turned = data.front.x === kx && data.front.maximizeX, under = data.front.y === ky && data.front.minimizeY;
    const best = new Set(efficient(judged, x, y, turned, under));
    figureEl.querySelector("figcaption b").textContent = my.title + " over " + mx.title;
    const told = i => mx.title + " " + short(x[i]) + " " + mx.unit + ", " + my.title + " " + short(y[i]) + " " + my.unit;
    const label = i => best.has(i) && best.size <= 16 ? (data.parameters.length === 1 ? data.parameters[0].values[cells[i].at[0]] : cells[i].label.length <= 28 ? cells[i].label : "#" + (i + 1)) : "";
    scatter(figureEl.querySelector(".plot"), {
      x: i => x[i], y: i => y[i], height: 320, near: true, told, zero: true, text: label,
      series: [{label: "Pareto front", cells: [...best], colour: colours(0), join: true}, {label: "other cells", cells: all.filter(i => !best.has(i)), colour: () => colour("soft")}],
      lines: [...data.limits.filter(l => l.key === ky).map(l => ({y: l.value})), ...data.limits.filter(l => l.key === kx).map(l => ({x: l.value}))],
      alsoX: data.limits.filter(l => l.key === kx).map(l => l.value),
      xLabel: mx.title + " (" + mx.unit + ")", yLabel: my.title + " (" + my.unit + ")",
      head: ["cell", mx.title, my.title, "front"], table: order => [order.map(i => cells[i].label), order.map(i => x[i]), order.map(i => y[i]), order.map(i => best.has(i) ? "yes" : "")],
    });
  }

  function probes() {
    const figureEl = document.getElementById("probes"), p = data.parameters[0];
    const all = cells.map((c, i) => i), b = data.boundary;
    const kinds = [["meets the limits", i => !missed(i) && !doubtful(i), () => colour("good")], ["misses a limit", missed, () => colour("bad")], ["limited by the client", doubtful, () => colour("warn")]];
    const value = i => p.number ? cells[i].numbers[0] : cells[i].at[0];
    scatter(figureEl.querySelector(".plot"), {
      x: i => i + 1, y: value, height: 220, xLabel: "probe", yLabel: p.name, xName: "probe",
      series: kinds.map(k => ({label: k[0], cells: all.filter(k[1]), colour: k[2]})).filter(s => s.cells.length),
      lines: b && known(b.value) ? [{y: b.value}] : [],
      head: ["probe", p.name, "verdict"], table: order => [order.map(i => String(i + 1)), order.map(i => p.values[cells[i].at[0]] ?? ""), order.map(i => cells[i].verdict || "")],
    });
  }

  if (controls) {
    controls.hidden = false;
    const axisSelect = pick("axis"), lines = pick("lines"), log = pick("logarithmic");
    const spread = i => { const p = data.parameters[i]; return p.number ? p.values.length : p.values.length / 2; };
    axisSelect.value = String(data.parameters.map((p, i) => i).reduce((a, b) => spread(b) > spread(a) ? b : a, 0));
    const choose = () => {
      const x = +axisSelect.value, list = linesOf(x), old = lines.value;
      lines.textContent = "";
      for (const [value, text] of list) lines.append(make("option", {value, textContent: text}));
      lines.value = list.some(l => l[0] === old) && unique(x, old) ? old : (list.find(l => unique(x, l[0])) || list[0])[0];
      const numbers = cells.map(c => c.numbers[x]).filter(known), lo = Math.min(...numbers), hi = Math.max(...numbers);
      log.parentElement.hidden = !data.parameters[x].number || !(lo > 0);
      log.checked = !data.boundary && lo > 0 && hi >= 16 * lo;
    };
    const draw = () => data.curves.forEach(curve);
    choose();
    draw();
    axisSelect.onchange = () => { choose(); draw(); };
    for (const el of [lines, pick("stat"), log]) el.onchange = draw;
  }
  if (data.front && document.getElementById("front")) {
    pick("frontcontrols").hidden = false;
    const offer = (id, keys, chosen) => {
      const el = pick(id);
      for (const m of data.metrics.filter(keys)) el.append(make("option", {value: m.key, textContent: m.title}));
      el.value = chosen;
      el.onchange = front;
    };
    const throughput = m => /throughput|goodput|good_request|tokens_per/.test(m.tag);
    offer("frontx", m => !throughput(m) || m.key === data.front.x, data.front.x);
    offer("fronty", m => throughput(m) || m.key === data.front.y, data.front.y);
    front();
  }
  if (document.getElementById("probes")) probes();

  // Columns are sorted by their titles, cells without a value last.
  const table = document.getElementById("cells");
  if (table) {
    pick("sorthint").hidden = false;
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((th, k) => {
      const b = make("button", {type: "button"}, ...th.childNodes);
      th.append(b);
      b.onclick = () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        heads.forEach(h => h.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = r => r.cells[k].dataset.v ?? "";
        const rows = [...body.rows];
        const numeric = rows.every(r => value(r) === "" || !isNaN(value(r)));
        rows.sort((p, q) => {
          const a = value(p), c = value(q);
          if (a === "" || c === "") return (a === "") - (c === "");
          const d = numeric ? a - c : a.localeCompare(c, "en", {numeric: true});
          return down ? -d : d;
        });
        body.append(...rows);
      };
    });
  }
  finished();
