  const cells = data.cells;
  const figure = key => data.figures[key];
  const metric = key => data.metrics.find(m => m.key === key);
  const missed = i => cells[i].verdict === "infeasible";
  const doubtful = i => cells[i].verdict === "client-limited" || cells[i].limited;
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
  const colours = i => () => line(i);

  // scatter draws cells as points, each series its own; a series may be joined by a line.
  function scatter(figure, o) {
    const used = new Map(); // the series of a cell
    o.series.forEach((s, k) => s.cells.forEach(i => used.set(i, k)));
    const order = [...new Set(o.series.flatMap(s => s.cells))].filter(i => known(o.x(i)) && known(o.y(i))).sort((a, b) => o.x(a) - o.x(b) || a - b);
    const xs = order.map(o.x), points = order.map(o.y), inside = o.series.map(s => new Set(s.cells));
    const columns = o.series.map((s, k) => order.map(i => inside[k].has(i) ? o.y(i) : null));
    const names = legend(figure, o.series.map(s => ({label: s.label, colour: s.colour, dash: s.dash, unit: ""})));
    let lo = Math.min(...xs), hi = Math.max(...xs);
    for (const v of (o.alsoX || []).filter(known)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    const log = o.log && lo > 0;
    const gap = hi > lo ? (hi - lo) * 0.04 : Math.abs(hi) * 0.1 || 1;
    const range = o.categories ? [-0.5, o.categories.length - 0.5] : log ? [lo / (hi / lo) ** 0.04, hi * (hi / lo) ** 0.04] : [o.zero ? Math.min(0, lo) : lo - gap, hi + gap];
    const placed = () => { // the loads that were measured, as far as their labels have room
      const w = widthOf(figure.querySelector(".plot")) - 70, at = v => w * (log ? Math.log(v / range[0]) / Math.log(range[1] / range[0]) : (v - range[0]) / (range[1] - range[0]));
      let last = -Infinity;
      return o.ticks.filter(v => at(v) - last >= 30 && ((last = at(v)), true));
    };
    if (log && range[0] === range[1]) { range[0] /= 2; range[1] *= 2; }
    const ys = order.flatMap(i => [o.y(i), o.low && o.low(i), o.high && o.high(i)]).filter(known).concat(o.lines.map(l => l.y).filter(known));
    const span = Math.max(...ys) - Math.min(...ys);
    const top = o.close ? Math.min(1, Math.max(...ys) + span * 0.15 || 1) : Math.max(...ys, 0), bottom = o.close ? Math.max(0, Math.min(...ys) - span * 0.15) : Math.min(...ys, 0);
    const marks = u => within(u, (ctx, box, r, X, Y) => {
      ctx.lineWidth = r;
      ctx.strokeStyle = colour("bad");
      ctx.setLineDash([6 * r, 4 * r]);
      for (const l of o.lines) {
        ctx.beginPath();
        if (known(l.y)) { ctx.moveTo(box.left, Y(l.y)); ctx.lineTo(box.left + box.width, Y(l.y)); }
        else { ctx.moveTo(X(l.x), box.top); ctx.lineTo(X(l.x), box.top + box.height); }
        ctx.stroke();
      }
      ctx.setLineDash([]);
      for (const i of order) {
        const x = X(o.x(i)), y = Y(o.y(i));
        ctx.strokeStyle = ctx.fillStyle = o.series[used.get(i)].colour();
        if (o.low && known(o.low(i)) && known(o.high(i))) {
          ctx.lineWidth = 1.5 * r;
          ctx.beginPath();
          ctx.moveTo(x, Y(o.low(i)));
          ctx.lineTo(x, Y(o.high(i)));
          for (const v of [o.low(i), o.high(i)]) { ctx.moveTo(x - 3 * r, Y(v)); ctx.lineTo(x + 3 * r, Y(v)); }
          ctx.stroke();
        }
        if (!missed(i)) { circle(ctx, x, y, r, doubtful(i)); continue; }
        const d = 3.5 * r;
        ctx.lineWidth = 1.8 * r;
        ctx.beginPath();
        ctx.moveTo(x - d, y - d); ctx.lineTo(x + d, y + d); ctx.moveTo(x + d, y - d); ctx.lineTo(x - d, y + d);
        ctx.stroke();
      }
      for (const v of o.failed || []) { // a cross on the axis
        const x = X(v), y = box.top + box.height - 5 * r, d = 4 * r;
        ctx.strokeStyle = colour("bad");
        ctx.lineWidth = 2 * r;
        ctx.beginPath();
        ctx.moveTo(x - d, y - d); ctx.lineTo(x + d, y + d); ctx.moveTo(x + d, y - d); ctx.lineTo(x - d, y + d);
        ctx.stroke();
      }
      if (o.text) texts(ctx, box, r, order.map(i => ({x: X(o.x(i)), y: Y(o.y(i)), text: o.text(i)})));
      const letters = new Map(); // of each cell: a ring with its letters above it, below it where there is no room
      for (const [name, i] of o.special || []) letters.set(i, [...(letters.get(i) || []), name]);
      for (const [i, names] of letters) {
        const x = X(o.x(i)), y = Y(o.y(i)), up = y - 15 * r < box.top + 6 * r ? y + 15 * r : y - 15 * r;
        lettering(ctx, 11, "middle", "center").font = "bold " + ctx.font;
        ctx.strokeStyle = ctx.fillStyle;
        ctx.lineWidth = 1.4 * r;
        ctx.beginPath();
        ctx.arc(x, y, 6 * r, 0, 2 * Math.PI);
        ctx.stroke();
        ctx.fillText(names.join(" "), x, up);
      }
    });
    const bounds = u => within(u, (ctx, box, r, X) => {
      const b = o.boundary || {};
      if (known(b.low) && known(b.high)) {
        ctx.fillStyle = colour("shade");
        ctx.fillRect(X(b.low), box.top, Math.max(r, X(b.high) - X(b.low)), box.height);
      }
      if (known(b.value)) {
        ctx.fillStyle = colour("soft");
        ctx.fillRect(X(b.value) - r / 2, box.top, r, box.height);
      }
    });
    const tickX = v => o.categories ? o.categories[v] ?? "" : o.whole && v % 1 ? "" : tick(v);
    const show = (at, u) => {
      const k = at !== null && o.near ? nearest(u, xs, points) : at;
      if (k === null) names.show(null);
      else if (o.near) names.show(cells[order[k]].label + ": " + o.told(order[k]));
      else names.show((o.xName ? o.xName + " " : "") + tickX(xs[k]), o.series.map((s, j) => { const n = order.findIndex((i, m) => xs[m] === xs[k] && inside[j].has(i)); return n < 0 ? null : columns[j][n]; }));
    };
    const room = () => Math.max(3, Math.floor((widthOf(figure.querySelector(".plot")) - 70) / (o.categories.length || 1) / 6.5)); // characters of a name
    const named = v => { const text = tickX(v); return !o.categories || text.length <= room() ? text : text.slice(0, room() - 1) + "…"; };
    const called = text => ({label: text, labelSize: text ? 18 : undefined});
    add(figure, names, show, {
      height: o.height || 210,
      scales: {x: {time: false, distr: log ? 3 : 1, range: () => range}, y: {range: () => [bottom, top === bottom ? 1 : top + (top - bottom) * 0.08]}},
      axes: [axis({space: 46, size: 30, values: (u, list) => list.map(v => v === null ? "" : named(v)),
        ...(o.categories ? {splits: () => o.categories.map((c, i) => i)} : o.ticks ? {splits: placed, filter: (u, s) => s} : logarithmic(log, range)), ...called(o.xLabel)}), axis({size: 56, values: ticks, ...called(o.yLabel)})],
      series: [{}, ...o.series.map(s => ({label: s.label, stroke: s.colour, spanGaps: true, points: {show: false}, width: s.join ? 1.5 : 0, dash: s.dash, paths: s.join ? undefined : () => null}))],
      hooks: {drawClear: [bounds], draw: [marks]},
    }, [xs, ...columns]);
    behind(figure, o.head, o.table(order));
  }

  function curve(c) {
    const x = +el("axis").value || 0, by = el("lines").value || "none", stat = el("stat").value;
    const key = c.keys[stat] || c.keys.avg || Object.values(c.keys)[0], m = metric(key), f = figure(key), p = data.parameters[x];
    const plot = el(c.id);
    plot.querySelector("figcaption b").textContent = m.title;
    const place = i => p.number ? cells[i].numbers[x] : cells[i].at[x] < 0 ? null : cells[i].at[x];
    const lines = groups(x, by).map((g, k) => ({label: g.name || m.title, cells: g.cells, colour: colours(k), dash: dash(k), join: p.number && (unique(x, by) || data.parameters.length === 1)}));
    const b = data.boundary && data.boundary.parameter === x ? data.boundary : null;
    const special = b ? [["K", b.knee], ["R", b.recommended]].map(([name, load]) => [name, cells.findIndex((c, i) => known(load) && place(i) === load && known(f.mean[i]))]).filter(s => s[1] >= 0) : data.load === x ? (data.marks || []).map(m => [m.letter, m.cell]).filter(s => known(f.mean[s[1]])) : [];
    const limits = data.limits.filter(l => l.key === key), failed = p.number ? cells.filter(c => c.verdict === "failed" && known(c.numbers[x])).map(c => c.numbers[x]) : [];
    scatter(plot, {
      x: place, y: i => f.mean[i], low: f.low && (i => f.low[i]), high: f.high && (i => f.high[i]), series: lines, log: el("logarithmic").checked && p.number,
      categories: p.number ? null : p.values, lines: limits.map(l => ({y: l.value})), boundary: b, alsoX: b ? [b.value] : failed, special, failed, ticks: p.number && p.values.length <= 16 ? p.values.map(Number) : null,
      close: m.tag === "accuracy.overall", xName: p.name, xLabel: p.name + (p.unit ? " (" + p.unit + ")" : ""),
      head: [p.name, ...(data.parameters.length > 1 ? ["cell"] : []), m.title + " (" + m.unit + ")", ...(f.low ? ["low", "high"] : [])],
      table: order => [order.map(i => p.values[cells[i].at[x]] ?? ""), ...(data.parameters.length > 1 ? [order.map(i => cells[i].label)] : []), order.map(i => f.mean[i]), ...(f.low ? [order.map(i => f.low[i]), order.map(i => f.high[i])] : [])],
    });
  }

  function front() {
    const plot = el("front"), kx = el("frontx").value, ky = el("fronty").value, mx = metric(kx), my = metric(ky), x = figure(kx).mean, y = figure(ky).mean;
    const all = cells.map((c, i) => i).filter(i => known(x[i]) && known(y[i]));
    const judged = data.limits.length ? all.filter(i => !missed(i) && !doubtful(i)) : all;
    const turned = data.front.x === kx && data.front.maximizeX || mx.tag === "jobs_per_hour_per_user", under = data.front.y === ky && data.front.minimizeY;
    const best = new Set(efficient(judged, i => turned ? x[i] : -x[i], i => under ? -y[i] : y[i]));
    plot.querySelector("figcaption b").textContent = my.title + " over " + mx.title;
    const told = i => mx.title + " " + short(x[i]) + " " + mx.unit + ", " + my.title + " " + short(y[i]) + " " + my.unit;
    const label = i => best.has(i) && best.size <= 16 ? (data.parameters.length === 1 ? data.parameters[0].values[cells[i].at[0]] : cells[i].label.length <= 28 ? cells[i].label : "#" + (i + 1)) : "";
    scatter(plot, {
      x: i => x[i], y: i => y[i], height: 320, near: true, told, zero: true, text: label,
      series: [{label: "Pareto front", cells: [...best], colour: colours(0), join: true}, {label: "other cells", cells: all.filter(i => !best.has(i)), colour: () => colour("soft")}],
      lines: [...data.limits.filter(l => l.key === ky).map(l => ({y: l.value})), ...data.limits.filter(l => l.key === kx).map(l => ({x: l.value}))],
      alsoX: data.limits.filter(l => l.key === kx).map(l => l.value),
      xLabel: mx.title + " (" + mx.unit + ")", yLabel: my.title + " (" + my.unit + ")",
      head: ["cell", mx.title, my.title, "front"], table: order => [order.map(i => cells[i].label), order.map(i => x[i]), order.map(i => y[i]), order.map(i => best.has(i) ? "yes" : "")],
    });
  }

  function probes() {
    const p = data.parameters[0], all = cells.map((c, i) => i), b = data.boundary;
    const kinds = [["meets the limits", i => !missed(i) && !doubtful(i), () => colour("good")], ["misses a limit", missed, () => colour("bad")], ["limited by the client", doubtful, () => colour("warn")]];
    const value = i => p.number ? cells[i].numbers[0] : cells[i].at[0];
    scatter(el("probes"), {
      x: i => i + 1, y: value, height: 220, xLabel: "probe", yLabel: p.name, xName: "probe", whole: true,
      series: kinds.map(k => ({label: k[0], cells: all.filter(k[1]), colour: k[2]})).filter(s => s.cells.length),
      lines: b && known(b.value) ? [{y: b.value}] : [],
      head: ["probe", p.name, "verdict"], table: order => [order.map(i => String(i + 1)), order.map(i => p.values[cells[i].at[0]] ?? ""), order.map(i => cells[i].verdict || "")],
    });
  }

  const controls = el("controls");
  if (controls) {
    controls.hidden = false;
    const axisSelect = el("axis"), lines = el("lines"), log = el("logarithmic");
    const spread = i => { const p = data.parameters[i]; return p.number ? p.values.length : p.values.length / 2; };
    axisSelect.value = String(data.parameters.map((p, i) => i).reduce((a, b) => spread(b) > spread(a) ? b : a, 0));
    const choose = () => {
      const x = +axisSelect.value, list = linesOf(x), old = lines.value;
      lines.textContent = "";
      for (const [value, text] of list) lines.append(make("option", {value, textContent: text}));
      lines.value = list.some(l => l[0] === old) && unique(x, old) ? old : (list.find(l => unique(x, l[0])) || list[0])[0];
      const numbers = cells.map(c => c.numbers[x]).filter(known), lo = Math.min(...numbers), hi = Math.max(...numbers);
      log.parentElement.hidden = !data.parameters[x].number || !(lo > 0);
      log.checked = !data.boundary && lo > 0 && hi >= 8 * lo;
    };
    const draw = () => data.curves.forEach(curve);
    choose();
    draw();
    axisSelect.onchange = () => { choose(); draw(); };
    for (const c of [lines, el("stat"), log]) c.onchange = draw;
  }
  if (data.front && el("front")) {
    el("frontcontrols").hidden = false;
    const offer = (id, keys, chosen) => {
      const select = el(id);
      for (const m of data.metrics.filter(keys)) select.append(make("option", {value: m.key, textContent: m.title}));
      select.value = chosen;
      select.onchange = front;
    };
    const throughput = m => /throughput|goodput|good_request|good_job|tokens_per|jobs_per_hour/.test(m.tag), users = m => m.tag === "jobs_per_hour_per_user";
    offer("frontx", m => !throughput(m) || users(m) || m.key === data.front.x, data.front.x);
    offer("fronty", m => throughput(m) || m.key === data.front.y, data.front.y);
    front();
  }
  if (el("probes")) probes();

  // Columns are sorted by their titles, cells without a value last.
  const table = el("cells");
  if (table) {
    el("sorthint").hidden = false;
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
