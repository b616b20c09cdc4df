/** What is true of an engine in all rows. */
export const ENGINE_LIMITS = [
  'Chromium and Firefox are driven by Playwright, headless, each page in the foreground. What hides a page is leaving it or closing it.',
  'A driven Chromium neither prerenders nor discards. Those two rows run in one that no protocol drives, headless, whose pages carry a script that asks the site what to do; the tab is discarded by an extension.',
  'A driven Firefox does not survive the death of its pages’ process for long: the next visit is in a browser started anew.',
  'WebKitGTK is MiniBrowser without WebDriver, on a screen that nobody sees, since a driven one forgets its storage as it ends. Its pages carry a script that asks the site what to do. Tabs are opened by script. Console lines are read from its output; requests to other places than site and service would not be seen.',
  'WebKitGTK cannot be taken offline: `navigator.onLine` and its events are pretended, and the service is stopped meanwhile. It does not load a page again whose process has died: the next visit is in a browser started anew. Quitting it is SIGTERM.',
  'Only Chromium tells which script held up a frame. In the others own tasks are not told.',
];
