  // What scripts do with fields, menus and files.
  const store = {
    get(key, otherwise) { try { return JSON.parse(sessionStorage.getItem("aiperf-" + key)) ?? otherwise; } catch { return otherwise; } },
    set(key, value) { try { sessionStorage.setItem("aiperf-" + key, JSON.stringify(value)); } catch { /* private mode */ } },
  };
  // ask returns what the server answers, or why it does not.
  async function ask(path) {
    try { return await (await fetch(path, {cache: "no-store"})).json(); }
    catch { return {error: "The server does not answer", detail: "Is aiperf serve still running?"}; }
  }
  const refused = a => a.error + ". " + (a.detail || "");
  // A menu closes with Escape and by a click elsewhere.
  addEventListener("keydown", ev => { if (ev.key === "Escape") for (const d of document.querySelectorAll("details.choose[open]")) { d.open = false; d.firstElementChild.focus(); } });
  addEventListener("click", ev => { for (const d of document.querySelectorAll("details.choose[open]")) if (!d.contains(ev.target)) d.open = false; });
  function download(blob, name) {
    const a = make("a", {href: URL.createObjectURL(blob), download: name});
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  }
