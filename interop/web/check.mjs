// Looks at the live pages of a run and of a sweep in a real browser, ends the run as Ctrl-C does, and looks again.
// Screenshots go to a folder, for people to look at.
//
// usage: node check.mjs CHROMIUM OUT full|quick RUN-URL RUN-PID SWEEP-URL-WITH-KEY
import {mkdirSync} from "node:fs";
import {inspect, launch, open} from "./page.mjs";

const [executablePath, out, extent, runURL, runPID, sweepURL] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const browser = await launch(executablePath);
const failures = [];
const views = [];
for (const colorScheme of ["light", "dark"]) {
  views.push({width: 360, height: 740, colorScheme, deviceScaleFactor: 2, isMobile: true, hasTouch: true},
    {width: 768, height: 1024, colorScheme}, {width: 1440, height: 900, colorScheme});
}
for (const v of views) v.name = `${v.width}-${v.colorScheme}`;

// opened opens a live page and waits until it shows figures.
async function opened(name, url, view) {
  const wrong = message => failures.push(`${name} ${view.name}: ${message}`);
  const origin = new URL(url).origin;
  const page = await open(browser, view, wrong, asked => new URL(asked).origin === origin);
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.drawn !== undefined && document.querySelectorAll("#metric-rows tr").length > 3);
  return {page, wrong, name: `${name}-${view.name}`};
}

// A print or a picture of the whole page has charts that were never in sight.
async function look({page, wrong, name}) {
  await inspect(page, wrong);
  await page.screenshot({path: `${out}/${name}.png`, fullPage: true});
}

// keyboard walks over the page with the Tab key alone: it reaches everything that can be used.
async function keyboard({page, wrong}) {
  const able = await page.evaluate(() => {
    const list = [...document.querySelectorAll("a[href],button,select,input,summary,[tabindex='0']")].filter(e => e.checkVisibility() && !e.disabled && !(e.type === "radio" && !e.checked));
    list.forEach((e, i) => { e.dataset.stop = i; });
    return list.map(e => e.id || e.textContent.trim().slice(0, 30) || e.tagName);
  });
  const reached = new Set();
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  for (let i = 0; i < able.length + 20 && reached.size < able.length; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      const ring = getComputedStyle(e);
      return {stop: e.dataset.stop, ring: ring.outlineStyle !== "none" || e.matches("input,select,summary"), name: e.id || e.tagName};
    });
    if (at.stop !== undefined) reached.add(+at.stop);
    if (!at.ring) wrong(`no mark of the focus on ${at.name}`);
  }
  const missed = able.filter((e, i) => !reached.has(i));
  if (missed.length) wrong(`the keyboard does not reach ${missed}`);
  const plot = page.locator("#c-flight .plot");
  await plot.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  if (!/\d s/.test(await page.locator("#c-flight .legend .at").innerText())) wrong("arrow keys show no time");
  await page.locator("#span input").first().focus();
  await page.keyboard.press("ArrowRight");
  if (await page.locator("#span input:checked").inputValue() !== "300") wrong("arrow keys do not choose the span");
  await page.keyboard.press("ArrowLeft");
  const summary = page.locator("#c-rate summary");
  await summary.focus();
  await page.keyboard.press("Enter");
  await page.locator("#c-rate tbody tr").nth(3).waitFor().catch(() => wrong("the table behind a chart has no rows"));
  await page.keyboard.press("Enter");
  const theme = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.locator("#theme").focus();
  await page.keyboard.press("Enter");
  if (await page.evaluate(() => getComputedStyle(document.body).backgroundColor) === theme) wrong("the theme does not change");
  await page.keyboard.press("Enter");
}

// figures compares what the page shows with what the API says at the same time.
async function figures({page, wrong}) {
  const compared = () => page.evaluate(async () => {
    const api = (await (await fetch("api/metrics")).json()).metrics;
    const number = text => +text.replaceAll(",", "");
    const near = (a, b) => Math.abs(a - b) <= 0.006 * Math.abs(b) + 1e-9;
    const rows = [...document.querySelectorAll("#metric-rows tr")];
    let same = 0;
    for (const tr of rows) {
      const name = tr.cells[0].textContent;
      const m = Object.values(api).find(m => name === m.header + (m.unit ? ` (${m.unit})` : ""));
      if (!m || !["avg", "p50", "p90", "p99", "std", "min", "max"].every((k, i) => near(number(tr.cells[i + 1].textContent), m[k]))) return 0;
      same++;
    }
    return same;
  });
  // The page and the API are asked one after the other, while the figures change. (waitForFunction takes the promise of an
  // async function for an answer, and would ask once.)
  let found = 0;
  for (const end = Date.now() + 60_000; !found && Date.now() < end;) {
    found = await compared();
    if (!found) await page.waitForTimeout(150);
  }
  if (found < 5) wrong(`the figures of the page are not those of the API (${found} rows)`);
}

