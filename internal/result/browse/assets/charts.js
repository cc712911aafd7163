  // defaults are the charts of what the runs have; a figure per GPU is for those with GPUs alone.
  const defaults = () => {
    const most = tag => all.runs.filter(r => known(value(r, tag, "avg"))).length, has = tag => all.metrics.some(m => m.tag === tag);
    const y = ["output_token_throughput_per_gpu", "output_token_throughput", "request_throughput"].find(t => has(t) && 2 * most(t) >= all.runs.length) ?? (has("output_token_throughput") ? "output_token_throughput" : "request_throughput");
    const list = [
      {type: "pareto", x: "jobs_per_hour_per_user", xs: "avg", y: has("jobs_per_hour_per_gpu") ? "jobs_per_hour_per_gpu" : "jobs_per_hour", ys: "avg"},
      {type: "line", x: "request_throughput", xs: "avg", y: "time_to_first_token", ys: "p99"}, {type: "line", x: "request_throughput", xs: "avg", y: "inter_token_latency", ys: "p99"},
      {type: "line", x: "request_throughput", xs: "avg", y: "request_latency", ys: "p99"}, {type: "pareto", x: "request_latency", xs: "p50", y, ys: "avg"}, {type: "pareto", x: "output_token_throughput_per_user", xs: "p50", y, ys: "avg"},
    ].filter(c => has(c.x) && has(c.y)).slice(0, has("jobs_per_hour") ? 5 : 4);
    const some = all.metrics.filter(m => m.tag !== "request_throughput")[0];
    if (!list.length && some && has("request_throughput")) list.push({type: "line", x: "request_throughput", xs: "avg", y: some.tag, ys: some.stats[0]});
    return list.map((c, i) => ({...c, id: i + 1, zero: true}));
  };
  let all = {runs: [], metrics: [], columns: []}, state = null, chosen = new Set(), editing = null;
  const metric = tag => all.metrics.find(m => m.tag === tag) || {tag, header: tag, unit: "", stats: ["avg"]};
  const save = () => store.set("charts", state);
  const nameOf = (tag, stat) => metric(tag).header + (stat && (stat !== "avg" || metric(tag).stats.length > 1) ? " " + stat : "");
  const titleOf = c => c.title || nameOf(c.y, c.ys) + " over " + nameOf(c.x, c.xs).replace(/\b[A-Z](?=[a-z])/g, l => l.toLowerCase());
  const value = (r, tag, stat) => r.v[tag]?.[stat];
  const spread = (r, tag, stat) => r.ci?.[tag]?.[stat];
  const textOf = (r, column) => { const v = r.columns[column]; return !known(v) ? "–" : typeof v === "object" ? JSON.stringify(v) : String(v); };
  // byLoad returns the points of a group in the order of their loads: those of one kind of load, of which there are most.
  function byLoad(points) {
    const of = ["concurrency", "request rate"].map(c => points.filter(p => known(p.r.columns[c])).map(p => ({p, load: +p.r.columns[c]}))).sort((a, b) => b.length - a.length)[0];
    return of.length ? of.sort((a, b) => a.load - b.load || a.p.x - b.p.x).map(o => o.p) : [...points].sort((a, b) => a.x - b.x);
  }
  const distinct = column => new Set(all.runs.map(r => textOf(r, column))).size;

  // front returns the points that no other one beats in both figures.
  const front = (points, c) => efficient(points, p => metric(c.x).larger ? p.x : -p.x, p => metric(c.y).larger ? p.y : -p.y).sort((a, b) => a.x - b.x);
  function groupsOf(points) {
    const by = state.group, groups = new Map();
    for (const p of points) {
      const name = by ? textOf(p.r, by) : "runs";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(p);
    }
    return [...groups].sort((a, b) => a[0].localeCompare(b[0], undefined, {numeric: true})).map(([name, list]) => ({name: by && by !== "folder" ? by.split(".").pop() + " " + name : name, points: list}));
  }

  function draw(c, figure) {
    const box = figure.querySelector(".plot");
    const points = all.runs.filter(r => chosen.has(r.id)).map(r => ({r, x: value(r, c.x, c.xs), y: value(r, c.y, c.ys), dx: spread(r, c.x, c.xs), dy: spread(r, c.y, c.ys)})).filter(p => known(p.x) && known(p.y) && (!c.lx || p.x > 0) && (!c.ly || p.y > 0)).sort((a, b) => a.x - b.x);
    for (const p of plots.filter(p => p.el === box)) { p.u.destroy(); plots.splice(plots.indexOf(p), 1); }
    box.replaceChildren();
    figure.querySelector(".legend").textContent = "";
    figure.querySelector("details").hidden = true;
    if (!points.length) { box.append(make("p", {className: "empty", textContent: "None of the chosen runs has both figures."})); return; }
    const groups = groupsOf(points), mx = metric(c.x), my = metric(c.y);
    groups.forEach((g, i) => g.points.forEach(p => { p.g = i; }));
    const names = legend(figure, groups.slice(0, 16).map((g, i) => ({label: g.name, colour: () => line(i), dash: dash(i)})));
    const ends = (list, log) => {
      let lo = Math.min(...list), hi = Math.max(...list);
      if (log) return [lo / (hi / lo || 1) ** 0.06 / (hi === lo ? 2 : 1), hi * (hi / lo || 1) ** 0.08 * (hi === lo ? 2 : 1)];
      if (c.zero) lo = Math.min(0, lo);
      const gap = hi > lo ? hi - lo : Math.abs(hi) || 1;
      return [lo === 0 ? 0 : lo - gap * 0.05, hi + gap * 0.09];
    };
    const rx = ends(points.flatMap(p => [p.x, ...(p.dx || [])]).filter(v => !c.lx || v > 0), c.lx), ry = ends(points.flatMap(p => [p.y, ...(p.dy || [])]).filter(v => !c.ly || v > 0), c.ly);
    const paint = u => within(u, (ctx, area, r, X, Y) => {
      groups.forEach((g, i) => {
        ctx.strokeStyle = line(i);
        ctx.lineWidth = 1.6 * r;
        ctx.setLineDash((dash(i) || []).map(d => d * r));
        // A line joins runs that differ in their load alone.
        const series = [...new Set(g.points.map(p => p.r.series))].map(s => g.points.filter(p => p.r.series === s));
        for (const joined of c.type === "pareto" ? [front(g.points, c)] : c.type === "line" ? series.map(byLoad) : []) {
          ctx.beginPath();
          joined.forEach((p, k) => ctx[k ? "lineTo" : "moveTo"](X(p.x), Y(p.y)));
          ctx.stroke();
        }
        ctx.setLineDash([]);
        for (const p of g.points) {
          ctx.strokeStyle = ctx.fillStyle = line(i);
          if (p.dx && p.dy) { // the region of both means
            ctx.globalAlpha = 0.15;
            ctx.beginPath();
            ctx.ellipse(X(p.x), Y(p.y), Math.abs(X(p.dx[1]) - X(p.dx[0])) / 2, Math.abs(Y(p.dy[1]) - Y(p.dy[0])) / 2, 0, 0, 2 * Math.PI);
            ctx.fill();
            ctx.globalAlpha = 1;
          }
          circle(ctx, X(p.x), Y(p.y), r, p.r.level && p.r.level !== "good");
        }
      });
      if (state.label) texts(ctx, area, r, points.map(p => ({x: X(p.x), y: Y(p.y), text: known(p.r.columns[state.label]) ? textOf(p.r, state.label).replace(/^concurrency /, "c").slice(0, 28) : ""})));
    });
    const under = u => points[nearest(u, points.map(p => p.x), points.map(p => p.y), 26)];
    const say = p => names.show(p ? `${p.r.name}: ${short(p.x)} ${mx.unit}, ${short(p.y)} ${my.unit}` : null);
    const scaled = (range, log) => ({time: false, distr: log ? 3 : 1, range: () => range});
    // A title that is longer than its axis ends in three dots; the unit stays.
    const room = Math.floor((c.wide ? 330 : 240) / 6), fitted = (text, most) => text.length <= most ? text : text.slice(0, Math.max(8, most - 1)) + "…";
    const named = (tag, stat, m, range, log, most = 200) => ({label: fitted(nameOf(tag, stat).replace(/Output Token Throughput/, "Output Throughput"), most - m.unit.length - 3) + " (" + m.unit + ")", labelSize: 20, values: ticks, ...logarithmic(log, range)});
    const plot = add(figure, names, (at, u) => say(at === null ? null : under(u)), {
      height: c.wide ? 380 : 290, cursor: {drag: {x: false, y: false}, points: {show: false}, y: true},
      scales: {x: scaled(rx, c.lx), y: scaled(ry, c.ly)},
      axes: [axis({space: 56, size: 30, ...named(c.x, c.xs, mx, rx, c.lx)}), axis({size: 56, ...named(c.y, c.ys, my, ry, c.ly, room)})],
      series: [{}, {stroke: () => line(0), paths: () => null, points: {show: false}}],
      hooks: {draw: [paint]},
    }, [points.map(p => p.x), points.map(p => p.y)]);
    // Arrow keys go from point to point; Enter opens it.
    box.onkeydown = ev => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[ev.key];
      if (step) { ev.preventDefault(); plot.at = Math.min(points.length - 1, Math.max(0, (plot.at ?? (step > 0 ? -1 : points.length)) + step)); say(points[plot.at]); }
      if (ev.key === "Enter" && points[plot.at]) open(points[plot.at].r);
    };
    plot.u.over.onclick = () => { const p = under(plot.u); if (p) open(p.r); };
    behind(figure, ["run", nameOf(c.x, c.xs) + " (" + mx.unit + ")", nameOf(c.y, c.ys) + " (" + my.unit + ")"], [points.map(p => p.r.name), points.map(p => p.x), points.map(p => p.y)]);
  }

  function show() {
    for (const p of plots.splice(0)) p.u.destroy();
    const visible = state.list.filter(c => !c.hidden);
    el("grid").replaceChildren(...visible.map(c => {
      const tool = (text, label, f) => { const b = make("button", {type: "button", textContent: text, onclick: f}); b.setAttribute("aria-label", label + ": " + titleOf(c)); return b; };
      const box = make("div", {className: "plot", tabIndex: 0});
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", titleOf(c) + ", a point for each run; arrow keys go from point to point, Enter opens a run");
      const details = make("details", {className: "screen", hidden: true}, make("summary", {textContent: "Values as a table"}));
      return make("figure", {id: "chart-" + c.id, className: "chart" + (c.wide ? " whole" : "")}, make("figcaption", {className: "headline"}, make("b", {textContent: titleOf(c)}),
        make("span", {className: "tools screen"}, tool("Edit", "Edit", () => edit(c)), tool("PNG", "Save as PNG", () => png([c])), tool("Hide", "Hide", () => { c.hidden = true; save(); show(); }))), box, make("div", {className: "legend"}), details);
    }), make("button", {type: "button", className: "add screen", id: "add", textContent: "+ chart", onclick: () => edit(null)}));
    for (const c of visible) draw(c, el("chart-" + c.id));
    const gone = state.list.filter(c => c.hidden);
    el("hiddenbox").hidden = !gone.length;
    el("hidden").replaceChildren(...gone.map(c => make("button", {type: "button", textContent: titleOf(c), onclick: () => { c.hidden = false; save(); show(); }})));
    el("count").textContent = `${chosen.size} of ${all.runs.length} runs`;
    root.dataset.drawn = plots.length;
  }
  const redraw = () => { for (const c of state.list.filter(c => !c.hidden)) draw(c, el("chart-" + c.id)); el("count").textContent = `${chosen.size} of ${all.runs.length} runs`; };

  // edit asks what a chart shows.
  function fillStats(select, tag, want) {
    el(select).replaceChildren(...metric(tag).stats.map(s => make("option", {value: s, textContent: s})));
    el(select).value = metric(tag).stats.includes(want) ? want : metric(tag).stats[0];
  }
  function edit(c) {
    editing = c;
    const of = c || {type: "line", x: "request_throughput", xs: "avg", y: "time_to_first_token", ys: "p50", zero: true};
    el("edittitle").textContent = c ? "Edit the chart" : "New chart";
    for (const [axisName, tag, stat] of [["x", of.x, of.xs], ["y", of.y, of.ys]]) {
      const groups = new Map();
      for (const m of all.metrics) {
        if (!groups.has(m.category)) groups.set(m.category, make("optgroup", {label: m.category}));
        groups.get(m.category).append(make("option", {value: m.tag, textContent: m.header + (m.unit ? " (" + m.unit + ")" : "")}));
      }
      el("e-" + axisName).replaceChildren(...groups.values());
      el("e-" + axisName).value = all.metrics.some(m => m.tag === tag) ? tag : all.metrics[0].tag;
      fillStats("e-" + axisName + "s", el("e-" + axisName).value, stat);
      el("e-" + axisName).onchange = () => fillStats("e-" + axisName + "s", el("e-" + axisName).value, el("e-" + axisName + "s").value);
    }
    el("e-title").value = of.title || "";
    el("e-title").placeholder = c ? titleOf({...c, title: ""}) : "as the figures";
    el("e-type").value = of.type;
    el("e-lx").checked = !!of.lx; el("e-ly").checked = !!of.ly; el("e-zero").checked = !!of.zero; el("e-wide").checked = !!of.wide;
    for (const id of ["e-new", "e-hide", "e-remove"]) el(id).hidden = !c;
    el("edit").returnValue = "cancel";
    el("edit").showModal();
  }
  el("edit").onclose = () => {
    const what = el("edit").returnValue, c = {title: el("e-title").value.trim(), type: el("e-type").value, x: el("e-x").value, xs: el("e-xs").value, y: el("e-y").value, ys: el("e-ys").value, lx: el("e-lx").checked, ly: el("e-ly").checked, zero: el("e-zero").checked, wide: el("e-wide").checked};
    const next = () => Math.max(0, ...state.list.map(k => k.id)) + 1;
    if (what === "save" && editing) Object.assign(editing, c);
    else if (what === "save" || what === "new") state.list.push({...c, id: next()});
    else if (what === "hide") editing.hidden = true;
    else if (what === "remove") state.list = state.list.filter(k => k !== editing);
    else return;
    save();
    show();
    (editing && el("chart-" + editing.id)?.querySelector("button") || el("add")).focus();
  };

  async function open(r) {
    el("pointtitle").textContent = r.name;
    el("pointlink").href = "/r/" + r.id;
    const rows = [["Kind", r.kind], ["State", r.state], ["Started (UTC)", r.started ? new Date(r.started).toISOString().replace("T", " ").slice(0, 19) : ""], ...all.columns.slice(0, 8).map(c => [c, textOf(r, c)])];
    for (const tag of ["output_token_throughput", "request_throughput", "time_to_first_token", "inter_token_latency", "request_latency"]) for (const stat of ["avg", "p50", "p99"]) if (known(value(r, tag, stat)) && (stat !== "avg" || metric(tag).stats.length === 1)) rows.push([nameOf(tag, stat), short(value(r, tag, stat)) + " " + metric(tag).unit]);
    el("pointfacts").replaceChildren(...facts(rows));
    el("pointconfig").textContent = "…";
    el("point").showModal();
    const a = await ask(`/api/r/${r.id}/configuration`);
    el("pointconfig").textContent = a.error ? refused(a) : a.configuration || "It is not in the file.";
  }
  el("pointclose").onclick = () => el("point").close();

  // png saves charts as one picture, with their titles and legends.
  function png(list) {
    const r = devicePixelRatio, pad = 16 * r, parts = list.map(c => ({c, figure: el("chart-" + c.id), canvas: el("chart-" + c.id).querySelector("canvas")})).filter(p => p.canvas);
    if (!parts.length) return;
    const width = Math.max(...parts.map(p => p.canvas.width)) + 2 * pad, row = p => p.canvas.height + 66 * r;
    const out = make("canvas", {width, height: parts.reduce((h, p) => h + row(p), pad)}), ctx = out.getContext("2d");
    ctx.fillStyle = colour("panel");
    ctx.fillRect(0, 0, out.width, out.height);
    let y = pad;
    for (const p of parts) {
      ctx.fillStyle = colour("ink");
      ctx.font = "bold " + 14 * r + "px system-ui,sans-serif";
      ctx.fillText(titleOf(p.c), pad, y + 14 * r, width - 2 * pad);
      ctx.drawImage(p.canvas, pad, y + 24 * r);
      ctx.font = 12 * r + "px system-ui,sans-serif";
      let x = pad;
      for (const key of p.figure.querySelectorAll(".legend .key")) {
        const text = key.parentElement.textContent.trim();
        ctx.fillStyle = getComputedStyle(key).backgroundColor;
        ctx.fillRect(x, y + p.canvas.height + 34 * r, 14 * r, 3 * r);
        ctx.fillStyle = colour("ink");
        ctx.fillText(text, x + 20 * r, y + p.canvas.height + 39 * r);
        x += ctx.measureText(text).width + 40 * r;
      }
      y += row(p);
    }
    out.toBlob(blob => {
      const name = list.length > 1 ? "charts.png" : titleOf(list[0]).replace(/[^a-zA-Z0-9]+/g, "-").toLowerCase() + ".png";
      download(blob, name);
      toast(`Saved ${name}`);
    });
  }
  function toast(text) {
    const t = make("div", {className: "toast", textContent: text});
    t.setAttribute("role", "status");
    document.body.append(t);
    setTimeout(() => t.remove(), 2500);
  }
  el("export").onclick = () => png(state.list.filter(c => !c.hidden));
  el("reset").onclick = () => { state = {...state, list: defaults()}; save(); show(); };

  function controls() {
    const options = [["", "– nothing"], ...all.columns.map(c => [c, c])];
    for (const [id, key] of [["group", "group"], ["labels", "label"]]) {
      el(id).replaceChildren(...options.map(([v, t]) => make("option", {value: v, textContent: t.length > 40 ? "…" + t.slice(-38) : t})));
      if (![...el(id).options].some(o => o.value === state[key])) state[key] = "";
      el(id).value = state[key];
      el(id).onchange = () => { state[key] = el(id).value; save(); redraw(); };
    }
    el("runs").replaceChildren(...all.runs.map(r => {
      const box = make("input", {type: "checkbox", checked: chosen.has(r.id)});
      box.onchange = () => { if (box.checked) chosen.add(r.id); else chosen.delete(r.id); redraw(); };
      return make("label", {}, box, " " + r.name);
    }));
    const every = on => { chosen = new Set(on ? all.runs.map(r => r.id) : []); for (const b of el("runs").querySelectorAll("input")) b.checked = on; redraw(); };
    el("allruns").onclick = () => every(true);
    el("noruns").onclick = () => every(false);
  }
  async function start() {
    const answer = await ask("/api/charts?runs=" + encodeURIComponent(data.runs || ""));
    el("pending").hidden = true;
    if (answer.error || !answer.runs.length) {
      el("fault").hidden = false;
      el("fault").textContent = answer.error ? refused(answer) : "None of these runs has figures.";
      finished();
      return;
    }
    all = answer;
    chosen = new Set(all.runs.map(r => r.id));
    if (answer.left.length) { el("fault").hidden = false; el("fault").textContent = "Without figures, and therefore not shown: " + answer.left.join(", "); }
    state = store.get("charts", null);
    // Group by the folder if there are several: lines join what belongs together. Else by the model, else by what has the fewest values; label by the concurrency if it varies.
    const few = all.columns.filter(c => c !== "run" && c !== "concurrency" && distinct(c) >= 2 && distinct(c) <= 10).sort((a, b) => distinct(a) - distinct(b));
    const usual = {group: all.columns.includes("folder") && distinct("folder") > 1 ? "folder" : all.columns.includes("model") ? "model" : few.find(c => !/concurrency|requests|rate/.test(c)) ?? "", label: all.columns.includes("concurrency") && all.columns.includes("request rate") ? "load" : all.columns.includes("concurrency") ? "concurrency" : all.columns.find(c => distinct(c) >= 2 && distinct(c) <= 20) ?? ""};
    if (!state?.list) state = {list: defaults(), ...usual};
    if (!all.columns.includes(state.group)) state.group = usual.group;
    if (!all.columns.includes(state.label)) state.label = usual.label;
    controls();
    show();
  }
  start();
