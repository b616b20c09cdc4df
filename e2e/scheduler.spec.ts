import { names } from './support/names.js';
import { test } from './support/test.js';
import { track } from './support/track.js';

/** What scripts of other people put in the place of the browser's own. */
const FOREIGN: Record<string, string> = {
  'returns nothing': '(callback) => void setTimeout(callback)',
  'returns a thenable': '(callback) => ({ then: (done) => setTimeout(() => done(callback())) })',
  throws: "() => { throw new Error('no priorities'); }",
  'is no function': 'true',
};

for (const [name, postTask] of Object.entries(FOREIGN)) {
  test(`delivers on a page whose scheduler.postTask ${name}`, async ({ page, service, site }) => {
    const head = `<script>
  Object.defineProperty(window, 'scheduler', { value: { postTask: ${postTask} } });
</script>`;
    await page.goto(site.page('/', site.tagged({}, { head })));
    await track(page, names(3));
    // A page error would fail the test, too.
    await service.holds({ events: names(3) }, { pages: [page] });
  });
}
