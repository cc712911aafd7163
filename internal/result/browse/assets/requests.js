  const size = 100, deepest = 10000;
  let from = 0, total = 0, columns = [], origin = null, asked = 0;
  const metric = tag => data.metrics.find(m => m.tag === tag) || {tag, header: tag, unit: ""};
  const brief = {time_to_first_token: "TTFT", inter_token_latency: "ITL", request_latency: "Latency", input_sequence_length: "ISL", output_sequence_length: "OSL"};
  const given = new URLSearchParams(location.search);
  el("q").value = given.get("q") || "";
  el("error").value = given.get("error") || "";
  el("failed").checked = given.has("failed");
  let wanted = given.get("sort") || "";
  if (wanted) el("down").checked = given.has("down");
  from = Math.max(0, +(given.get("from") || 0) || 0);
  // Ranges are of figures, and of the times in which requests were sent, ended or in flight: [name, "low..high"].
  const timed = {sent: "Sent", ended: "Ended", in_flight: "In flight"};
  let ranges = [...given].filter(([k, v]) => (timed[k] || data.metrics.some(m => m.tag === k)) && v.includes("..")), began = 0;

  const query = () => {
    const p = new URLSearchParams(), set = (k, v) => { if (v) p.set(k, v); };
    set("q", el("q").value.trim());
    set("error", el("error").value.trim());
    set("failed", el("failed").checked ? "1" : "");
    set("sort", el("sort").value || wanted);
    set("down", (el("sort").value || wanted) && el("down").checked ? "1" : "");
    for (const [k, v] of ranges) p.append(k, v);
    set("from", from ? String(from) : "");
    return p;
  };
  // chips name the ranges; each can be taken away.
  function chips() {
    const seconds = t => short((Date.parse(t) - began) / 1000) + " s", ends = v => v.split("..");
    const text = (k, v) => {
      const [lo, hi] = ends(v), m = metric(k), of = timed[k] ? t => began ? seconds(t) : t : x => x, unit = timed[k] || !m.unit ? "" : " " + m.unit;
      return (timed[k] || m.header) + " " + (lo && hi ? of(lo) + " – " + of(hi) : lo ? "from " + of(lo) : "below " + of(hi)) + unit;
    };
    el("chips").hidden = !ranges.length;
    el("chips").replaceChildren(...ranges.map(r => {
      const b = make("button", {type: "button", textContent: "✕", onclick: () => { ranges = ranges.filter(o => o !== r); from = 0; load(); el("q").focus(); }});
      b.setAttribute("aria-label", "Remove: " + text(...r));
      return make("span", {className: "chip", title: timed[r[0]] ? ends(r[1]).join(" – ") : ""}, text(...r) + " ", b);
    }), ...ranges.some(r => timed[r[0]]) && began ? [make("span", {className: "hint", textContent: "Times count from the first request, " + new Date(began).toISOString().replace("T", " ").slice(0, 19) + " UTC."})] : []);
  }
  const sleep = ms => new Promise(done => setTimeout(done, ms));
  async function load() {
    const turn = ++asked, p = query();
    history.replaceState(null, "", "?" + p);
    for (;;) {
      const answer = await ask(`/api/r/${data.id}/requests?` + p);
      if (turn !== asked) return;
      if (answer.pending) {
        el("pending").hidden = false;
        el("share").textContent = `The records are being indexed, once: ${Math.round(100 * answer.share)} %`;
        await sleep(200);
        continue;
      }
      el("pending").hidden = true;
      el("fault").hidden = !answer.error;
      if (answer.error) { el("fault").textContent = refused(answer); chips(); finishedOnce(); return; }
      show(answer);
      finishedOnce();
      return;
    }
  }
  let told = false;
  const finishedOnce = () => { if (!told) { told = true; finished(); } };

  function choices(tags) {
    if (el("sort").options.length > 2) return;
    for (const tag of tags) for (const id of ["sort", "rangetag"]) el(id).append(make("option", {value: tag, textContent: metric(tag).header + (id === "rangetag" && metric(tag).unit ? " (" + metric(tag).unit + ")" : "")}));
    if ([...el("sort").options].some(o => o.value === wanted)) el("sort").value = wanted;
    wanted = "";
  }
  function show(a) {
    choices(a.tags || []);
    total = a.total;
    began = a.began || 0;
    chips();
    columns = ["time_to_first_token", "inter_token_latency", "request_latency", "input_sequence_length", "output_sequence_length"].filter(t => (a.tags || []).includes(t));
    const sort = el("sort").value;
    if (sort && sort !== "start" && !columns.includes(sort)) columns.unshift(sort);
    const titled = (key, props, ...children) => {
      const th = make("th", {scope: "col", ...props}), b = make("button", {type: "button"}, ...children);
      if (key === sort) th.setAttribute("aria-sort", el("down").checked ? "descending" : "ascending");
      b.onclick = () => {
        el("down").checked = key === sort ? !el("down").checked : key !== "start";
        el("sort").value = key;
        from = 0;
        load().then(() => [...el("requests").tHead.querySelectorAll("th")].find(t => t.dataset.key === key)?.querySelector("button").focus());
      };
      th.dataset.key = key;
      th.append(b);
      return th;
    };
    const head = make("tr", {}, titled("start", {title: "by start"}, "Request"), make("th", {scope: "col", className: "minorcol", textContent: "Session · turn"}));
    for (const t of columns) {
      const m = metric(t);
      head.append(titled(t, {className: "n", title: m.header}, (brief[t] || m.header) + " ", make("span", {className: "unit", textContent: m.unit})));
    }
    head.append(make("th", {scope: "col", textContent: "Error"}));
    el("requests").tHead.replaceChildren(head);
    const rows = a.rows.map(r => {
      const open = make("a", {href: `/r/${data.id}/requests/${r.n}`, textContent: "#" + r.n.toLocaleString("en-US")});
      open.setAttribute("aria-label", "Request " + r.n);
      open.onclick = ev => { if (ev.ctrlKey || ev.metaKey || ev.shiftKey) return; ev.preventDefault(); one(r); };
      const tr = make("tr", {className: "request"}, make("th", {scope: "row"}, open, make("small", {textContent: r.id || ""})),
        make("td", {className: "minorcol session", textContent: (r.conversation || r.session || "") + " · " + r.turn}),
        ...columns.map(t => make("td", {className: "n", textContent: r.v[t] === undefined ? "" : short(r.v[t])})),
        make("td", {className: r.error ? "failed why" : "why", textContent: r.error ? (r.error.length > 140 ? r.error.slice(0, 140) + "…" : r.error) : ""}));
      tr.onclick = ev => { if (!ev.target.closest("a") && !String(getSelection())) one(r); };
      return tr;
    });
    if (!rows.length) rows.push(make("tr", {}, make("td", {className: "empty", colSpan: columns.length + 3, textContent: "No request matches."})));
    el("requests").tBodies[0].replaceChildren(...rows);
    const n = v => v.toLocaleString("en-US");
    el("count").textContent = total ? `${n(from + 1)}–${n(from + a.rows.length)} of ${n(total)}${total < a.all ? ` (all: ${n(a.all)})` : ""} · ${a.took.toFixed(a.took < 10 ? 1 : 0)} ms` : `0 of ${n(a.all)}`;
    el("before").disabled = from === 0;
    el("after").disabled = from + size >= total || sort !== "" && from + 2 * size > deepest;
    el("kinds").replaceChildren(...(a.kinds || []).map(k => make("option", {value: k.message || k.type, label: `${k.type} (${n(k.count)})`})));
    el("damaged").hidden = !a.damaged;
    if (a.damaged) el("damaged").textContent = `${n(a.damaged)} lines of the file cannot be read and are left out, the first is line ${n(a.firstDamaged)}.`;
  }

  async function one(r) {
    const box = el("one"), body = el("onebody");
    el("onetitle").textContent = "Request #" + r.n.toLocaleString("en-US");
    el("own").href = `/r/${data.id}/requests/${r.n}`;
    body.textContent = "…";
    if (!box.open) box.showModal();
    for (let tries = 0; tries < 600; tries++) {
      const a = await ask(`/api/r/${data.id}/requests/${r.n}`);
      if (!box.open) return;
      if (a.error) { body.textContent = refused(a); return; }
      if (a.pending) { await sleep(300); continue; }
      body.innerHTML = a.body; // a template of the server made it
      recorded(body, r.n);
      if (!a.rawPending) return;
      await sleep(500);
    }
  }
  el("close").onclick = () => el("one").close();
  el("one").onclick = ev => { if (ev.target === el("one")) el("one").close(); };
  el("rangeadd").onclick = () => {
    const lo = el("rangelow").value.trim(), hi = el("rangehigh").value.trim();
    if (!lo && !hi) return;
    ranges.push([el("rangetag").value, lo + ".." + hi]);
    from = 0;
    el("rangebox").open = false;
    load();
  };
  let timer;
  el("rangebox").onkeydown = ev => { if (ev.key === "Enter" && ev.target.tagName === "INPUT") { ev.preventDefault(); el("rangeadd").click(); } };
  el("filter").oninput = ev => { if (el("rangebox").contains(ev.target)) return; from = 0; clearTimeout(timer); timer = setTimeout(load, ev.target.type === "search" ? 150 : 0); };
  el("filter").onsubmit = ev => { ev.preventDefault(); clearTimeout(timer); load(); };
  const turnTo = step => { from = Math.max(0, from + step); load().then(() => el("requests").closest(".scroll").scrollTo(0, 0)); };
  el("before").onclick = () => turnTo(-size);
  el("after").onclick = () => turnTo(size);
  load();
