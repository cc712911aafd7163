  const clock = s => {
    const end = data.axis ? data.axis.to : 0;
    if (end <= 180) return +s.toFixed(3) + " s";
    const sign = s < 0 ? "-" : "", t = Math.round(Math.abs(s)), p = n => String(n).padStart(2, "0");
    if (end < 7200) return sign + Math.floor(t / 60) + ":" + p(t % 60);
    return sign + Math.floor(t / 3600) + ":" + p(Math.floor(t / 60) % 60) + ":" + p(t % 60);
  };

  const timed = () => plots.filter(p => p.timed);
  // A bin stands in the middle of what of it lies on the axis: that of a run of milliseconds is longer than the run.
  const xs = data.axis ? Array.from({length: data.axis.count}, (_, i) => {
    const at = data.axis.first + i * data.axis.step, half = data.axis.step / 2;
    return (Math.max(data.axis.from, at - half) + Math.min(data.axis.to, at + half)) / 2;
  }) : [];
  const zoomed = on => document.querySelectorAll(".reset").forEach(b => { b.hidden = !on; });

  function shadePhases(u) {
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const p of data.phases) {
      const a = u.valToPos(p.from, "x", true), b = u.valToPos(p.to, "x", true);
      ctx.fillStyle = colour("shade");
      ctx.fillRect(a, bbox.top, b - a, bbox.height);
      if (b - a > 50 * devicePixelRatio) {
        ctx.fillStyle = colour("soft");
        ctx.font = 10 * devicePixelRatio + "px system-ui,sans-serif";
        ctx.textAlign = "left";
        ctx.textBaseline = "top";
        ctx.fillText(p.name, a + 4 * devicePixelRatio, bbox.top + 3 * devicePixelRatio);
      }
    }
    ctx.restore();
  }

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
  function timeline(figure, chart) {
    const el = figure.querySelector(".plot");
    const colours = chart.series.map((s, i) => () => s.look === "dash" ? colour("soft") : s.look === "bad" ? colour("bad") : line(i));
    const names = legend(figure.querySelector(".legend"), chart.series.map((s, i) => ({label: s.label, colour: colours[i], unit: chart.unit})), true);
    let cut = limit(chart);
    figure.querySelector(".outliers")?.remove();
    if (cut) {
      const {beyond, most} = cut, whole = make("button", {type: "button", className: "outliers screen"});
      const say = () => { whole.textContent = cut ? `${beyond} ${beyond === 1 ? "point" : "points"} above, up to ${short(most)} ${chart.unit}: show all` : "Cut off outliers"; };
      say();
      whole.onclick = () => { cut = cut ? null : limit(chart); say(); plot.u.setScale("y", {min: null, max: null}); plot.u.setData(plot.u.data); plot.u.setScale("x", view); };
      figure.querySelector("figcaption").append(" ", whole);
    }
    const options = {
      width: widthOf(el), height: 178, legend: {show: false}, pxAlign: false,
      cursor: {
        sync: {key: "time", filters: {pub: type => type === "mousemove" || type === "mouseleave"}},
        drag: {x: true, y: false, setScale: false}, points: {size: 6},
      },
      scales: {x: {time: false, range: () => [view.min, view.max]}, y: {range: (u, lo, hi) => lo === null || lo === undefined ? [0, 1] : [Math.min(0, lo), hi <= 0 ? 1 : cut && hi > cut.top ? cut.top : hi * 1.08]}},
      axes: [axis({values: (u, list) => list.map(clock), space: 70, size: 30}), axis({size: 56, values: (u, list) => list.map(tick)})],
      series: [{}, ...chart.series.map((s, i) => ({
        label: s.label, stroke: colours[i], spanGaps: true, points: {show: s.values.filter(v => v !== null).length < 12, size: 6, fill: colours[i]},
        width: s.look === "thin" || s.look === "dash" ? 1 : 1.6, dash: s.look === "dash" ? [6, 5] : undefined,
        fill: s.look === "area" ? () => alpha(line(i), +colour("fill")) : undefined,
      }))],
      bands: (chart.bands || []).map(b => ({series: [b[0] + 1, b[1] + 1], fill: () => alpha(line(b[1]), +colour("fill"))})),
      hooks: {
        drawClear: [shadePhases],
        setCursor: [u => {
          const i = u.cursor.idx;
          if (i === null || i === undefined || u.cursor.left < 0) names.show(null);
          else names.show(clock(u.data[0][i]), chart.series.map((s, k) => u.data[k + 1][i]));
        }],
        setSelect: [u => {
          const {left, width} = u.select;
          if (width < 4) return;
          const from = u.posToVal(left, "x"), to = u.posToVal(left + width, "x");
          u.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
          look(from, to);
        }],
      },
    };
    const plot = add({timed: true, figure, repaint: names.repaint}, el, options, [xs, ...chart.series.map(s => s.values)]);
    behind(figure, ["time", ...chart.series.map(s => s.label + " (" + chart.unit + ")")], [xs.map(clock), ...chart.series.map(s => s.values)]);
    return plot;
  }

  // Marks are percentiles with their bounds.
  const marks = d => u => {
    const {ctx, bbox} = u, r = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    let row = 0;
    for (const m of d.marks) {
      if (m.value === null) continue;
      const x = u.valToPos(m.value, "x", true);
      if (x > bbox.left + bbox.width) continue;
      if (m.low !== null || m.high !== null) {
        const a = m.low === null ? x : u.valToPos(m.low, "x", true), b = m.high === null ? bbox.left + bbox.width : u.valToPos(m.high, "x", true);
        ctx.fillStyle = colour("shade");
        ctx.fillRect(a, bbox.top, Math.max(1, b - a), bbox.height);
      }
      ctx.strokeStyle = colour("ink");
      ctx.lineWidth = r;
      ctx.setLineDash([3 * r, 3 * r]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.font = 10.5 * r + "px system-ui,sans-serif";
      ctx.fillStyle = colour("ink");
      ctx.textBaseline = "top";
      const text = m.label + " " + short(m.value), room = bbox.left + bbox.width - x;
      const left = ctx.measureText(text).width + 6 * r > room;
      ctx.textAlign = left ? "right" : "left";
      ctx.fillText(text, x + (left ? -4 : 4) * r, bbox.top + (2 + 13 * row++) * r);
    }
    ctx.restore();
  };

  function distribution(figure, d, log) {
    const el = figure.querySelector(".plot");
    const h = log && d.log ? d.log : d.linear, isLog = h === d.log;
    const old = plots.findIndex(p => p.el === el);
    if (old >= 0) { plots[old].u.destroy(); plots.splice(old, 1); }
    const names = legend(figure.querySelector(".legend"), [{label: "requests", colour: () => line(0)}, {label: "below", colour: () => line(1), unit: "%"}], true);
    const lo = h.edges[0], hi = h.edges[h.edges.length - 1];
    const counts = [...h.counts, h.counts[h.counts.length - 1]];
    const options = {
      width: widthOf(el), height: 210, legend: {show: false}, pxAlign: false,
      cursor: {drag: {x: false, y: false}, points: {show: false}},
      scales: {x: {time: false, distr: isLog ? 3 : 1, range: () => [lo, hi]}, y: {range: (u, a, b) => [0, (b || 1) * 1.05]}, share: {range: () => [0, 100]}},
      axes: [axis({space: 50, size: 30, values: (u, list) => list.map(v => v === null ? "" : tick(v)), ...(isLog ? {splits: () => logSplits(lo, hi), filter: (u, s) => s} : {})}),
        axis({size: 52, values: (u, list) => list.map(tick)}),
        axis({scale: "share", side: 1, size: 50, grid: {show: false}, values: (u, list) => list.map(v => v + " %")})],
      series: [{}, {label: "requests", stroke: () => line(0), width: 1, fill: () => alpha(line(0), 0.35), paths: uPlot.paths.stepped({align: 1}), points: {show: false}},
        {label: "below", scale: "share", stroke: () => line(1), width: 1.6, points: {show: false}}],
      hooks: {
        draw: [marks(d)],
        setCursor: [u => {
          if (u.cursor.left < 0 || u.cursor.left === undefined) { names.show(null); return; }
          const x = u.posToVal(u.cursor.left, "x");
          let i = h.edges.findIndex(e => e > x) - 1;
          if (i < 0) i = h.counts.length - 1;
          names.show(short(h.edges[i]) + " – " + short(h.edges[i + 1]) + " " + d.unit, [h.counts[i], h.below[i + 1]]);
        }],
      },
    };
    add({figure, repaint: names.repaint}, el, options, [h.edges, counts, h.below]);
    behind(figure, ["from (" + d.unit + ")", "to", "requests", "below (%)"], [h.edges.slice(0, -1), h.edges.slice(1), h.counts, h.below.slice(1)]);
  }

  for (const d of data.distributions) distribution(document.getElementById(d.id), d, false);
  for (const c of data.charts) timeline(document.getElementById(c.id), c);
  for (const c of data.choices) {
    const figure = document.getElementById(c.id), select = figure.querySelector("select");
    figure.hidden = false;
    const show = () => {
      const chosen = c.lines[+select.value];
      const el = figure.querySelector(".plot"), old = plots.findIndex(p => p.el === el);
      if (old >= 0) { plots[old].u.destroy(); plots.splice(old, 1); }
      el.setAttribute("aria-label", chosen.title + " over time");
      timeline(figure, chosen);
    };
    select.onchange = show;
    show();
  }

  const scale = document.getElementById("scale");
  if (scale && data.distributions.some(d => d.log)) {
    scale.hidden = false;
    scale.onchange = () => {
      const log = scale.querySelector("input:checked").value === "log";
      for (const d of data.distributions) distribution(document.getElementById(d.id), d, log);
    };
  }
  for (const b of document.querySelectorAll(".reset")) b.onclick = () => look(data.axis.from, data.axis.to);

  finished();
