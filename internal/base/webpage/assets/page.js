  // What the script of every page begins with: its data, elements, numbers, the theme and printing.
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const el = id => document.getElementById(id);
  const known = v => v !== null && v !== undefined && v !== "";
  const colour = name => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const make = (tag, props, ...children) => {
    const e = Object.assign(document.createElement(tag), props);
    e.append(...children);
    return e;
  };
  // facts are pairs of a list of names and values; one without a value is left out.
  const facts = pairs => pairs.filter(p => p[1]).map(([name, value]) => make("div", {}, make("dt", {textContent: name}), make("dd", {textContent: value})));
  const short = v => {
    if (v === null || v === undefined || !isFinite(v)) return "–";
    const a = Math.abs(v);
    if (a >= 1000) return Math.round(v).toLocaleString("en-US");
    if (a >= 100) return String(+v.toFixed(1));
    if (a >= 1 || a === 0) return String(+v.toFixed(2));
    return String(+v.toPrecision(3));
  };

  const plots = []; // every chart on the page
  const widthOf = e => Math.max(200, e.clientWidth);
  const repaint = () => { for (const p of plots) { p.repaint(); p.u.redraw(true, true); } };
  const fit = () => { for (const p of plots) { const w = widthOf(p.el); if (w !== p.u.width) p.u.setSize({width: w, height: p.u.height}); } };
  new ResizeObserver(() => requestAnimationFrame(fit)).observe(document.body);

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = el("theme");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", "Switch to the " + (isDark() ? "light" : "dark") + " theme"); };
  button.hidden = false;
  label();
  button.onclick = () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); repaint(); remember(); };
  // A page of a server has the same theme as the one before.
  const remember = () => { try { document.cookie = "aiperf-theme=" + root.dataset.theme + ";path=/;max-age=31536000;samesite=lax"; } catch { /* no cookies here */ } };
  dark.addEventListener("change", () => { label(); repaint(); });

  // Paper is light and some 700 pixels wide; what is folded is shown.
  let before = null;
  addEventListener("beforeprint", () => {
    before = {theme: root.dataset.theme, open: [...document.querySelectorAll("details:not(.screen):not([open])")]};
    root.dataset.theme = "light";
    before.open.forEach(d => { d.open = true; });
    const paper = Math.min(680, document.body.clientWidth);
    for (const p of plots) p.u.setSize({width: p.figure.parentElement.classList.contains("two") ? Math.floor((paper - 12) / 2) - 30 : paper - 30, height: p.u.height});
    repaint();
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    if (before.theme) root.dataset.theme = before.theme; else delete root.dataset.theme;
    before.open.forEach(d => { d.open = false; });
    before = null;
    fit();
    repaint();
  });
  // finished is called when all charts are drawn.
  const finished = () => { root.dataset.drawn = plots.length; };
