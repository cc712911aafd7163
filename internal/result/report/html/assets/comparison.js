  const seconds = v => v >= 180 ? Math.floor(v / 60) + ":" + String(Math.round(v % 60)).padStart(2, "0") : +v.toFixed(2) + " s";
  const dashes = i => i < 8 ? undefined : [7, 4];
  for (const c of data.charts) {
    const figure = document.getElementById(c.id), el = figure.querySelector(".plot");
    // The bins of the runs differ: each has its own points on the common axis.
    const at = (l, i) => (i + 0.5) * l.width;
    const xs = [...new Set(c.lines.flatMap(l => (l.values || []).map((v, i) => at(l, i))))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, i) => [x, i]));
    const columns = c.lines.map(l => { const out = Array(xs.length); (l.values || []).forEach((v, i) => { if (v !== null) out[place.get(at(l, i))] = v; }); return out; });
    const colours = c.lines.map((l, i) => () => line(i));
    const names = legend(figure.querySelector(".legend"), c.lines.map((l, i) => ({label: l.name, colour: colours[i], unit: c.unit})), true);
    const nearest = (column, i) => { for (let d = 0; d < 40; d++) { if (column[i - d] !== undefined) return column[i - d]; if (column[i + d] !== undefined) return column[i + d]; } return null; };
    add({figure, repaint: names.repaint}, el, {
      width: widthOf(el), height: 190, legend: {show: false}, pxAlign: false, cursor: {drag: {x: false, y: false}, points: {show: false}},
      scales: {x: {time: false}, y: {range: (u, lo, hi) => [Math.min(0, lo ?? 0), hi > 0 ? hi * 1.08 : 1]}},
      axes: [axis({space: 70, size: 30, values: (u, list) => list.map(seconds)}), axis({size: 56, values: (u, list) => list.map(tick)})],
      series: [{}, ...c.lines.map((l, i) => ({label: l.name, stroke: colours[i], width: 1.6, dash: dashes(i), spanGaps: true, points: {show: (l.values || []).length < 12, size: 6, fill: colours[i]}}))],
      hooks: {setCursor: [u => {
        const i = u.cursor.idx;
        if (i === null || i === undefined || u.cursor.left < 0) names.show(null);
        else names.show(seconds(u.data[0][i]), columns.map(column => nearest(column, i)));
      }]},
    }, [xs, ...columns]);
    behind(figure, ["time", ...c.lines.map(l => l.name + " (" + c.unit + ")")], [xs.map(seconds), ...columns.map(column => Array.from(column, v => v === undefined ? "" : v))]);
  }
  finished();
