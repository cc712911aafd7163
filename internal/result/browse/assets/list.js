  const when = ms => ms ? new Date(ms).toISOString().replace("T", " ").slice(0, 16) : "";
  const fixed = [
    {key: "name", title: "Run", text: true, value: i => i.name},
    {key: "model", title: "Model", text: true, value: i => i.model || "", cls: "model"},
    {key: "load", title: "Load", value: i => i.concurrency || i.rate || i.load || "", cls: "load"},
    {key: "state", title: "State", text: true, value: i => i.state || ""},
  ];
  const last = [
    {key: "started", title: "Started (UTC)", value: i => i.started || null, cls: "when minorcol"},
    {key: "endpoint", title: "API", text: true, value: i => i.endpoint || "", cls: "minorcol"},
  ];
  const figures = data.columns.map(c => ({key: c.key, title: c.title, hint: c.header, unit: c.unit, number: true, value: i => i.f[c.key] ?? i.range?.[c.key]?.[1] ?? null}));
  const all = [...fixed, ...figures, ...last];
  const usual = ["name", "model", "load", "started", "state", "output_token_throughput_avg", "request_throughput_avg", "time_to_first_token_p50", "time_to_first_token_p99", "inter_token_latency_p50", "request_latency_p50", "error_request_count_avg"];
  for (const key of ["accuracy.overall_avg", "jobs_per_hour_avg"]) if (data.items.some(i => (i.f[key] ?? i.range?.[key]) !== undefined)) usual.push(key);
  // A model that all have is named once.
  const models = [...new Set(data.items.map(i => i.model).filter(Boolean))];
  if (models.length === 1) usual.splice(usual.indexOf("model"), 1);
  let shown = store.get("columns", usual).filter(k => all.some(c => c.key === k));
  let sort = store.get("sort", {key: "started", down: true});
  let limit = 200;
  const picked = new Set(store.get("picked", []).filter(id => data.items.some(i => i.id === id)));
  const byId = new Map(data.items.map(i => [i.id, i]));
  for (const i of data.items) i.hay = [i.name, i.model, i.load, i.endpoint, i.kind, i.state, i.label, i.version, i.why, i.about].join("\n").toLowerCase();

  for (const kind of [...new Set(data.items.map(i => i.kind))].sort()) el("kind").append(make("option", {value: kind, textContent: kind}));
  const kept = store.get("filter", {});
  el("query").value = new URLSearchParams(location.search).get("q") ?? kept.query ?? "";
  el("kind").value = kept.kind ?? "";
  if (!el("kind").value) el("kind").value = "";
  el("parts").checked = kept.parts ?? false;
  const nested = data.items.some(i => i.parent);
  el("parts").closest("label").hidden = !nested;

  function visible() {
    const words = el("query").value.toLowerCase().split(/\s+/).filter(Boolean), kind = el("kind").value;
    const parts = el("parts").checked || kind === "run";
    return data.items.filter(i => (parts || !i.parent) && (!kind || i.kind === kind) && words.every(w => i.hay.includes(w)));
  }
  function compare(a, b) {
    const c = all.find(c => c.key === sort.key) || all[0], p = c.value(a), q = c.value(b), none = v => v === null || v === "" || v === undefined;
    if (none(p) || none(q)) return none(p) - none(q) || a.name.localeCompare(b.name, undefined, {numeric: true});
    const way = sort.down ? -1 : 1;
    if (typeof p === "number" && typeof q === "number") return way * (p - q) || a.name.localeCompare(b.name, undefined, {numeric: true});
    return way * String(p).localeCompare(String(q), undefined, {numeric: true});
  }
  // On a phone there is room for three figures: those that people ask for first.
  const first = ["output_token_throughput_avg", "time_to_first_token_p50", "request_latency_p50", "request_throughput_avg"];
  const onPhone = () => {
    const list = all.filter(c => c.number && shown.includes(c.key) && data.items.some(i => known(c.value(i))));
    return new Set([...first.map(k => list.find(c => c.key === k)).filter(Boolean), ...list].slice(0, 3).map(c => c.key).concat("name"));
  };
  const wide = (c, phone) => phone.has(c.key) ? "" : "minorcol ";
  function head() {
    const phone = onPhone();
    const row = make("tr");
    const every = make("input", {type: "checkbox", id: "every"});
    every.setAttribute("aria-label", "Select all runs that are shown");
    every.onchange = () => { for (const i of visible()) if (every.checked) picked.add(i.id); else picked.delete(i.id); body(); };
    row.append(make("th", {scope: "col", className: "tick"}, every));
    for (const c of all.filter(c => shown.includes(c.key))) {
      const b = make("button", {type: "button", textContent: c.title, title: c.hint ? c.hint + (c.unit ? " (" + c.unit + ")" : "") : ""});
      if (c.unit && c.unit.length < 4) b.append(" ", make("span", {className: "unit", textContent: c.unit}));
      b.onclick = () => { sort = {key: c.key, down: sort.key === c.key ? !sort.down : !!c.number || c.key === "started"}; store.set("sort", sort); draw(); el("runs").querySelector(`[data-key="${c.key}"] button`).focus(); };
      const th = make("th", {scope: "col", className: (c.number ? "n " : "") + wide(c, phone)}, b);
      th.dataset.key = c.key;
      if (sort.key === c.key) th.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      row.append(th);
    }
    el("runs").tHead.replaceChildren(row);
  }
  function cell(i, c, phone) {
    switch (c.key) {
    case "name": {
      const th = make("th", {scope: "row"}, make("a", {href: "/r/" + i.id, textContent: i.name}));
      if (i.kind !== "run") th.append(make("span", {className: "badge", textContent: i.kind}));
      th.append(make("small", {className: "phone", textContent: [i.load, i.state].filter(Boolean).join(" · ")}));
      if (i.live) th.append(make("a", {className: "live", href: i.live, textContent: "Live page"}));
      if (i.about) th.append(make("small", {textContent: i.about}));
      if (i.why) th.append(make("small", {className: "why " + (i.level || ""), textContent: i.why, title: i.why}));
      return th;
    }
    case "started": return make("td", {className: "when minorcol", textContent: when(i.started)});
    case "load": return make("td", {className: "load minorcol", textContent: i.load || ""});
    case "state": return make("td", {className: "minorcol"}, make("span", {className: "state " + (i.level || ""), textContent: i.state || "–"}));
    }
    const span = c.number && i.range?.[c.key], narrow = c.number ? wide(c, phone) : "";
    if (span) return make("td", {className: narrow + "n span", title: "smallest and largest of the cells", textContent: short(span[0]) === short(span[1]) ? short(span[0]) : short(span[0]) + " – " + short(span[1])});
    if (c.number) return make("td", {className: narrow + "n", textContent: i.f[c.key] === undefined ? "" : short(i.f[c.key])});
    return make("td", {className: "minorcol " + (c.cls || ""), textContent: c.value(i)});
  }
  function body() {
    const list = visible().sort(compare), columns = all.filter(c => shown.includes(c.key)), phone = onPhone();
    const rows = list.slice(0, limit).map(i => {
      const tick = make("input", {type: "checkbox", checked: picked.has(i.id)});
      tick.setAttribute("aria-label", "Select " + i.name);
      tick.onchange = () => { if (tick.checked) picked.add(i.id); else picked.delete(i.id); foot(); };
      const tr = make("tr", {className: i.parent ? "part" : ""}, make("td", {}, tick), ...columns.map(c => cell(i, c, phone)));
      tr.dataset.id = i.id;
      // The whole row opens its run; texts can still be selected.
      tr.onclick = ev => {
        if (ev.target.closest("a, input, button") || String(getSelection())) return;
        if (ev.target === tr.cells[0]) { tick.click(); return; }
        if (ev.ctrlKey || ev.metaKey) open("/r/" + i.id); else location.href = "/r/" + i.id;
      };
      return tr;
    });
    if (!rows.length) rows.push(make("tr", {}, make("td", {className: "empty", colSpan: columns.length + 1, textContent: data.items.length ? "No run matches. Clear the search, or choose another kind." : "There is no run yet. This page looks again by itself."})));
    el("runs").tBodies[0].replaceChildren(...rows);
    el("more").hidden = list.length <= limit;
    el("more").firstChild.textContent = `Show all ${list.length}`;
    const total = data.items.filter(i => el("parts").checked || !i.parent).length;
    el("count").textContent = list.length === total ? `${total} shown` : `${list.length} of ${total}`;
    if (models.length === 1 && !shown.includes("model")) el("count").textContent += " · " + models[0];
    el("every").checked = list.length > 0 && list.every(i => picked.has(i.id));
    foot();
  }
  function foot() {
    const n = picked.size;
    store.set("picked", [...picked]);
    el("picked").hidden = n === 0;
    el("pickedcount").textContent = n + " selected";
    el("side").disabled = n < 2 || n > 12;
    el("pickedhint").textContent = n < 2 ? "Select two or more to compare them." : n > 12 ? "Side by side takes at most 12." : "";
  }
  function draw() { head(); body(); }
  function filter() { limit = 200; store.set("filter", {query: el("query").value, kind: el("kind").value, parts: el("parts").checked}); body(); }
  el("filter").oninput = filter;
  el("filter").onsubmit = ev => { ev.preventDefault(); el("runs").querySelector("tbody a")?.focus(); };
  el("more").firstChild.onclick = () => { limit = Infinity; body(); };
  const ids = () => [...picked].sort((a, b) => (byId.get(a).started || 0) - (byId.get(b).started || 0)).join(",");
  el("side").onclick = () => { location.href = "/compare?runs=" + ids(); };
  el("charts").onclick = () => { location.href = "/charts?runs=" + ids(); };
  el("clear").onclick = () => { picked.clear(); body(); };
  for (const c of all) {
    if (c.key === "name") continue;
    const box = make("input", {type: "checkbox", checked: shown.includes(c.key)});
    box.onchange = ev => { ev.stopPropagation(); shown = all.filter(a => a.key === c.key ? box.checked : shown.includes(a.key)).map(a => a.key); store.set("columns", shown); draw(); };
    el("columns").append(make("label", {}, box, c.hint || c.title));
  }
  addEventListener("keydown", ev => {
    if (ev.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { ev.preventDefault(); el("query").focus(); el("query").select(); }
  });
  draw();
  finished();
