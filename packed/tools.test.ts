/** The tools of users load the package: each finds in its entries what plain Node finds. */
import { describe, expect, it } from 'vitest';
import { ENTRIES } from './support/entries.js';
import { NIGHT } from './support/install.js';
import { BROWSER_TOOLS, loadInNode, NIGHTLY_TOOLS, TOOLS } from './support/tools.js';

const BROWSER_ENTRIES = ENTRIES.filter((name) => !/\/(relay|service)(\/|$)/.test(name));
/** What bundlers and a page's tests load, too. The service runs on a server, beside what it asks for. */
const ELSEWHERE_ENTRIES = ENTRIES.filter((name) => !/\/service(\/|$)/.test(name));

describe('the entries are the same', () => {
  for (const [name, load] of Object.entries({ ...TOOLS, ...(NIGHT && NIGHTLY_TOOLS) })) {
    const names = / for Node$|jsdom$/.test(name) ? ELSEWHERE_ENTRIES : ENTRIES;
    it(`in ${name}`, () => expect(load(names)).toEqual(loadInNode(names)));
  }
  for (const [name, load] of Object.entries(NIGHT ? BROWSER_TOOLS : {}))
    it(`in ${name}`, () => expect(load(BROWSER_ENTRIES)).toEqual(loadInNode(BROWSER_ENTRIES)));
});
