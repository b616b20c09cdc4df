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
    ['migration', 'From another tool'],
  ],
  Use: [
    ['usage', 'Calls'],
    ['tag', 'The script tag'],
    ['capture', 'Auto-capture'],
    ['context', 'Context and identity'],
    ['consent', 'Consent'],
    ['inspector', 'Inspector'],
    ['testing-your-site', 'Testing your site'],
    ['beside-other-tools', 'Beside other tools'],
  ],
  Server: [
    ['server', 'Self-host it'],
    ['relay', 'Do I need a relay?'],
    ['proxy', 'Behind nginx or Caddy'],
    ['send-from-a-server', 'Send from a server'],
    ['server-answers', 'What it answers'],
    ['one-user', 'One user: show, export, erase'],
    ['server-scale', 'Postgres, and passing on'],
    ['server-options', 'Its options'],
    ['export', 'Export'],
    ['notifications', 'Notifications'],
    ['numbers', 'See numbers'],
    ['growth', 'From one machine to many'],
    ['services', 'A service of your own'],
  ],
  Trust: [
    ['limits', 'Promise and limits'],
    ['promise', 'Tried in real browsers'],
    ['privacy', 'Privacy'],
    ['server-security', 'What the server protects'],
    ['size', 'Size and browsers'],
  ],
  Reference: [
    ['options', 'Options, methods, events'],
    ['status', 'Status and reasons'],
    ['messages', 'Messages'],
    ['wire', 'The wire (OpenAPI)'],
    ['api/index', 'API from the types'],
  ],
};

/** The entries of the package by who imports them. The first pattern that fits counts. */
export const ENTRY_GROUPS = [
  ['Calls of other tools', /\/compat\//],
  ['For a server', /\/(relay|service)(\/|$)/],
  ['For a page', /(?:)/],
];

/** @param {string} name of an entry, such as `analytics-outbox/relay` */
export const entryGroupOf = (name) => ENTRY_GROUPS.find(([, pattern]) => pattern.test(name))[0];

const titleOf = (name) => /^# (.+)$/m.exec(readFileSync(join(PAGES, `${name}.md`), 'utf8'))[1];

/** A page for each entry of the package, by group. */
const entries = () => {
  const pages = readdirSync(join(PAGES, 'api'))
    .map((file) => `api/${file.replace(/\.md$/, '')}`)
    .filter((name) => name !== 'api/index')
    .map((name) => ({ name, title: titleOf(name) }))
    .sort((a, b) => a.title.localeCompare(b.title));
  return ENTRY_GROUPS.toReversed().map(([text]) => ({
    text,
    items: pages
      .filter(({ title }) => entryGroupOf(title) === text)
      .map(({ name, title }) => ({
        text: title.replace('analytics-outbox/', ''),
        link: `/${name}`,
      })),
  }));
};

const toItem = ([name, text]) => ({
  ...{ text, link: `/${name}` },
  ...(name === 'api/index' && { collapsed: true, items: entries() }),
});

export const readSidebar = () =>
  Object.entries(GROUPS).map(([text, pages]) => ({
    text,
    // The one with the page that is open is unfolded.
    collapsed: text !== 'Start',
    items: pages.map(toItem),
  }));
