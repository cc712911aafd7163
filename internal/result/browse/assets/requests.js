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

  const query = () => {
    const p = new URLSearchParams(), set = (k, v) => { if (v) p.set(k, v); };
    set("q", el("q").value.trim());
    set("error", el("error").value.trim());
    set("failed", el("failed").checked ? "1" : "");
    set("sort", el("sort").value || wanted);
    set("down", (el("sort").value || wanted) && el("down").checked ? "1" : "");
    set("from", from ? String(from) : "");
    return p;
  };
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
      if (answer.error) { el("fault").textContent = refused(answer); finishedOnce(); return; }
      show(answer);
      finishedOnce();
      return;
    }
  }
  let told = false;
  const finishedOnce = () => { if (!told) { told = true; finished(); } };

  function choices(tags) {
    if (el("sort").options.length > 2) return;
    for (const tag of tags) el("sort").append(make("option", {value: tag, textContent: metric(tag).header}));
    if ([...el("sort").options].some(o => o.value === wanted)) el("sort").value = wanted;
    wanted = "";
  }
  function show(a) {
    choices(a.tags || []);
    total = a.total;
    columns = ["time_to_first_token", "inter_token_latency", "request_latency", "input_sequence_length", "output_sequence_length"].filter(t => (a.tags || []).includes(t));
    const sort = el("sort").value;
    if (sort && sort !== "start" && !columns.includes(sort)) columns.unshift(sort);
    const head = make("tr", {}, make("th", {scope: "col", textContent: "Request"}), make("th", {scope: "col", className: "minorcol", textContent: "Session · turn"}));
    for (const t of columns) {
      const m = metric(t), th = make("th", {scope: "col", className: "n", title: m.header, textContent: (brief[t] || m.header) + " "}, make("span", {className: "unit", textContent: m.unit}));
      if (t === sort) th.setAttribute("aria-sort", el("down").checked ? "descending" : "ascending");
      head.append(th);
    }
    head.append(make("th", {scope: "col", textContent: "Error"}));
    el("requests").tHead.replaceChildren(head);
    const rows = a.rows.map(r => {
      const open = make("button", {type: "button", textContent: "#" + r.n.toLocaleString("en-US")});
      open.setAttribute("aria-label", "Request " + r.n);
      open.onclick = () => one(r);
      const tr = make("tr", {className: "request"}, make("th", {scope: "row"}, open, make("small", {textContent: r.id || ""})),
        make("td", {className: "minorcol session", textContent: (r.conversation || r.session || "") + " · " + r.turn}),
        ...columns.map(t => make("td", {className: "n", textContent: r.v[t] === undefined ? "" : short(r.v[t])})),
        make("td", {className: r.error ? "failed why" : "why", textContent: r.error ? (r.error.length > 140 ? r.error.slice(0, 140) + "…" : r.error) : ""}));
      tr.onclick = ev => { if (!ev.target.closest("button")) one(r); };
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

  let text = "";
  async function one(r) {
    const box = el("one");
    el("onetitle").textContent = "Request #" + r.n.toLocaleString("en-US");
    el("record").textContent = "…";
    el("exchange").replaceChildren();
    el("facts").replaceChildren(...facts([["Id", r.id], ["Session", r.session], ["Conversation", r.conversation], ["Turn", String(r.turn)], ["Phase", r.phase], ["Sent (UTC)", r.start ? new Date(r.start).toISOString().replace("T", " ").replace("Z", "") : ""], ...Object.entries(r.v).map(([t, v]) => [metric(t).header, short(v) + " " + metric(t).unit])]));
    el("onefault").textContent = r.error || "";
    if (!box.open) box.showModal();
    for (let tries = 0; tries < 600; tries++) {
      const a = await ask(`/api/r/${data.id}/requests/${r.n}`);
      if (!box.open) return;
      if (a.error) { el("record").textContent = refused(a); return; }
      if (a.pending) { await sleep(300); continue; }
      text = JSON.stringify(a.record, null, 2);
      el("record").textContent = text.length > 2e6 ? text.slice(0, 2e6) + "\n…" : text;
      exchange(a);
      if (!a.rawPending) return;
      await sleep(500);
    }
  }
  // exchange shows what was sent and received, if that was recorded.
  function exchange(a) {
    const parts = [], block = (title, value) => { parts.push(make("h3", {textContent: title}), make("pre", {className: "wrap tall", tabIndex: 0, textContent: typeof value === "string" ? value : JSON.stringify(value, null, 2)})); };
    if (a.rawPending) parts.push(make("p", {className: "note", textContent: "The raw export is being indexed."}));
    else if (a.rawError) parts.push(make("p", {className: "note", textContent: "The raw export cannot be read: " + a.rawError}));
    else if (a.raw) {
      if (a.raw.payload !== undefined) block("Sent", a.raw.payload);
      const replies = a.raw.responses || [];
      block(`Received${a.raw.status ? " · status " + a.raw.status : ""}`, replies.length ? replies.slice(0, 2000).map(p => p.text ?? (p.packets ? p.packets.filter(k => k.name === "data").map(k => k.value.trim()).join("\n") : JSON.stringify(p))).join("\n") : "nothing");
    } else if (data.raw) parts.push(make("p", {className: "note", textContent: "The raw export has no line of this request."}));
    else parts.push(make("p", {className: "note", textContent: "What was sent and received is recorded with --export-level raw."}));
    el("exchange").replaceChildren(...parts);
  }
  el("close").onclick = () => el("one").close();
  el("one").onclick = ev => { if (ev.target === el("one")) el("one").close(); };
  el("copy").onclick = async () => { try { await navigator.clipboard.writeText(text); el("copy").textContent = "Copied"; } catch { getSelection().selectAllChildren(el("record")); el("copy").textContent = "Selected"; } setTimeout(() => { el("copy").textContent = "Copy"; }, 1500); };
  el("save").onclick = () => {
    download(new Blob([text], {type: "application/json"}), el("onetitle").textContent.replace(/[^0-9]/g, "") + ".json");
  };
  let timer;
  el("filter").oninput = ev => { from = 0; clearTimeout(timer); timer = setTimeout(load, ev.target.type === "search" ? 150 : 0); };
  el("filter").onsubmit = ev => { ev.preventDefault(); clearTimeout(timer); load(); };
  const turnTo = step => { from = Math.max(0, from + step); load().then(() => el("requests").closest(".scroll").scrollTo(0, 0)); };
  el("before").onclick = () => turnTo(-size);
  el("after").onclick = () => turnTo(size);
  load();
