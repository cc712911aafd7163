  const timed = () => plots.filter(p => p.timed);
  // A bin stands in the middle of what of it lies on the axis: that of a run of milliseconds is longer than the run.
  const xs = data.axis ? Array.from({length: data.axis.count}, (_, i) => {
    const at = data.axis.first + i * data.axis.step, half = data.axis.step / 2;
    return (Math.max(data.axis.from, at - half) + Math.min(data.axis.to, at + half)) / 2;
  }) : [];
  const zoomed = on => document.querySelectorAll(".reset").forEach(b => { b.hidden = !on; });

  // view is the part of the run that all time lines show.
  const view = data.axis ? {min: data.axis.from, max: data.axis.to} : null;
  function look(min, max) {
    Object.assign(view, {min, max});
    for (const p of timed()) p.u.setScale("x", {min, max});
    zoomed(min > data.axis.from + 1e-9 || max < data.axis.to - 1e-9);
  }
  // limit returns where the axis of a chart ends so that a few outliers do not flatten the rest: null if none do.
  function limit(chart) {
    const all = chart.series.flatMap(s => s.values).filter(v => v !== null && isFinite(v)).sort((a, b) => a - b);
    const most = all[all.length - 1], usual = all[Math.floor(all.length * 0.995) - 1];
    return all.length >= 50 && usual > 0 && most > 3 * usual ? {top: usual * 1.25, beyond: all.filter(v => v > usual * 1.25).length, most} : null;
  }
  // In aiperf serve a bar of a distribution and a point of a time line lead to their requests; a file leads nowhere.
  const requests = document.querySelector("nav.site a[href$='/requests']")?.getAttribute("href");
  // opens makes a click on a chart, and Enter, open the requests that address names for a place of the chart.
  function opens(plot, address, place = u => u.cursor.idx) {
    if (!requests) return;
    const box = plot.el, over = plot.u.over;
    let pressed = 0;
    plot.open = i => { const to = address(i); if (to) location.href = requests + "?" + to; };
    over.classList.add("opens");
    over.addEventListener("mousedown", ev => { pressed = ev.clientX; });
    over.addEventListener("click", ev => { const i = place(plot.u); if (Math.abs(ev.clientX - pressed) < 4 && known(i)) plot.open(i); }); // a drag zooms
    if (!/requests\.$/.test(box.getAttribute("aria-label"))) box.setAttribute("aria-label", box.getAttribute("aria-label") + " Enter opens the requests.");
  }
  const instant = ms => { const us = Math.round(ms * 1000); return new Date(Math.floor(us / 1000)).toISOString().replace("Z", String(us % 1000).padStart(3, "0") + "Z"); };
  // during names the requests of a bin of time: those sent in it for latencies, else those in flight.
  const during = chart => i => {
    const from = data.axis.origin + (data.axis.first + (i - 0.5) * data.axis.step) * 1000;
    return (chart.id.startsWith("latency-") ? "sent" : "in_flight") + "=" + instant(from) + ".." + instant(from + data.axis.step * 1000);
  };
  // within a column of a histogram; the first and the last one have what lies on their outer edges, too.
  const inColumn = (d, h) => i => {
    const n = h.counts.length, at = Math.min(n - 1, i);
    return d.id.replace("distribution-", "") + "=" + (at === 0 ? "" : h.edges[at]) + ".." + (at === n - 1 && !h.beyond ? "" : h.edges[at + 1]);
  };
  if (requests && document.querySelector("figure.chart")) document.querySelector("figure.chart").parentElement.before(make("p", {className: "note screen", textContent: "A click on a bar, or on a point of a time line, opens its requests; so does Enter at the place that the arrow keys chose."}));
  const clocked = s => clock(s, data.axis.to);
  function timeline(figure, chart) {
    const of = curves(chart.series, chart.bands, i => chart.series[i].values.filter(v => v !== null).length < 12);
    const names = legend(figure, of.entries(chart.unit));
    let cut = limit(chart);
    figure.querySelector(".outliers")?.remove();
    if (cut) {
      const {beyond, most} = cut, whole = make("button", {type: "button", className: "outliers screen"});
      const say = () => { whole.textContent = cut ? `${beyond} ${beyond === 1 ? "point" : "points"} above, up to ${short(most)} ${chart.unit}: show all` : "Cut off outliers"; };
      say();
      whole.onclick = () => { cut = cut ? null : limit(chart); say(); plot.u.setScale("y", {min: null, max: null}); plot.u.setData(plot.u.data); plot.u.setScale("x", view); };
      figure.querySelector("figcaption").append(" ", whole);
    }
    const plot = add(figure, names, (i, u) => names.show(i === null ? null : clocked(u.data[0][i]), i === null ? null : chart.series.map((s, k) => u.data[k + 1][i])), {
      height: 178,
      cursor: {
        sync: {key: "time", filters: {pub: type => type === "mousemove" || type === "mouseleave"}},
        drag: {x: true, y: false, setScale: false}, points: {size: 6},
      },
      scales: {x: {time: false, range: () => [view.min, view.max]}, y: {range: (u, lo, hi) => lo === null || lo === undefined ? [0, 1] : [Math.min(0, lo), hi <= 0 ? 1 : cut && hi > cut.top ? cut.top : hi * 1.08]}},
      axes: overTime(() => data.axis.to), series: of.series, bands: of.bands, ends: of.ends,
      hooks: {
        ...shaded(() => data.phases),
        setSelect: [u => {
          const {left, width} = u.select;
          if (width < 4) return;
          const from = u.posToVal(left, "x"), to = u.posToVal(left + width, "x");
          u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
          look(from, to);
        }],
      },
    }, [xs, ...chart.series.map(s => s.values)]);
    plot.timed = true;
    opens(plot, during(chart));
    behind(figure, ["time", ...chart.series.map(s => s.label + " (" + chart.unit + ")")], [xs.map(clocked), ...chart.series.map(s => s.values)]);
  }

  // Marks are percentiles with their bounds. Their names stand above the chart, left of their lines, in rows where they
  // would touch: no line crosses a name.
  const marks = d => u => {
    const {ctx, bbox: box} = u, r = devicePixelRatio, end = box.left + box.width, rows = [];
    within(u, (ctx, box, r, X) => bounded(d, ctx, box, r, X, end));
    ctx.save();
    lettering(ctx, 11, "bottom", "left");
    for (const m of d.marks) {
      const x = m.value === null ? end + 1 : u.valToPos(m.value, "x", true);
      if (x > end) continue;
      const text = m.label + " " + short(m.value), width = ctx.measureText(text).width, from = Math.max(box.left - 40 * r, x + 3 * r - width);
      let row = rows.findIndex(to => to + 8 * r < from);
      if (row < 0) row = rows.length;
      rows[row] = from + width;
      ctx.fillText(text, from, box.top - (4 + 14 * row) * r);
      ctx.strokeStyle = colour("soft");
      ctx.lineWidth = r;
      ctx.beginPath();
      ctx.moveTo(x, box.top - (3 + 14 * row) * r);
      ctx.lineTo(x, box.top);
      ctx.stroke();
    }
    ctx.restore();
  };
  const bounded = (d, ctx, box, r, X, end) => {
    for (const m of d.marks) {
      if (m.value === null) continue;
      const x = X(m.value);
      if (x > end) continue;
      if (m.low !== null || m.high !== null) {
        const a = m.low === null ? x : X(m.low), b = m.high === null ? end : X(m.high);
        ctx.fillStyle = colour("shade");
        ctx.fillRect(a, box.top, Math.max(1, b - a), box.height);
      }
      ctx.strokeStyle = colour("ink");
      ctx.lineWidth = r;
      ctx.setLineDash([3 * r, 3 * r]);
      ctx.beginPath();
      ctx.moveTo(x, box.top);
      ctx.lineTo(x, box.top + box.height);
      ctx.stroke();
    }
  };

  function distribution(figure, d, log) {
    const h = log && d.log ? d.log : d.linear, isLog = h === d.log;
    const names = legend(figure, [{label: "requests", colour: () => line(0)}, {label: "below", colour: () => line(1), unit: "%"}]);
    const lo = h.edges[0], hi = h.edges[h.edges.length - 1];
    const counts = [...h.counts, h.counts[h.counts.length - 1]];
    // column is that under the cursor.
    const column = u => {
      const x = u.posToVal(u.cursor.left, "x"), i = h.edges.findIndex(e => e > x) - 1;
      return i < 0 ? h.counts.length - 1 : i;
    };
    const show = (at, u) => {
      if (at === null) { names.show(null); return; }
      const i = column(u);
      names.show(short(h.edges[i]) + " – " + short(h.edges[i + 1]) + " " + d.unit, [h.counts[i], h.below[i + 1]]);
    };
    const plot = add(figure, names, show, {
      height: 240, padding: [46, null, null, null],
      scales: {x: {time: false, distr: isLog ? 3 : 1, range: () => [lo, hi]}, y: {range: (u, a, b) => [0, (b || 1) * 1.05]}, share: {range: () => [0, 100]}},
      axes: [axis({space: 50, size: 30, values: ticks, ...logarithmic(isLog, [lo, hi])}), axis({size: 52, values: ticks}),
        axis({scale: "share", side: 1, size: 50, grid: {show: false}, values: (u, list) => list.map(v => v + " %")})],
      series: [{}, {label: "requests", stroke: () => line(0), width: 1, fill: () => alpha(line(0), 0.35), paths: uPlot.paths.stepped({align: 1}), points: {show: false}},
        {label: "below", scale: "share", stroke: () => line(1), width: 1.6, points: {show: false}}],
      hooks: {draw: [marks(d)]},
    }, [h.edges, counts, h.below]);
    opens(plot, inColumn(d, h), column);
    behind(figure, ["from (" + d.unit + ")", "to", "requests", "below (%)"], [h.edges.slice(0, -1), h.edges.slice(1), h.counts, h.below.slice(1)]);
  }

  for (const d of data.distributions) distribution(el(d.id), d, false);
  for (const c of data.charts) timeline(el(c.id), c);
  for (const c of data.choices) {
    const figure = el(c.id), select = figure.querySelector("select");
    figure.hidden = false;
    const show = () => {
      const chosen = c.lines[+select.value];
      figure.querySelector(".plot").setAttribute("aria-label", chosen.title + " over time");
      timeline(figure, chosen);
    };
    select.onchange = show;
    show();
  }

  const scale = el("scale");
  if (scale && data.distributions.some(d => d.log)) {
    scale.hidden = false;
    scale.onchange = () => {
      const log = scale.querySelector("input:checked").value === "log";
      for (const d of data.distributions) distribution(el(d.id), d, log);
    };
  }
  for (const b of document.querySelectorAll(".reset")) b.onclick = () => look(data.axis.from, data.axis.to);

  finished();
