// Looks at the pages of aiperf serve in a real browser, uses them by keyboard alone, and looks at the page of a comparison
// from the disk. Screenshots go to a folder, for people to look at.
//
// usage: node check.mjs CHROMIUM OUT full|quick ADDRESS COMPARISON.html
import {mkdirSync} from "node:fs";
import {request} from "node:http";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {inspect, launch, open} from "./page.mjs";

const [executablePath, out, extent, address, comparison] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const base = address.replace(/\/$/, "");
const {items} = await (await fetch(base + "/api/runs")).json();
const named = name => items.find(i => i.name === name) ?? (() => { throw new Error(`there is no ${name}: ${items.map(i => i.name)}`); })();
const hostile = items.find(i => i.name.includes("onerror")), ids = list => list.map(n => named(n).id).join(",");
const loads = ["load/c2", "load/c8", "load/c24"];
const pages = {
  list: "/", report: "/r/" + hostile.id, figures: "/r/" + hostile.id + "/figures", requests: "/r/" + hostile.id + "/requests",
  request: "/r/" + hostile.id + "/requests/3", slow: "/r/" + hostile.id + "/requests?request_latency=1..1000", files: "/r/" + hostile.id + "/files", saved: "/r/" + hostile.id + "/saved", unary: "/r/" + named("unary").id,
  repeats: "/r/" + named("repeats").id + "/figures", sweep: "/r/" + named("sweep").id, failed: "/r/" + named("failed").id,
  damaged: "/r/" + named("damaged").id, compare: "/compare?runs=" + ids(loads),
  mixed: "/compare?runs=" + [hostile.id, named("repeats").id], charts: "/charts",
};
const browser = await launch(executablePath);
const failures = [];
const views = [[360, "light"], [360, "dark"], [768, "light"], [1440, "light"], [1440, "dark"]].map(([width, colorScheme]) => ({
  name: `${width}-${colorScheme}`, width, height: width < 500 ? 740 : 900, colorScheme, isMobile: width < 500, hasTouch: width < 500,
}));
const sameOrigin = url => url.startsWith(base + "/") || url.startsWith("blob:" + base);
const drawn = page => page.waitForFunction(() => document.documentElement.dataset.drawn !== undefined);

for (const view of extent === "quick" ? [views[0], views[4]] : views) {
  for (const [name, path] of Object.entries(pages)) {
    const wrong = message => failures.push(`${name} ${view.name}: ${message}`);
    const page = await open(browser, view, wrong, sameOrigin);
    const reply = await page.goto(base + path);
    if (!reply.ok()) wrong(`status ${reply.status()}`);
    await drawn(page);
    if (name === "report" || name === "unary") await page.waitForSelector("#h-limit"); // the figures come first if it takes long
    if (name === "requests" || name === "slow") await page.waitForSelector("#requests tbody a");
    if (name === "request") await page.waitForSelector("table.waterfall");
    await page.waitForTimeout(100);
    await inspect(page, wrong);
    await page.screenshot({path: `${out}/${name}-${view.name}.png`, fullPage: name !== "report"});
    await page.context().close();
  }
  const wrong = message => failures.push(`comparison ${view.name}: ${message}`), url = pathToFileURL(resolve(comparison)).href;
  const page = await open(browser, view, wrong, asked => asked === url);
  await page.goto(url);
  await drawn(page);
  await inspect(page, wrong);
  await page.screenshot({path: `${out}/comparison-${view.name}.png`, fullPage: true});
  await page.context().close();
}

