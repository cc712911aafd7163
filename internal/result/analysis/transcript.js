'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const make = (tag, text, look) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (look) e.className = look; return e; };
// What is folded has no content yet: a page of thousands of messages opens at once.
function fold(title, fill) {
  const d = make('details'), s = make('summary');
  s.append(...title);
  d.append(s);
  let filled = false;
  d.addEventListener('toggle', () => { if (d.open && !filled) { filled = true; fill(d); } });
  return d;
}
const count = (n, one) => n + ' ' + one + (n === 1 ? '' : 's');
const size = body => data.bodies[body][0].length + data.bodies[body][1];

function message([role, body], repeated) {
  const label = make('span', role + ' ', repeated ? 'faint' : 'new');
  const preview = data.bodies[body][0].slice(0, 90).replace(/\s+/g, ' ');
  return fold([label, make('span', count(size(body), 'character') + (repeated ? ', repeated: ' : ': ') + preview, 'faint')], d => {
    d.append(make('pre', data.bodies[body][0]));
    if (data.bodies[body][1]) d.append(make('p', '… ' + count(data.bodies[body][1], 'more character')));
  });
}
function turn(t) {
  const title = [make('span', 'turn ' + t.index + ' '),
    make('span', count(t.messages.length, 'message') + (t.repeated ? ', ' + t.repeated + ' repeated' : '') + ', ' + t.ms.toFixed(1) + ' ms' + (t.phase === 'warmup' ? ', warm-up' : '') + ' ', 'faint')];
  if (t.note) title.push(make('span', t.note.slice(0, 200), t.failed ? 'bad' : 'faint'));
  return fold(title, d => { t.messages.forEach((m, i) => d.append(message(m, i < t.repeated))); });
}
function conversation(c) {
  const failed = c.turns.filter(t => t.failed).length;
  const title = [make('span', c.name || c.id), make('span', ' ' + count(c.turns.length + c.hidden, 'turn') + (c.depth ? ', depth ' + c.depth + ' below ' + c.parent : '') + ', session ' + c.id + ' ', 'faint')];
  if (failed) title.push(make('span', failed + ' failed', 'bad'));
  return fold(title, d => {
    c.turns.forEach(t => d.append(turn(t)));
    if (c.hidden) d.append(make('p', count(c.hidden, 'more turn') + ' not shown'));
  });
}
const list = document.getElementById('list');
list.append(...data.conversations.map(conversation));
const all = open => { for (const d of list.children) d.open = open; };
document.getElementById('open').onclick = () => all(true);
document.getElementById('close').onclick = () => all(false);
document.getElementById('find').oninput = e => {
  const text = e.target.value.toLowerCase();
  const hits = new Set(text ? data.bodies.flatMap((b, i) => b[0].toLowerCase().includes(text) ? [i] : []) : []);
  let shown = 0;
  data.conversations.forEach((c, i) => {
    const has = !text || c.turns.some(t => t.messages.some(m => hits.has(m[1])));
    list.children[i].hidden = !has;
    shown += has;
  });
  document.getElementById('found').textContent = text ? 'in ' + count(shown, 'conversation') : '';
};
