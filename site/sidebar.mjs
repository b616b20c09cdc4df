import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES } from './where.mjs';

/** The pages by task, under names that are shorter than their titles. */
export const GROUPS = {
  Start: [
    ['start', 'From nothing to a first row'],
    ['symptoms', 'Nothing arrives?'],
    ['frameworks', 'Frameworks'],
    ['recipes', 'Tag managers and sites'],
  ],
  Use: [
    ['usage', 'Calls'],
    ['tag', 'The script tag'],
    ['capture', 'Auto-capture'],
    ['context', 'Context and identity'],
    ['consent', 'Consent'],
    ['gpc', 'Global Privacy Control'],
    ['inspector', 'Inspector'],
    ['testing-your-site', 'Testing your site'],
    ['beside-other-tools', 'Beside other tools'],
  ],
  Server: [
    ['server', 'Run it'],
    ['server-answers', 'What it answers'],
    ['server-scale', 'Proxies and growth'],
    ['notifications', 'Notifications'],
    ['server-options', 'Its options'],
    ['export', 'Export'],
    ['numbers', 'See numbers'],
    ['growth', 'From one machine to many'],
    ['services', 'Other services'],
    ['cors', 'CORS and answers'],
  ],
  Trust: [
    ['limits', 'Promise and limits'],
    ['privacy', 'Privacy'],
    ['server-security', 'What the server protects'],
    ['size', 'Size and browsers'],
  ],
  Reference: [
    ['options', 'Options, methods, events'],
    ['status', 'Status and reasons'],
    ['messages', 'Messages'],
    ['waits', 'All waits'],
    ['wire', 'The wire (OpenAPI)'],
    ['api/index', 'API from the types'],
  ],
};

const titleOf = (name) => /^# (.+)$/m.exec(readFileSync(join(PAGES, `${name}.md`), 'utf8'))[1];

/** For those who come from another tool; a page for each tool that has one, under its own title. */
const moves = () =>
  readdirSync(PAGES)
    .map((file) => file.replace(/\.md$/, ''))
    .filter((name) => /^(migration|migration-.+)$/.test(name))
    .sort((a, b) => (b === 'migration') - (a === 'migration') || a.localeCompare(b))
    .map((name) => [name, titleOf(name)]);

/** A page for each entry of the package. */
const entries = () =>
  readdirSync(join(PAGES, 'api'))
    .map((file) => `api/${file.replace(/\.md$/, '')}`)
    .filter((name) => name !== 'api/index')
    .sort()
    .map((name) => ({ text: titleOf(name).replace('analytics-outbox/', ''), link: `/${name}` }));

const toItem = ([name, text]) => ({
  ...{ text, link: `/${name}` },
  ...(name === 'api/index' && { collapsed: true, items: entries() }),
});

export const readSidebar = () =>
  Object.entries({ ...GROUPS, 'Move here': moves() }).map(([text, pages]) => ({
    text,
    // The one with the page that is open is unfolded.
    collapsed: text !== 'Start',
    items: pages.map(toItem),
  }));
