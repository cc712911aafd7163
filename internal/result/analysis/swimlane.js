'use strict';
const data = JSON.parse(document.getElementById('data').textContent), palette = data.palette;
const states = ['succeeded', 'failed', 'cancelled'];
const left = 64, right = 12, curveHeight = 190;
const id = name => document.getElementById(name);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const laneHeight = Math.max(12, Math.min(28, Math.floor(560 / data.lanes)));
let from = 0, to = data.end, width = 0, shown = [];

function fit(canvas, w, h) {
  const dots = window.devicePixelRatio || 1;
  canvas.width = Math.round(w * dots); canvas.height = Math.round(h * dots);
  canvas.style.width = w + 'px'; canvas.style.height = h + 'px';
  const g = canvas.getContext('2d');
  g.setTransform(dots, 0, 0, dots, 0, 0);
  g.font = '12px system-ui, sans-serif';
  return g;
}
const x = t => left + (t - from) / (to - from) * (width - left - right);
const time = px => from + (px - left) / (width - left - right) * (to - from);

function ticks(a, b, about) {
  const raw = (b - a) / about, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * unit).find(s => s >= raw), out = [];
  for (let i = Math.ceil(a / step); i * step <= b; i++) out.push(+(i * step).toPrecision(12));
  return out;
}

function drawLanes() {
  const box = id('lanes'), view = Math.min(data.lanes * laneHeight, box.clientHeight || Infinity);
  const g = fit(id('rows'), width, view), top = box.scrollTop;
  const ink = style('--ink'), faint = style('--soft'), stripe = style('--panel'), grid = style('--line');
  shown = [];
  for (let lane = Math.floor(top / laneHeight); lane * laneHeight < top + view && lane < data.lanes; lane++) {
    const y = lane * laneHeight - top;
    if (lane % 2 === 0) { g.fillStyle = stripe; g.fillRect(left, y, width - left - right, laneHeight); }
    g.fillStyle = faint; g.textAlign = 'right';
    if (laneHeight >= 12) g.fillText(lane, left - 8, y + laneHeight / 2 + 4);
  }
  g.fillStyle = grid;
  for (const s of ticks(from / 1e6, to / 1e6, 8)) g.fillRect(x(s * 1e6), 0, 1, view);
  g.save();
  g.beginPath(); g.rect(left, 0, width - left - right, view); g.clip();
  const visible = (a, b, lane) => b >= from && a <= to && (lane + 1) * laneHeight > top && lane * laneHeight < top + view;
  data.sessions.forEach(([, , lane, , a, b], i) => {
    if (!visible(a, b, lane)) return;
    g.globalAlpha = 0.16; g.fillStyle = palette[i % palette.length];
    g.fillRect(x(a), lane * laneHeight - top + 2, Math.max(1, x(b) - x(a)), laneHeight - 4);
    g.globalAlpha = 1;
    if (data.lanes < data.sessions.length) { g.fillStyle = ink; g.fillRect(x(a), lane * laneHeight - top, 1, laneHeight); }
  });
  data.bars.forEach((bar, i) => {
    const [session, a, first, b, , state] = bar, lane = data.sessions[session][2];
    if (!visible(a, b, lane)) return;
    const y = lane * laneHeight - top + 2, h = laneHeight - 4;
    g.fillStyle = state === 1 ? '#c62828' : state === 2 ? '#757575' : palette[session % palette.length];
    let start = a;
    if (first > a && state === 0) {
      g.globalAlpha = 0.45; g.fillRect(x(a), y, Math.max(1, x(first) - x(a)), h); g.globalAlpha = 1;
      start = first;
    }
    g.fillRect(x(start), y, Math.max(1, x(b) - x(start)), h);
    shown.push([x(a), y, Math.max(3, x(b) - x(a)), h, i]);
  });
  ramp(g, view);
  g.restore();
}

function ramp(g, height) {
  if (!data.ramp) return;
  g.fillStyle = '#b45309';
  for (let y = 0; y < height; y += 12) g.fillRect(x(data.ramp), y, 2, 6);
}

function steps(g, list, peak, fill, line) {
  const base = curveHeight - 26, y = v => base - v / peak * (base - 12);
  g.beginPath();
  g.moveTo(x(0), base);
  let value = 0;
  for (const [t, v] of list) { g.lineTo(x(t), y(value)); g.lineTo(x(t), y(v)); value = v; }
  g.lineTo(x(data.end), y(value)); g.lineTo(x(data.end), base);
  g.fillStyle = fill; g.fill();
  if (line) { g.strokeStyle = line; g.stroke(); }
}

