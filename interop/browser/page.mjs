// What the checks of pages share: a browser, the views in which a page is looked at, and what is wrong with any page.
import {chromium} from "playwright-core";

export const launch = executablePath => chromium.launch({executablePath, args: ["--no-sandbox", "--disable-gpu"]});

// open opens an empty page in a view. All that a page must not do is reported: messages, errors, dialogs, requests that
// allowed does not allow.
export async function open(browser, view, wrong, allowed) {
  const context = await browser.newContext({
    viewport: {width: view.width, height: view.height}, colorScheme: view.colorScheme,
    deviceScaleFactor: view.deviceScaleFactor ?? 1, isMobile: view.isMobile ?? false, hasTouch: view.hasTouch ?? false,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a busy machine draws slowly
  page.on("console", m => wrong(`console ${m.type()}: ${m.text()}`));
  page.on("pageerror", e => wrong(`error: ${e.message}`));
  page.on("dialog", d => { wrong(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", r => { if (!allowed(r.url())) wrong(`request of ${r.url()}`); });
  return page;
}

// inspect reports what no page may have, and returns its numbers of figures, charts and canvases. A live page has a while
// for its charts: one with a single point has no line yet.
export async function inspect(page, wrong) {
  let seen = await numbers(page);
  for (let i = 0; i < 40 && seen.blank.length; i++) {
    await page.waitForTimeout(250);
    seen = await numbers(page);
  }
  if (seen.scrollWidth > seen.clientWidth) wrong(`the page is ${seen.scrollWidth} pixels wide in a window of ${seen.clientWidth}`);
  if (seen.blank.length) wrong(`blank charts: ${seen.blank}`);
  if (seen.unnamed) wrong(`${seen.unnamed} regions without a name`);
  if (seen.ids.length) wrong(`ids used twice: ${seen.ids}`);
  if (!seen.policy.startsWith("default-src 'none'")) wrong(`policy ${seen.policy}`);
  return seen;
}

// numbers is what a page has at one time.
function numbers(page) {
  return page.evaluate(() => {
    // Lines are coloured, axes are grey: a chart without a line has next to no colour.
    const inked = c => {
      // Reading the canvas itself slows it down, of which the browser warns.
      const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", {willReadFrequently: true});
      copy.drawImage(c, 0, 0);
      const {data} = copy.getImageData(0, 0, c.width, c.height);
      let n = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 100 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60) n++;
      return n;
    };
    const shown = list => [...document.querySelectorAll(list)].filter(e => e.checkVisibility());
    const canvases = shown("canvas");
    return {
      drawn: +document.documentElement.dataset.drawn, figures: shown("figure").length, canvases: canvases.length,
      blank: canvases.filter(c => inked(c) < 8).map(c => c.closest("figure").id),
      scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth,
      unnamed: [...document.querySelectorAll("[role=img],[role=region],[role=group]")].filter(e => !e.getAttribute("aria-label")).length,
      ids: [...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i),
      policy: document.querySelector("meta[http-equiv]").content,
    };
  });
}
