  const svg = "http://www.w3.org/2000/svg";
  let columns = [], rows = [], run = null, state = {phases: []}, figures = {}, servers = {}, series = null, end = null, gone = false;

  const duration = s => {
    if (s === undefined || s === null || !isFinite(s)) return "–";
    if (s < 10) return s.toFixed(1) + " s";
    if (s < 60) return Math.round(s) + " s";
    const t = Math.round(s), p = n => String(n).padStart(2, "0");
    return t < 3600 ? Math.floor(t / 60) + ":" + p(t % 60) : Math.floor(t / 3600) + ":" + p(Math.floor(t / 60) % 60) + ":" + p(t % 60);
  };
  const count = n => Number(n).toLocaleString("en-US");
  const three = v => v === undefined || v === null || !isFinite(v) ? "–" : Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en-US") : String(+v.toPrecision(Math.abs(v) >= 100 ? 4 : 3));
  const column = name => columns.indexOf(name);
  const values = name => { const i = column(name); return rows.map(r => r[i]); };

  // set changes a text only where it differs, so that selections and screen readers are left alone.
  const set = (e, text) => { if (e.textContent !== text) e.textContent = text; };

  // ---- charts ----
  let span = 0;
  const longest = () => Math.max(1, rows.length ? rows[rows.length - 1][0] : 0);
  const range = () => { const to = longest(); return [span && to > span ? to - span : 0, to]; };
  const place = s => clock(s, longest());
  const several = (n, one) => count(n) + " " + one + (n === 1 ? "" : "s");
  const percentiles = name => ["p50", "p90", "p99"].map(p => [name + "_" + p, p, 0, p]);
  const kinds = {
    "c-rate": {unit: "/s", lines: [["completed", "completed"], ["failed", "failed", 1, "bad"], ["target_rate", "planned", 2, "dash"]]},
    "c-tokens": {unit: "/s", lines: [["output_tokens", "output", 0, "area"], ["input_tokens", "input", 1]]},
    "c-ttft": {unit: "ms", lines: percentiles("ttft"), bands: [[2, 0]]},
    "c-itl": {unit: "ms", lines: percentiles("itl"), bands: [[2, 0]]},
    "c-latency": {unit: "ms", lines: percentiles("latency"), bands: [[2, 0]]},
    "c-flight": {unit: "", lines: [["in_flight", "in flight", 0, "area"]]},
    "c-queue": {unit: "", lines: [["running", "running"], ["waiting", "waiting", 1, "area"]]},
    "c-cache": {unit: "%", lines: [["kv_cache", "KV cache"], ["prefix_hits", "prefix hits", 2]], most: 100},
    "c-gpu": {unit: "%", lines: [["gpu_utilization", "utilization", 0, "area"]], most: 100},
    "c-power": {unit: "W", lines: [["gpu_power", "power", 1, "area"]]},
  };
  const warmups = () => state.phases.filter(p => p.kind === "warmup" && p.start !== undefined).map(p => ({name: p.name, from: p.start, to: p.start + p.elapsed}));
  const charts = {};
  function chart(id) {
    const kind = kinds[id], figure = el(id);
    const of = curves(kind.lines.map(l => ({label: l[1], hue: l[2], look: l[3]})), kind.bands, (k, u) => u.data[0].length < 8);
    const names = legend(figure, of.entries(kind.unit));
    const newest = u => { const n = u.data[0].length - 1; names.show(null, n < 0 ? null : kind.lines.map((l, k) => u.data[k + 1][n])); };
    const plot = add(figure, names, (i, u) => { if (i === null) newest(u); else names.show(place(u.data[0][i]), kind.lines.map((l, k) => u.data[k + 1][i])); }, {
      height: 170, padding: [8, 12, 0, 0], cursor: {sync: {key: "time"}, drag: {x: false, y: false}, points: {size: 6}},
      scales: {x: {time: false, range}, y: {range: (u, lo, hi) => [0, Math.min(kind.most ?? Infinity, !hi || hi <= 0 ? 1 : hi * 1.08)]}},
      axes: overTime(longest), series: of.series, bands: of.bands, ends: of.ends, hooks: shaded(warmups),
    }, [[], ...kind.lines.map(() => [])]);
    charts[id] = {plot, kind, figure, newest, details: figure.querySelector("details")};
  }
  // A chart that is not on the screen is drawn when it gets there, and before that now and then: a print or a picture of
  // the whole page shows all of them.
  const visible = new Set(), seldom = 10;
  const watcher = new IntersectionObserver(list => {
    for (const e of list) { if (e.isIntersecting) { visible.add(e.target.id); draw(e.target.id); } else visible.delete(e.target.id); }
  }, {rootMargin: "200px"});
  function draw(id) {
    const c = charts[id], last = rows.length ? rows[rows.length - 1][0] : 0;
    if (!c || !visible.has(id) && !end && c.until !== undefined && last >= c.until && last < Math.max(1.5 * c.until, 2) && last < c.until + seldom) return;
    c.until = last;
    const data = [values("t"), ...c.kind.lines.map(l => values(l[0]))];
    c.plot.u.setData(data);
    // A line without a value, such as the planned rate of a load without one, has no place in the legend.
    const names = c.figure.querySelector(".legend").children;
    const none = c.kind.lines.map((l, k) => data[k + 1].every(v => v === null || v === undefined));
    none.forEach((empty, k) => { names[k + 1].hidden = empty && !none.every(Boolean); });
    if (c.plot.u.cursor.left < 0 || c.plot.u.cursor.left === undefined) c.newest(c.plot.u);
    if (!c.details.open) {
      behind(c.figure, ["time", ...c.kind.lines.map(l => l[1] + (c.kind.unit ? " (" + c.kind.unit + ")" : ""))], [data[0].map(place), ...data.slice(1)]);
    }
  }
  const drawAll = () => {
    const known = Object.keys(figures).length > 0;
    el("c-ttft").hidden = el("c-itl").hidden = !!run && !run.streaming;
    el("c-tokens").hidden = known && !figures.output_token_throughput && !figures.input_token_throughput;
    for (const id in charts) draw(id);
  };
  el("span").onchange = () => { span = +el("span").querySelector("input:checked").value; drawAll(); };

  // ---- hero figures ----
  const hero = [
    {id: "rate", title: "Requests", unit: "/s", line: "completed", colour: 0, value: () => stat("request_throughput", "avg"), lines: () => { const p = state.phases.findLast(p => p.kind === "profiling"); return p ? [several(p.completed, "request")] : []; }},
    {id: "tokens", title: "Output tokens", unit: "/s", line: "output_tokens", colour: 0, value: () => stat("output_token_throughput", "avg"), lines: () => { const v = stat("total_output_tokens", "avg") ?? stat("total_usage_completion_tokens", "avg"); return v === undefined ? [] : [several(v, "token")]; }},
    {id: "ttft", title: "TTFT p50", unit: "ms", line: "ttft_p50", colour: 2, value: () => stat("time_to_first_token", "p50"), lines: () => tail("time_to_first_token")},
    {id: "itl", title: "ITL p50", unit: "ms", line: "itl_p50", colour: 2, value: () => stat("inter_token_latency", "p50"), lines: () => tail("inter_token_latency")},
    {id: "latency", title: "Latency p50", unit: "ms", line: "latency_p50", colour: 2, value: () => stat("request_latency", "p50"), lines: () => tail("request_latency")},
    {id: "accuracy", title: "Accuracy so far", unit: "%", line: "accuracy", colour: 2, value: () => state.accuracy && state.accuracy.total ? 100 * state.accuracy.correct / state.accuracy.total : undefined, lines: () => {
      const a = state.accuracy;
      return a ? [count(a.correct) + " of " + count(a.total), ...(a.unparsed ? [count(a.unparsed) + " unparsed"] : [])] : [];
    }},
    {id: "errors", title: "Errors", unit: "", line: "failed", colour: 4, value: () => state.records ? state.records.errors : undefined, lines: () => {
      const r = state.records;
      if (!r || !(r.ok + r.errors)) return [];
      return [(100 * r.errors / (r.ok + r.errors)).toPrecision(r.errors ? 2 : 1) + " % of " + count(r.ok + r.errors)];
    }},
  ];
  const stat = (tag, key) => figures[tag] ? figures[tag][key] : undefined;
  const tail = tag => stat(tag, "p99") === undefined ? [] : ["p99 " + three(stat(tag, "p99")) + " ms"];
  for (const h of hero) {
    h.spark = document.createElementNS(svg, "svg");
    h.spark.setAttribute("class", "spark");
    h.spark.setAttribute("aria-hidden", "true");
    h.spark.setAttribute("preserveAspectRatio", "none");
    h.spark.setAttribute("viewBox", "0 0 100 26");
    h.path = document.createElementNS(svg, "path");
    h.path.setAttribute("fill", "none");
    h.path.setAttribute("vector-effect", "non-scaling-stroke");
    h.path.setAttribute("stroke-width", "1.5");
    h.spark.append(h.path);
    h.number = make("span");
    h.small = make("p", {className: "what"});
    h.card = make("div", {className: "card"}, make("h3", {textContent: h.title}), make("p", {className: "value"}, h.number, " ", make("span", {className: "unit", textContent: h.unit})), h.small, h.spark);
    el("hero").append(h.card);
  }
  function sparkline(h) {
    const list = values(h.line).slice(-60);
    const real = list.filter(v => v !== null && v !== undefined);
    if (real.length < 2) { h.path.setAttribute("d", ""); return; }
    const hi = Math.max(...real, 1e-12);
    let d = "", pen = "M";
    list.forEach((v, i) => {
      if (v === null || v === undefined) return;
      d += pen + (i / (list.length - 1) * 100).toFixed(1) + " " + (25 - v / hi * 23).toFixed(1);
      pen = "L";
    });
    h.path.setAttribute("d", d);
    h.path.style.stroke = "var(--c" + (h.colour + 1) + ")";
  }
  function drawHero() {
    for (const h of hero) {
      const v = h.value();
      h.card.hidden = v === undefined && h.id !== "errors" && (h.id === "accuracy" || Object.keys(figures).length > 0);
      set(h.number, h.id === "errors" ? (v === undefined ? "–" : count(v)) : three(v));
      set(h.small, h.lines().join(" · ") || "\u00a0");
      h.card.classList.toggle("bad", h.id === "errors" && v > 0);
    }
  }

  // ---- phases ----
  const bars = new Map();
  function drawPhases() {
    const box = el("phases"), seen = new Set();
    state.phases.forEach((p, i) => {
      const key = i + p.name;
      seen.add(key);
      let b = bars.get(key);
      if (!b) {
        b = {name: make("b"), what: make("span"), flight: make("span"), rate: make("span"), bad: make("span"), right: make("span", {className: "right"}), fill: make("div")};
        b.bar = make("div", {className: "share"}, b.fill);
        b.bar.setAttribute("role", "progressbar");
        b.el = make("div", {}, make("div", {className: "row"}, b.name, b.what, b.flight, b.rate, b.bad, b.right), b.bar);
        bars.set(key, b);
        box.append(b.el);
      }
      const over = p.state === "complete", grace = p.state === "sending_complete";
      b.el.className = "card phase " + p.kind + (p.stopped ? " stopped" : over ? " done" : grace ? " grace" : "");
      set(b.name, p.name[0].toUpperCase() + p.name.slice(1) + (grace ? " · waiting for replies" : ""));
      const done = p.completed + p.cancelled;
      set(b.what, p.expected ? count(done) + " of " + count(p.expected) + " requests" : p.expectedSessions && !p.seconds ? count(done) + " requests" : p.seconds ? count(done) + " requests · " + duration(Math.min(p.elapsed, p.seconds)) + " of " + duration(p.seconds) : count(done) + " requests");
      set(b.flight, over ? "" : count(p.inFlight) + " in flight");
      set(b.rate, three(p.rate) + "/s" + (p.targetRate ? " of " + three(p.targetRate) + " planned" : ""));
      b.bad.className = p.errors ? "bad" : "";
      set(b.bad, [p.errors && several(p.errors, "error"), p.cancelled && count(p.cancelled) + " cut off", p.dropped && several(p.dropped, "arrival") + " dropped"].filter(Boolean).join(" · "));
      const share = p.stopped ? Math.min(1, p.seconds ? p.elapsed / p.seconds : p.expected ? done / p.expected : 1) : over ? 1 : p.progress;
      const left = !over && p.remaining !== undefined ? " · " + duration(Math.max(0, p.remaining)) + " left" : "";
      set(b.right, (share === undefined ? duration(p.elapsed) : over ? (p.stopped ? "cancelled after " : "done in ") + duration(p.elapsed) : Math.floor(share * 100) + " %" + left));
      b.bar.classList.toggle("unknown", share === undefined);
      b.fill.style.width = (share === undefined ? 100 : share * 100) + "%";
      if (share === undefined) b.bar.removeAttribute("aria-valuenow"); else b.bar.setAttribute("aria-valuenow", Math.floor(share * 100));
      b.bar.setAttribute("aria-label", p.name);
      if (p.search) set(b.what, b.what.textContent + " · search: " + p.search.variable + " " + three(p.search.value));
    });
    for (const [key, b] of bars) if (!seen.has(key)) { b.el.remove(); bars.delete(key); }
  }

  // ---- log ----
  const lines = el("log");
  function log(list) {
    for (const [at, level, component, text] of list) {
      lines.append(make("div", {className: level}, make("span", {className: "t", textContent: new Date(at).toLocaleTimeString("en-GB") + " "}), level + " ", text));
    }
    while (lines.children.length > 400) lines.firstChild.remove();
    if (el("follow").checked) lines.scrollTop = lines.scrollHeight;
  }

  // ---- the whole ----
  // A page is called by the run and its load, as its report will be: there may be several of one model. A run of a series
  // has the folder of the series for a name, what it varies for a load, and its number where it is repeated.
  const trial = /(?:^|_)(?:run|trial)_0*(\d+)(?:_|$)/;
  const called = () => {
    if (run.label && !series) return run.label;
    const plain = text => text.replace(/[/_:]/g, "-"), model = run.models[0];
    const folder = run.dir.split(/[\\/]/).filter(Boolean).findLast(f => !(run.label || "").includes(f) && f !== "profile_runs" && !/^(run|trial)_\d+$/.test(f));
    const usual = !folder || folder === "artifacts" || model && plain(folder).startsWith(plain(model));
    return usual ? run.models.join(", ") || "AIPerf" : folder;
  };
  const load = () => {
    const planned = [...new Set(run.plans.filter(x => x.kind === "profiling").map(x => x.rate ? x.type + " " + three(x.rate) + "/s" : x.concurrency ? "concurrency " + x.concurrency : x.type))].join(", ");
    const label = series && run.label || "", number = label.match(trial), varied = label.replace(trial, "").replaceAll("_", " ");
    return (varied || planned) + (number ? ", run " + number[1] : "");
  };
  function drawRun() {
    document.body.classList.toggle("waiting", !run);
    if (!run) return;
    set(el("name"), called());
    set(el("load"), load());
    el("facts").replaceChildren(...facts([["Model", called() === run.models.join(", ") ? "" : run.models.join(", ")], ["Endpoint", run.endpoint + (run.streaming ? " · streaming" : "")], ["Server", run.urls.join(", ")], ["Folder", run.dir]]));
    set(el("command"), run.command);
  }
  function headline() {
    const p = state.phases[state.phases.length - 1];
    const share = p && p.progress !== undefined && p.state !== "complete" ? Math.floor(p.progress * 100) + " % · " : "";
    const mark = end ? {complete: "✓ ", cancelled: "■ ", incomplete: "✕ "}[end.status] || "" : share;
    document.title = mark + (run ? [called(), load()].filter(Boolean).join(" · ") : "waiting") + " · AIPerf live";
  }
  function connection(level, text) { el("connection").className = "pill " + level; set(el("connection"), text); }
  const names = {repeats: "series", sweep: "sweep", search: "search"};
  function drawEnd() {
    const box = el("ended");
    box.hidden = !end && !gone;
    if (box.hidden) return;
    const status = end ? end.status : "incomplete";
    box.className = "status " + ({complete: "good", cancelled: "warn", incomplete: "bad"}[status] || "");
    set(el("ended-title"), {complete: "The run is complete", cancelled: "The run was cancelled", incomplete: end ? "The run failed, or has no results" : "aiperf has ended"}[status] || "The run goes on");
    if (series && end && end.finished) set(el("ended-title"), status === "cancelled" ? "The " + names[series.kind] + " was cancelled" : series.cells.filter(c => c.state === "failed").length ? several(series.cells.filter(c => c.state === "failed").length, "run") + " failed" : "All runs are done");
    const text = el("ended-text");
    text.replaceChildren();
    if (end && end.report && !gone) text.append(make("a", {href: end.report, target: "_blank", rel: "noopener", textContent: "Open the report"}), " · ");
    if (run) text.append("Files: " + run.dir);
    if (gone && run) text.append(" · aiperf serve shows finished runs");
  }
  const drawState = () => { drawPhases(); drawHero(); headline(); };
  function slow(m) {
    if (m.metrics) { figures = {}; for (const x of m.metrics) figures[x.tag] = x; drawMetrics(); }
    if (m.servers) { servers = m.servers; }
    if (m.client) drawClient(m.client);
    if (m.judgement) drawJudgement(m.judgement);
    if (m.errors) drawErrors(m.errors);
    if (m.gpus) drawGPUs(m.gpus);
  }
  function take(m) {
    if (m.rows) rows = m.rows;
    if (m.more) rows = rows.concat(m.more);
    if (m.phases) state = {phases: m.phases, records: m.records, accuracy: m.accuracy, stage: m.stage, elapsed: m.elapsed};
    slow(m);
    drawState();
    if (m.rows || m.more) { drawServers(); hero.forEach(sparkline); drawAll(); }
    if (m.end) { end = m.end; drawEnd(); }
  }
  const on = {
    hello(m) {
      columns = m.columns; rows = []; run = m.run || null; state = {phases: []}; figures = {}; servers = {}; end = null; gone = false;
      drawErrors([]); drawMetrics(); drawServers();
      if (m.series) { series = m.series; drawSeries(); }
      if (m.log) { lines.replaceChildren(); log(m.log); }
      drawRun();
      drawEnd();
      if (m.run) take(m);
    },
    update: take,
    series(m) { series = m; drawSeries(); },
    log(m) { log(m.lines); },
    finished(m) { end = m; drawEnd(); headline(); connection("", "ended"); },
  };
  let source, waited = 0;
  function connect() {
    source = new EventSource("live");
    source.onopen = () => { waited = 0; connection("good", "live"); };
    for (const name in on) source.addEventListener(name, e => on[name](JSON.parse(e.data)));
    source.onerror = () => {
      source.close();
      const over = end && end.finished;
      if (over || waited >= 5) { gone = true; connection(over ? "" : "bad", over ? "ended" : "aiperf is gone"); drawEnd(); }
      else connection("warn", "reconnecting …");
      // Somebody may start it again at the same address.
      setTimeout(connect, Math.min(10000, 500 * 2 ** waited));
      waited++;
    };
  }
  for (const id in kinds) { chart(id); watcher.observe(el(id)); }
  drawHero();
  connect();
  addEventListener("pagehide", () => source.close());
  finished();
