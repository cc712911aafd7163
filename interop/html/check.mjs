// Opens HTML reports from the disk in a real browser and looks at them: no console message, no request but for the
// file, charts with ink, no page wider than the window, tables behind charts, zoom, a print to PDF. Screenshots and
// PDF go to a folder, for people to look at.
//
// usage: node check.mjs CHROMIUM OUT full|quick NAME=REPORT.html…   (NAME may end in ! for a report without charts, in ~ for the
// page of a sweep)
import {mkdirSync, statSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {inspect, launch, open} from "./page.mjs";

const [executablePath, out, extent, ...reports] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const browser = await launch(executablePath);
const failures = [];
const views = [
  {name: "wide", width: 1280, height: 900, colorScheme: "light"},
  {name: "phone", width: 360, height: 740, colorScheme: "light", deviceScaleFactor: 2, isMobile: true, hasTouch: true},
  {name: "dark", width: 1280, height: 900, colorScheme: "dark"},
];

for (const [i, report] of reports.entries()) {
  let [name, path] = report.split("=");
  const bare = name.endsWith("!");
  const several = name.endsWith("~");
  name = name.replace(/[!~]/, "");
  const url = pathToFileURL(resolve(path)).href;
  // Quickly, beside the view that is used, the phone and the dark one in turn.
  for (const view of extent === "quick" ? [views[0], views[1 + i % 2]] : views) {
    const wrong = message => failures.push(`${name} ${view.name}: ${message}`);
    const page = await open(browser, view, wrong, asked => asked === url), context = page.context();
    await page.goto(url);
    await page.waitForFunction(() => document.documentElement.dataset.drawn !== undefined);
    await page.waitForTimeout(200);

    const seen = await inspect(page, wrong);
    if (seen.drawn !== seen.figures || seen.canvases !== seen.figures) wrong(`${seen.figures} figures, ${seen.drawn} charts, ${seen.canvases} canvases`);
    if (!bare && seen.figures < 6) wrong(`only ${seen.figures} figures`);
    await page.screenshot({path: `${out}/${name}-${view.name}.png`, fullPage: true});

    if (view.name === "wide" && !bare) await (several ? interactSweep : interact)(page, wrong, name);
    if (view.name === "dark") {
      const bytes = (await page.pdf({path: `${out}/${name}-print.pdf`, format: "A4"})).length;
      if (bytes < 20_000) wrong(`the print has only ${bytes} bytes`);
      const theme = await page.evaluate(() => document.documentElement.dataset.theme);
      if (theme !== undefined) wrong(`after printing the theme is ${theme}`);
    }
    await context.close();
  }
  console.log(`${name}: ${(statSync(path).size / 1e6).toFixed(2)} MB`);
}

// interact uses the page as a reader does: tables, keyboard, zoom, axis, theme.
async function interact(page, wrong, name) {
  const details = page.locator("figure:has(canvas) details:not([hidden])").first();
  await details.locator("summary").click();
  await details.locator("tbody tr").nth(4).waitFor({timeout: 3000}).catch(() => wrong("the table behind a chart has no rows"));
  await details.locator("summary").click();

  // An explanation is reached with the keyboard, and closed with it.
  const about = page.locator("table.metrics .about").first(), text = page.locator(".explain:popover-open");
  await about.focus();
  await page.keyboard.press("Enter");
  if (!/\w+ .*\./.test(await text.innerText().catch(() => ""))) wrong("a figure has no explanation");
  await page.keyboard.press("Escape");
  if (await text.count()) wrong("an explanation stays open");
  const seen = await page.locator("table.metrics thead").first().evaluate(head => {
    const right = head.closest(".scroll").getBoundingClientRect().right;
    return [...head.rows[0].cells].filter(c => c.getBoundingClientRect().right <= right + 1).map(c => c.textContent);
  });
  if (!["p99", "std"].every(name => seen.includes(name))) wrong(`only ${seen} of the table of metrics are in sight`);
  const links = await page.locator(".contents a").evaluateAll(list => list.filter(a => !document.querySelector(a.hash)).map(a => a.hash));
  if (links.length) wrong(`the contents lead nowhere: ${links}`);

  const plot = page.locator("#in-flight .plot");
  await plot.focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowRight");
  const legend = await page.locator("#in-flight .legend").innerText();
  if (!/\d/.test(legend)) wrong(`arrow keys show no value: ${legend}`);

  const over = page.locator("#in-flight .u-over");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 40, {steps: 6});
  await page.mouse.up();
  const reset = page.locator(".reset").first();
  if (!await reset.isVisible()) wrong("dragging over a chart does not zoom");
  else await reset.click();
  if (await reset.isVisible()) wrong("the whole run does not come back");

  const select = page.locator(".choice select").first();
  if (await select.count()) await select.selectOption({index: 1});
  await page.locator("#scale input[value=log]").check();
  await page.waitForTimeout(100);
  await page.locator("#h-distributions").scrollIntoViewIfNeeded();
  await page.screenshot({path: `${out}/${name}-log.png`});
  await page.locator("#theme").click();
  if (await page.evaluate(() => document.documentElement.dataset.theme) !== "dark") wrong("the theme does not change");
}