// By keyboard alone: a run is searched and opened, two are compared, a chart is changed, a request is read.
{
  const wrong = message => failures.push(`keyboard: ${message}`);
  const page = await open(browser, views[3], wrong, sameOrigin), key = k => page.keyboard.press(k);
  const at = () => page.evaluate(() => { const e = document.activeElement; return (e.id || e.getAttribute("aria-label") || e.textContent).trim(); });
  // tabTo presses Tab until what has the focus matches.
  const tabTo = async what => {
    for (let i = 0; i < 120; i++) {
      await key("Tab");
      if (what.test(await at())) return true;
    }
    wrong(`Tab does not reach ${what}`);
    return false;
  };
  await page.goto(base + "/");
  await drawn(page);
  await key("/");
  if (await at() !== "query") wrong("/ does not lead to the search");
  await page.keyboard.type("load/c8");
  await page.waitForFunction(() => document.querySelectorAll("#runs tbody tr").length === 1);
  await key("Enter");
  if (await at() !== "load/c8") wrong(`Enter leads to ${await at()}`);
  await Promise.all([page.waitForURL(/\/r\//), key("Enter")]);
  await page.waitForSelector("#h-limit");
  await tabTo(/^Requests$/);
  await Promise.all([page.waitForURL(/requests/), key("Enter")]);
  await page.waitForSelector("#requests tbody a");
  await tabTo(/^Request 1$/);
  await key("Enter");
  await page.waitForFunction(() => document.getElementById("record")?.textContent.includes("x_request_id"));
  if (!await page.locator("#one table.waterfall rect.tick").count()) wrong("the request has no picture of its tokens");
  await page.screenshot({path: `${out}/request.png`});
  await key("Escape");
  if (await page.locator("#one").isVisible()) wrong("Escape does not close the request");
  // A bar of a distribution and a point of a time line lead to as many requests as they stand for.
  const shownOf = async () => { await page.waitForFunction(() => / of /.test(document.getElementById("count").textContent)); return page.textContent("#count"); };
  await page.goto(base + "/r/" + named("load/c8").id);
  await page.waitForSelector("#h-limit");
  await page.waitForSelector("#distribution-request_latency .u-over.opens");
  await page.evaluate(() => document.querySelector("#distribution-request_latency .plot").focus());
  for (let i = 0; i < 3; i++) await key("ArrowRight");
  const bar = (await page.textContent("#distribution-request_latency .legend")).match(/requests ?(\d+)/)[1];
  await Promise.all([page.waitForURL(/requests\?request_latency=/), key("Enter")]);
  if (!(await shownOf()).includes(`of ${bar} `)) wrong(`a bar of ${bar} requests opens ${await shownOf()}`);
  await page.goBack();
  await page.waitForSelector("#in-flight .u-over.opens");
  const over = page.locator("#in-flight .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await Promise.all([page.waitForURL(/requests\?in_flight=/), page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)]);
  await shownOf();
  await page.locator("#chips button").click();
  await page.waitForURL(/requests\?$/);
  await page.goto(base + "/?q=load");
  await drawn(page);
  for (const name of ["Select load/c8", "Select load/c24"]) {
    await page.evaluate(() => document.getElementById("query").focus());
    if (await tabTo(new RegExp("^" + name + "$"))) await key("Space");
  }
  await tabTo(/^side$/);
  await Promise.all([page.waitForURL(/compare/), key("Enter")]);
  await page.waitForSelector("table.side");
  await page.goto(base + "/charts?runs=" + ids(loads));
  await page.waitForSelector("#add");
  await tabTo(/^add$/);
  await key("Enter");
  await page.waitForSelector("#edit[open]");
  await page.selectOption("#e-y", "request_latency");
  await page.selectOption("#e-ys", "p90");
  const figures = await page.locator("#grid figure").count();
  await page.evaluate(() => document.getElementById("e-title").focus());
  await page.keyboard.type("Mine <b>");
  await key("Enter");
  await page.waitForFunction(n => document.querySelectorAll("#grid figure").length === n + 1, figures);
  if (!/Mine <b>/.test(await page.locator("#grid figure").last().innerText())) wrong("the chart does not have its title");
  await page.evaluate(() => [...document.querySelectorAll("#grid .plot")].at(-1).focus());
  await key("ArrowRight");
  if (!/load\//.test(await page.locator("#grid figure .legend").last().innerText())) wrong("arrow keys name no run");
  await key("Enter");
  await page.waitForSelector("#point[open]");
  await page.waitForFunction(() => document.getElementById("pointconfig").textContent.includes("endpoint"));
  await page.screenshot({path: `${out}/point.png`});
  await key("Escape");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#export").click()]);
  await saved.saveAs(`${out}/charts.png`);
  await page.locator("#grid figure").last().getByRole("button", {name: /^Hide/}).click();
  await page.reload();
  await page.waitForSelector("#hiddenbox:not([hidden])");
  await page.context().close();
}
await browser.close();

// What the server refuses. The path goes out as it stands: fetch would resolve its dots.
const status = (path, method = "GET") => new Promise((done, failed) => {
  const {hostname, port} = new URL(base);
  request({hostname, port, path, method}, reply => { reply.resume(); done(reply.statusCode); }).on("error", failed).end();
});
for (const [path, want] of [["/r/" + hostile.id + "/files/../../x", 400], ["/r/" + hostile.id + "/files/%2e%2e/%2e%2e/x", 400], ["/r/" + hostile.id + "/files/..%2fx", 400],
  ["/r/" + hostile.id + "/files/%252e%252e%252fx", 400], ["/r/0/figures", 404], ["/compare?runs=" + hostile.id, 400]]) {
  const got = await status(path);
  if (got !== want) failures.push(`${path}: status ${got}, want ${want}`);
}
for (const method of ["DELETE", "PUT", "POST"]) {
  const got = await status("/r/" + hostile.id, method);
  if (got < 400) failures.push(`${method} is answered with ${got}`);
}

for (const f of failures) console.error(f);
console.log(failures.length ? `${failures.length} failures` : `all ${Object.keys(pages).length} pages pass`);
process.exit(failures.length ? 1 : 0);