function drawCurve() {
  const g = fit(id('curve'), width, curveHeight), base = curveHeight - 26;
  const peak = Math.max(1, data.concurrency, data.peak) * 1.08;
  g.textAlign = 'right';
  for (const v of ticks(0, peak, 5)) {
    const y = base - v / peak * (base - 12);
    g.fillStyle = style('--line'); g.fillRect(left, y, width - left - right, 1);
    g.fillStyle = style('--soft'); g.fillText(v, left - 8, y + 4);
  }
  g.save();
  g.beginPath(); g.rect(left, 0, width - left - right, base + 1); g.clip();
  steps(g, data.active, peak, '#9aa3ae44');
  steps(g, data.requests, peak, '#1e6fb833', '#1e6fb8');
  if (data.concurrency) {
    g.fillStyle = '#2e7d32';
    const y = base - data.concurrency / peak * (base - 12);
    for (let px = left; px < width; px += 14) g.fillRect(px, y - 1, 7, 2);
  }
  ramp(g, base);
  g.restore();
  g.fillStyle = style('--soft'); g.textAlign = 'center';
  for (const s of ticks(from / 1e6, to / 1e6, 8)) g.fillText(s, x(s * 1e6), curveHeight - 10);
  g.textAlign = 'right'; g.fillText('s', width - 2, curveHeight - 10);
}

function draw() {
  width = Math.max(320, id('lanes').clientWidth);
  id('tall').style.height = data.lanes * laneHeight + 'px';
  drawLanes(); drawCurve();
  id('range').textContent = (from / 1e6).toFixed(3) + ' s to ' + (to / 1e6).toFixed(3) + ' s';
}

function view(a, b) {
  const least = Math.min(data.end, 50), span = Math.min(data.end, Math.max(least, b - a));
  from = Math.max(0, Math.min(a, data.end - span)); to = from + span;
  draw();
}
function zoom(factor, at) {
  at = at === undefined ? (from + to) / 2 : at;
  view(at - (at - from) * factor, at + (to - at) * factor);
}
id('in').onclick = () => zoom(0.5);
id('out').onclick = () => zoom(2);
id('all').onclick = () => view(0, data.end);
for (const name of ['rows', 'curve']) {
  const c = id(name);
  let grip = null;
  c.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, time(e.offsetX));
  }, { passive: false });
  c.addEventListener('pointerdown', e => { grip = [e.clientX, from, to]; c.setPointerCapture(e.pointerId); });
  c.addEventListener('pointerup', () => { grip = null; });
  c.addEventListener('pointermove', e => {
    if (grip) {
      const d = (e.clientX - grip[0]) / (width - left - right) * (grip[2] - grip[1]);
      view(grip[1] - d, grip[2] - d);
    }
    if (name === 'rows') tip(e);
  });
  c.addEventListener('pointerleave', () => { id('tip').style.display = 'none'; });
}
function tip(e) {
  const hit = shown.findLast(([a, y, w, h]) => e.offsetX >= a - 1 && e.offsetX <= a + w + 1 && e.offsetY >= y && e.offsetY <= y + h);
  const t = id('tip');
  t.style.display = hit ? 'block' : 'none';
  if (!hit) return;
  const [session, a, first, b, turn, state, isl, osl, failure] = data.bars[hit[4]], [name, conversation, , depth] = data.sessions[session];
  const ms = v => (v / 1000).toFixed(2) + ' ms';
  const lines = ['conversation ' + conversation + ', turn ' + turn + (depth ? ', depth ' + depth : ''), 'session ' + name,
    'sent at ' + (a / 1e6).toFixed(6) + ' s, took ' + ms(b - a)];
  if (first > 0) lines.push('first token after ' + ms(first - a));
  if (isl !== null || osl !== null) lines.push('tokens: ' + (isl === null ? '–' : isl) + ' in, ' + (osl === null ? '–' : osl) + ' out');
  if (state) lines.push(states[state] + ': ' + (failure || ''));
  t.textContent = lines.join('\n');
  t.style.left = Math.min(e.clientX + 14, innerWidth - 350) + 'px';
  t.style.top = Math.min(e.clientY + 14, innerHeight - t.offsetHeight - 8) + 'px';
}
document.addEventListener('keydown', e => {
  const step = (to - from) / 5;
  if (e.key === 'ArrowRight') view(from + step, to + step);
  else if (e.key === 'ArrowLeft') view(from - step, to - step);
  else if (e.key === '+') zoom(0.5);
  else if (e.key === '-') zoom(2);
});
id('lanes').addEventListener('scroll', drawLanes);
addEventListener('resize', draw);
draw();