// socket gets messages as a program does.
async function socket({page, wrong}) {
  const got = await page.evaluate(() => new Promise(resolve => {
    const ws = new WebSocket(location.origin.replace("http", "ws") + "/ws"), seen = [];
    ws.onopen = () => ws.send(JSON.stringify({type: "subscribe", message_types: ["realtime_metrics", "credit_phase_progress"]}));
    ws.onmessage = e => {
      const m = JSON.parse(e.data);
      seen.push(m.message_type || m.type);
      if (seen.includes("realtime_metrics") && seen.includes("credit_phase_progress")) { ws.close(); resolve(seen); }
    };
    ws.onerror = () => resolve(["error"]);
    setTimeout(() => resolve(seen), 15000);
  }));
  if (got[0] !== "subscribed" || !got.includes("realtime_metrics")) wrong(`WebSocket: ${got}`);
}

// A key is asked for, and leaves the address at once.
const bare = await fetch(new URL("/", sweepURL), {redirect: "manual"});
if (bare.status !== 401) failures.push(`without the key: ${bare.status}`);

const wide = views.find(v => v.width === 1440 && v.colorScheme === "light");
const sweep = await opened("sweep", sweepURL, wide);
if (sweep.page.url().includes("key")) sweep.wrong("the key stands in the address");
await look({...sweep, name: "sweep-begun"});

let run;
const looked = extent === "quick" ? views.filter(v => v === wide || v.name === "360-dark") : views;
for (const view of looked) {
  run = await opened("run", runURL, view);
  if (view === wide) await run.page.waitForFunction(() => document.querySelectorAll("#error-rows tr").length > 0);
  await look(run);
  if (view === wide) {
    for (const check of [figures, socket, keyboard]) await check(run);
  }
  const text = await run.page.evaluate(() => document.body.innerText);
  if (!text.includes("org/<b>model</b>")) run.wrong("the name of the model is not shown as it is");
  if (/NaN|undefined|Infinity|\[object/.test(text)) run.wrong(`the page shows ${text.match(/.{0,30}(NaN|undefined|Infinity|\[object).{0,30}/)[0]}`);
  if (view !== looked.at(-1)) await run.page.context().close();
}

// The rows grow while the page is open: it is live.
const rows = () => run.page.locator("#phases .right").last().innerText();
const before = await rows();
await run.page.waitForFunction(b => [...document.querySelectorAll("#phases .right")].at(-1).innerText !== b, before);

await sweep.page.waitForFunction(() => /3 of 3/.test(document.querySelector("#series-text").textContent) && document.querySelector("#connection").textContent === "ended", null, {timeout: 120_000});
await look({...sweep, name: "sweep-ended"});
const curve = await sweep.page.locator("#c-series").isVisible();
if (!curve) sweep.wrong("no curve over the cells");
const links = await sweep.page.locator("#cells a").count();
if (links !== 3) sweep.wrong(`${links} reports of 3 runs`);
for (const view of looked.filter(v => v.width === 360 || v.name === "1440-dark")) {
  const s = await opened("sweep", sweepURL, view);
  await look(s);
  await s.page.context().close();
}

process.kill(+runPID, "SIGINT");
await run.page.waitForFunction(() => !document.querySelector("#ended").hidden && document.querySelector("#connection").textContent === "ended");
await look({...run, name: "run-ended"});
const [report] = await Promise.all([run.page.context().waitForEvent("page"), run.page.locator("#ended a").click()]);
report.on("console", m => run.wrong(`report: ${m.text()}`));
await report.waitForFunction(() => document.documentElement.dataset.drawn !== undefined);
await report.close();

await browser.close();
for (const f of failures) console.error(f);
console.log(failures.length ? `${failures.length} failures` : "the live page passes");
process.exit(failures.length ? 1 : 0);
