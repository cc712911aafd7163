  // The tables of the live page: metrics, servers, GPUs, errors, the client, the cells of a series.
  const cell = (text, name) => make("td", {className: name || "", textContent: text});
  const head = text => make("th", {scope: "row", textContent: text});
  function pairs(id, list) {
    const box = el(id);
    while (box.children.length > list.length) box.lastChild.remove();
    list.forEach(([name, value, title], i) => {
      let d = box.children[i];
      if (!d) { d = make("div", {}, make("dt"), make("dd")); box.append(d); }
      if (title) about(d.children[0], title);
      set(title ? d.children[0].firstChild : d.children[0], name);
      set(d.children[1], value);
      if (title) d.children[0].title = title;
    });
  }
  // grid fills a table, cell by cell, so that what does not change stays.
  function grid(body, list) {
    while (body.children.length > list.length) body.lastChild.remove();
    list.forEach((cells, i) => {
      let tr = body.children[i];
      if (!tr || tr.children.length !== cells.length) {
        const fresh = make("tr", {}, ...cells.map((c, k) => k === (cells.head ?? 0) ? head("") : cell("")));
        if (tr) tr.replaceWith(fresh); else body.append(fresh);
        tr = fresh;
      }
      if (tr.className !== (cells.mark || "")) tr.className = cells.mark || "";
      cells.forEach((c, k) => {
        const [text, name] = Array.isArray(c) ? c : [c, ""];
        const td = tr.children[k], href = Array.isArray(c) ? c[2] : undefined;
        if (td.dataset.href !== href) {
          if (href) { td.dataset.href = href; td.replaceChildren(make("a", {href, target: "_blank", rel: "noopener"})); } else { delete td.dataset.href; td.replaceChildren(); }
        }
        const explained = cells.about && k === (cells.head ?? 0);
        if (explained) about(td, cells.about);
        set(href || explained ? td.firstChild : td, text);
        if (td.className !== name) td.className = name;
      });
    });
  }
  const statistics = ["avg", "p50", "p90", "p99", "std", "min", "max"];
  // about has the button of the explanation of a metric stand after the name in an element.
  function about(e, tag) {
    if (e.dataset.about === tag) return;
    const box = el("about-" + tag), button = make("button", {type: "button", className: "about screen"});
    button.setAttribute("aria-label", "Explanation");
    button.popoverTargetElement = box;
    e.dataset.about = tag;
    e.replaceChildren(make("span"), ...(box ? [button] : []));
  }
  function drawMetrics() {
    const all = Object.values(figures).sort((a, b) => a.order - b.order);
    el("metrics").hidden = all.length === 0;
    const label = m => m.header + (m.unit ? " (" + m.unit + ")" : "");
    const n = v => [short(v), "n"];
    const fill = (rows, values, list) => {
      grid(el(rows), list.filter(m => m.p50 !== undefined).map(m => Object.assign([label(m), n(m.avg), n(m.p50), n(m.p90), n(m.p99), n(m.std), n(m.min), n(m.max)], {about: m.tag})));
      pairs(values, list.filter(m => m.p50 === undefined).map(m => [label(m), short(m.avg), m.tag]));
      for (const td of el(rows).querySelectorAll("td")) td.dataset.k = statistics[td.cellIndex - 1];
    };
    const further = all.filter(m => m.group !== "default");
    fill("metric-rows", "metric-values", all.filter(m => m.group === "default"));
    el("further").hidden = further.length === 0;
    set(el("further-name"), several(further.length, "further metric"));
    if (el("further").open) fill("further-rows", "further-values", further);
  }
  el("further").ontoggle = () => drawMetrics();
  const serverNames = {
    server_prefix_cache_hit_percent: ["Prefix cache hits", "%"], server_unique_prompt_tokens: ["Unique prompt tokens", ""],
    server_external_cache_hit_percent: ["External cache hits", "%"], server_kv_cache_usage_percent: ["KV cache usage", "%"],
    server_cpu_kv_cache_usage_percent: ["KV cache usage (CPU)", "%"], server_requests_running: ["Requests running", ""],
    server_requests_waiting: ["Requests waiting", ""], server_input_tokens_per_second: ["Input tokens", "/s"],
    server_output_tokens_per_second: ["Output tokens", "/s"],
  };
  const hasAny = (...names) => names.some(n => values(n).some(v => v !== null && v !== undefined));
  function drawServers() {
    const list = Object.entries(servers);
    el("servers").hidden = list.length === 0;
    el("c-queue").hidden = !hasAny("running", "waiting");
    el("c-cache").hidden = !hasAny("kv_cache", "prefix_hits");
    pairs("server-values", list.map(([k, v]) => [(serverNames[k] || [k])[0], short(v) + ((serverNames[k] || [])[1] ? " " + serverNames[k][1] : "")]));
  }
  function drawGPUs(list) {
    el("gpus").hidden = list.length === 0;
    el("c-gpu").hidden = !hasAny("gpu_utilization");
    el("c-power").hidden = !hasAny("gpu_power");
    const tags = [], names = {};
    for (const g of list) for (const v of g.values) if (!names[v.tag]) { names[v.tag] = v.header.replace(/^GPU /, "") + (v.unit ? " (" + v.unit + ")" : ""); tags.push(v.tag); }
    const top = el("gpu-table").tHead;
    const key = tags.join();
    if (top.dataset.key !== key) {
      top.dataset.key = key;
      top.replaceChildren(make("tr", {}, make("th", {scope: "col", textContent: "GPU"}), ...tags.map(t => make("th", {scope: "col", className: "n", textContent: names[t]}))));
    }
    const differ = key => new Set(list.map(g => g[key])).size > 1;
    const where = g => differ("source") ? g.source.replace(/^https?:\/\//, "").replace(/\/metrics$/, "") : differ("host") ? g.host : "";
    grid(el("gpu-table").tBodies[0], list.map(g => [[g.index, g.model, where(g)].filter(x => x !== "").join(" · "), ...tags.map(t => { const v = g.values.find(x => x.tag === t); return [v && v.now !== undefined ? short(v.now) : "–", "n"]; })]));
  }
  function drawErrors(list) {
    el("errors").hidden = list.length === 0;
    grid(el("error-rows"), list.map(e => Object.assign([[count(e.count), "n"], e.code ? String(e.code) : "", e.type, e.message], {head: 2})));
  }
  // The judgement: what is to be known first, so far or at the end.
  function drawJudgement(j) {
    const [first, ...more] = j.findings, running = j.state === "running";
    el("judged").hidden = !first;
    if (!first) return;
    el("judged").className = "status " + first.level;
    set(el("judged-title"), (running ? "So far: " + first.title.charAt(0).toLowerCase() + first.title.slice(1) : first.title));
    set(el("judged-text"), first.text);
    el("judged-more").replaceChildren(...(first.advice ? [make("li", {textContent: first.advice})] : []), ...more.map(f => make("li", {textContent: f.title + ": " + f.text})));
  }
  const verdicts = {valid: ["good", "Valid: the client did not distort the figures"], client_limited: ["bad", "Client limited: the client itself slowed the load down"], inconclusive: ["warn", "Inconclusive: the client may have distorted the figures"]};
  function drawClient(c) {
    const [level, title] = verdicts[c.verdict] || ["", "Not judged yet"];
    el("verdict").className = "status " + level;
    set(el("verdict-title"), title);
    const texts = c.findings.map(f => f.message + (f.advice ? "; " + f.advice : ""));
    if ([...el("findings").children].map(e => e.textContent).join("\n") !== texts.join("\n")) el("findings").replaceChildren(...texts.map(t => make("li", {textContent: t})));
    const f = c.figures, list = [], put = (name, v, text) => { if (v !== undefined) list.push([name, text(v)]); };
    const part = v => short(100 * v) + " %", mib = v => short(v / 1048576) + " MiB", ms = v => short(1000 * v) + " ms";
    put("CPU of the client", f.client_cpu_ratio, part);
    put("CPU of the machine", f.host_cpu_busy_ratio, part);
    put("CPU of other programs", f.host_cpu_others_ratio, part);
    put("Timer delay, p99", f.client_timer_delay_p99_seconds, ms);
    put("Longest pause for garbage collection", f.client_gc_pause_max_seconds, ms);
    put("Resident memory, peak", f.client_resident_memory_peak_bytes, mib);
    put("Open descriptors, peak", f.client_open_descriptors_peak, v => count(v) + (f.client_descriptor_limit ? " of " + count(f.client_descriptor_limit) : ""));
    for (const k in f) if (k.startsWith("client_error_bound_seconds/")) list.push(["Own share in " + k.slice(27).replaceAll("_", " ") + ", p99 at most", ms(f[k])]);
    pairs("client-values", list);
  }

  // ---- series ----
  const prefix = /\bphases\.[^.=\s]+\./g;
  function drawSeries() {
    el("series").hidden = !series;
    if (!series) return;
    const done = series.cells.filter(c => c.state === "done" || c.state === "failed" || c.state === "skipped").length;
    set(el("h-series"), {repeats: "Repeats", sweep: "Sweep", search: "Search"}[series.kind] || "Runs");
    set(el("series-text"), done + (series.planned ? " of " + series.planned : "") + " runs done");
    el("answer").hidden = !series.answer;
    // The prefix of a value's name says nothing where all have the same.
    const prefixes = new Set(series.cells.flatMap(c => c.label.match(prefix) || []));
    const bare = text => prefixes.size === 1 ? text.replace(prefix, "") : text;
    set(el("answer"), bare(series.answer));
    const trials = series.cells.some(c => c.trials > 1), reports = series.cells.some(c => c.report);
    const figures = [], names = {};
    for (const c of series.cells) for (const m of c.metrics) { const key = m.tag + " " + m.stat; if (!names[key]) { names[key] = m.header + " " + m.stat + (m.unit ? " (" + m.unit + ")" : ""); figures.push(key); } }
    const top = el("cells").tHead, key = [trials, reports, ...figures].join();
    if (top.dataset.key !== key) {
      top.dataset.key = key;
      top.replaceChildren(make("tr", {}, ...["Run", ...(trials ? ["Trial"] : []), "State", ...(reports ? ["Report"] : [])].map(t => make("th", {scope: "col", textContent: t})), ...figures.map(f => make("th", {scope: "col", className: "n", textContent: names[f]})), make("th", {scope: "col", className: "n", textContent: "took"})));
    }
    grid(el("cells").tBodies[0], series.cells.map(c => Object.assign([bare(c.label) || "run", ...(trials ? [c.trial + " of " + c.trials] : []), [c.state + (c.verdict ? " · " + c.verdict : ""), "state " + (c.state === "failed" ? "failed" : c.verdict || "")], ...(reports ? [c.report ? ["open", "", c.report] : ""] : []),
      ...figures.map(f => { const m = c.metrics.find(m => m.tag + " " + m.stat === f); return [m ? short(m.value) : "", "n"]; }), [c.took ? duration(c.took) : "", "n"]], {mark: c.state})));
    const chosen = el("series-metric"), before = chosen.value;
    if (chosen.dataset.key !== key) {
      chosen.dataset.key = key;
      chosen.replaceChildren(...figures.map(f => make("option", {value: f, textContent: names[f]})));
      if (figures.includes(before)) chosen.value = before;
    }
    drawCurve();
  }
  // The curve is a figure of the finished cells over the first value that is a number and varies, else over their order.
  function drawCurve() {
    const metric = el("series-metric").value;
    const finished = series.cells.map((c, i) => ({c, i, m: c.metrics.find(m => m.tag + " " + m.stat === metric)})).filter(x => x.m);
    const figure = el("c-series");
    figure.hidden = finished.length < 2;
    if (figure.hidden) return;
    const axes = finished[0].c.values.map((v, k) => k).filter(k => new Set(finished.map(x => x.c.values[k]?.number)).size > 1 && finished.every(x => isFinite(x.c.values[k]?.number)));
    const k = axes[0], name = k === undefined ? "run" : finished[0].c.values[k].name;
    const points = new Map();
    for (const x of finished) { const at = k === undefined ? x.i + 1 : x.c.values[k].number; points.set(at, [...(points.get(at) || []), x.m.value]); }
    const xs = [...points.keys()].sort((a, b) => a - b), ys = xs.map(x => points.get(x).reduce((a, b) => a + b) / points.get(x).length);
    const unit = finished[0].m.unit || "";
    const names = legend(figure, [{label: finished[0].m.header + " " + finished[0].m.stat, colour: () => line(0), unit}]);
    const pad = (xs[xs.length - 1] - xs[0]) * 0.04 || 1;
    add(figure, names, i => names.show(i === null ? null : name + " " + short(xs[i]), i === null ? null : [ys[i]]), {
      height: 220, padding: [8, 12, 0, 0], cursor: {drag: {x: false, y: false}, points: {size: 7}},
      scales: {x: {time: false, range: () => [xs[0] - pad, xs[xs.length - 1] + pad]}, y: {range: (u, lo, hi) => [0, !hi || hi <= 0 ? 1 : hi * 1.1]}},
      axes: [axis({space: 50, size: 28, label: name, labelSize: 18, ...measured(xs, [xs[0] - pad, xs[xs.length - 1] + pad]), values: ticks}), axis({size: 52, space: 30, values: ticks})],
      series: [{}, {stroke: () => line(0), width: 1.8, points: {show: true, size: 7, fill: () => line(0)}}],
    }, [xs, ys]);
    behind(figure, [name, metric], [xs, ys]);
  }
  el("series-metric").onchange = () => drawCurve();

