  const placed = (l, i) => l.loads ? l.loads[i] : (i + 0.5) * l.width; // the bins of the runs differ: each has its own points on the common axis
  for (const c of data.charts) {
    const figure = el(c.id);
    const xs = [...new Set(c.lines.flatMap(l => (l.values || []).map((v, i) => placed(l, i))))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, i) => [x, i])), end = xs[xs.length - 1] || 0, written = x => c.load ? c.load + " " + tick(x) : clock(x, end);
    const columns = c.lines.map(l => { const out = Array(xs.length); (l.values || []).forEach((v, i) => { if (v !== null) out[place.get(placed(l, i))] = v; }); return out; });
    const of = curves(c.lines.map((l, i) => ({label: l.name, dash: dash(i)})), [], i => (c.lines[i].values || []).length < 12);
    const names = legend(figure, of.entries(c.unit));
    const nearby = (column, i) => { for (let d = 0; d < 40; d++) { if (column[i - d] !== undefined) return column[i - d]; if (column[i + d] !== undefined) return column[i + d]; } return null; };
    add(figure, names, i => names.show(i === null ? null : written(xs[i]), i === null ? null : columns.map(column => nearby(column, i))), {
      height: 190, ends: of.ends, scales: {x: {time: false}, y: {range: (u, lo, hi) => [Math.min(0, lo ?? 0), hi > 0 ? hi * 1.08 : 1]}}, axes: c.load ? [axis({space: 50, size: 30, ...measured(xs, [xs[0], end]), values: ticks}), axis({size: 56, values: ticks})] : overTime(() => end), series: of.series,
    }, [xs, ...columns]);
    behind(figure, [c.load || "time", ...c.lines.map(l => l.name + " (" + c.unit + ")")], [xs.map(written), ...columns.map(column => Array.from(column, v => v === undefined ? "" : v))]);
  }
  finished();