// interactSweep uses the page of a sweep as a reader does: another axis, other lines, other figures, sorting, keyboard.
async function interactSweep(page, wrong, name) {
  const first = page.locator("#h-curves ~ .charts figure").first();
  await first.locator("details summary").click();
  await first.locator("tbody tr").nth(1).waitFor({timeout: 3000}).catch(() => wrong("the table behind a curve has no rows"));
  const plot = first.locator(".plot");
  await plot.focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  const legend = await first.locator(".legend").innerText();
  if (!/\d/.test(legend)) wrong(`arrow keys show no value: ${legend}`);

  const title = page.locator("#curve-time_to_first_token figcaption b");
  await page.locator("#stat").selectOption("p50");
  if (!/p50/.test(await title.innerText())) wrong("the statistic does not change");
  const axis = page.locator("#axis"), options = await axis.locator("option").count();
  for (let i = 0; options > 1 && i < options; i++) {
    await axis.selectOption({index: i});
    const lines = page.locator("#lines");
    if (await lines.isVisible()) for (let k = 0; k < await lines.locator("option").count(); k++) await lines.selectOption({index: k});
  }
  const frontTitle = page.locator("#front figcaption b"), before = await frontTitle.innerText();
  await page.locator("#frontx").selectOption({index: 3});
  if (await frontTitle.innerText() === before) wrong("the axis of the front does not change");

  const values = () => page.locator("#cells tbody tr td:last-of-type").count();
  const rows = await values(), column = page.locator("#cells thead button").nth(1);
  const numbers = () => page.locator("#cells tbody tr").evaluateAll(list => list.map(r => +r.cells[1].dataset.v));
  await column.click();
  await column.click();
  const sorted = await numbers();
  if (sorted.some((v, i) => i && v > sorted[i - 1])) wrong(`not sorted downwards: ${sorted}`);
  if (await values() !== rows) wrong("sorting loses rows");
  const links = await page.locator("#cells a").evaluateAll(list => list.map(a => a.getAttribute("href")));
  if (!links.length || links.some(l => /^[a-z]+:|^\//i.test(l))) wrong(`links are not relative: ${links}`);
  await page.screenshot({path: `${out}/${name}-used.png`, fullPage: true});
  await page.locator("#theme").click();
  if (await page.evaluate(() => document.documentElement.dataset.theme) !== "dark") wrong("the theme does not change");
}

await browser.close();
for (const f of failures) console.error(f);
console.log(failures.length ? `${failures.length} failures` : "all reports pass");
process.exit(failures.length ? 1 : 0);
