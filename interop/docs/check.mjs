// Opens pages of the site in light, dark and on a phone: nothing may be wider than the window or load from elsewhere, and
// the search finds a page. Usage: check.mjs CHROMIUM URL FOLDER
import {mkdirSync} from "node:fs";
import {launch, open} from "./page.mjs";

const [chromium, url, shots] = process.argv.slice(2);
mkdirSync(shots, {recursive: true});
const browser = await launch(chromium);
const faults = [];
const views = [
  {name: "light", width: 1280, height: 900, colorScheme: "light"},
  {name: "dark", width: 1280, height: 900, colorScheme: "dark"},
  {name: "phone", width: 390, height: 844, colorScheme: "light", isMobile: true, hasTouch: true, deviceScaleFactor: 2},
];
for (const view of views) {
  for (const name of ["index", "recipes", "from-vllm-bench", "metrics"]) {
    const wrong = text => faults.push(`${name}, ${view.name}: ${text}`);
    const page = await open(browser, view, wrong, address => address.startsWith(url) || address.startsWith("data:"));
    await page.goto(`${url}/${name}.html`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > view.width) wrong(`${width} pixels wide in a window of ${view.width}`);
    const dark = await page.evaluate(() => getComputedStyle(document.body).getPropertyValue("--md-default-bg-color").trim());
    if ((dark === "#10141b") !== (view.colorScheme === "dark")) wrong(`the background is ${dark}`);
    await page.screenshot({path: `${shots}/${name}-${view.name}.png`});
    await page.context().close();
  }
}
const wrong = text => faults.push(`search: ${text}`);
const page = await open(browser, views[0], wrong, address => address.startsWith(url) || address.startsWith("data:"));
await page.goto(`${url}/index.html`);
await page.fill("[data-md-component=search-query]", "prefill concurrency");
await page.waitForSelector(".md-search-result__link");
await page.screenshot({path: `${shots}/search.png`});
await browser.close();
if (faults.length) {
  console.error(faults.join("\n"));
  process.exit(1);
}
console.log(`${views.length} views, and the search`);
