import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { marked, type Token } from 'marked';
import { describe, expect, it } from 'vitest';
import { runService, TOKEN } from '../server/support/run-service.js';
import { incomingEvent } from '../server/support/incoming.js';
import { ODD, requestOf, withOddNames } from '../support/curl.js';
import { tempFolder } from '../support/temp-folder.js';

const SITE = new URL('../../site/', import.meta.url);
const DOCS = new URL('../../docs/', import.meta.url);

/** The modules of the site are plain JavaScript. They need its packages only to build. */
const load = async <T>(name: string) => (await import(new URL(name, SITE).href)) as T;
const { GROUPS } = await load<{ GROUPS: Record<string, [string, string?][]> }>('sidebar.mjs');
const { collectPages, withLinks } = await load<{
  collectPages: (pages: string) => void;
  withLinks: (page: string) => string;
}>('collect-pages.mjs');
const { writeWire } = await load<{ writeWire: (pages: string) => Promise<void> }>('write-wire.mjs');
const { SEARCHES } = await load<{ SEARCHES: Record<string, string[]> }>('searches.mjs');
const { ALSO_CALLED } = await load<{ ALSO_CALLED: Record<string, string> }>('search.mjs');
const { slugify } = await load<{ slugify: (heading: string) => string }>('slugify.mjs');
const { withTabs } = await load<{ withTabs: (page: string) => string }>('tabs.mjs');

const MADE = ['wire', 'api/index'];
const pages = readdirSync(DOCS).filter((name) => name.endsWith('.md'));
const inGroups = Object.values(GROUPS).flatMap((group) => group.map(([name]) => name));

describe('the site', () => {
  it('leads to every page, once', () => {
    const named = inGroups.filter((name) => !MADE.includes(name)).map((name) => `${name}.md`);
    expect(named.sort()).toEqual([...pages].sort());
  });

  it('looks for each search among pages that there are', () => {
    const wanted = [...Object.values(SEARCHES).flat(), ...Object.keys(ALSO_CALLED)];
    expect(wanted.length).toBeGreaterThan(60);
    expect(wanted.filter((name) => !inGroups.includes(name))).toEqual([]);
  });

  it('leads from a link that leaves the site to the repository, and from a link to a page to that page', () => {
    const repository = 'https://github.com/analytics-outbox/analytics-outbox/blob/main';
    expect(withLinks('[a](usage.md#log-out) [b](#here) [c](https://x.example/y.md)')).toBe(
      '[a](usage.md#log-out) [b](#here) [c](https://x.example/y.md)',
    );
    expect(withLinks('[a](../README.md#npm) [b](../SECURITY.md)')).toBe(
      `[a](${repository}/README.md#npm) [b](${repository}/SECURITY.md)`,
    );
    expect(withLinks(`[a](${repository}/docs/usage.md) [b](${repository}/docs/gone.md)`)).toBe(
      `[a](usage.md) [b](${repository}/docs/gone.md)`,
    );
  });

  it('shows each section between two comments as a tab', () => {
    const page =
      'Before\n\n<!-- tabs -->\n\n### One\n\na\n\n### "Two"\n\nb\n\n<!-- /tabs -->\n\nAfter\n';
    const shown = withTabs(page);
    expect(shown).toContain(':names="[&quot;One&quot;,&quot;\\&quot;Two\\&quot;&quot;]"');
    expect(shown.match(/<template #tab-\d>\n\n### /g)).toHaveLength(2);
    expect(shown).toMatch(/^Before\n[^]+<\/PageTabs>\n\nAfter\n$/);
  });

  it('finds the tabs of a page, one for each section', () => {
    const page = readFileSync(new URL('beside-other-tools.md', DOCS), 'utf8');
    const [, inside] = /<!-- tabs -->([^]*)<!-- \/tabs -->/.exec(page)!;
    const sections = inside!.match(/^### /gm)!;
    expect(withTabs(page).match(/<template #tab-/g)).toHaveLength(sections.length);
  });
});

/** What VitePress builds the site from, but for the pages that TypeDoc makes of the types. */
const makePages = async (): Promise<{ folder: string; tokens: Map<string, Token[]> }> => {
  const folder = join(tempFolder(), 'pages');
  collectPages(folder);
  await writeWire(folder);
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const tokensOf = (name: string): Token[] => {
    const all: Token[] = [];
    void marked.walkTokens(marked.lexer(readFileSync(join(folder, name), 'utf8')), (token) => {
      all.push(token);
    });
    return all;
  };
  return { folder, tokens: new Map(names.map((name) => [name, tokensOf(name)])) };
};

describe('the pages that the site is built from', () => {
  const anchorsOf = (tokens: Token[]): string[] =>
    tokens.flatMap((token) =>
      token.type === 'heading' ? [slugify((token.text as string).replaceAll('`', ''))] : [],
    );

  it('have no dead link, as VitePress finds them: an address of this machine, a page or a heading that is not there', async () => {
    const { folder, tokens } = await makePages();
    const isDead = (link: string, from: string): boolean => {
      if (/^https?:/.test(link)) return new URL(link).hostname === 'localhost';
      const [path, anchor] = link.split('#');
      const name = path || from;
      // An anchor in a page of TypeDoc is looked for in the built site.
      if (name.startsWith('api/')) return false;
      const anchors = anchorsOf(tokens.get(name) ?? []);
      return !existsSync(join(folder, name)) || (!!anchor && !anchors.includes(anchor));
    };
    const links = [...tokens].flatMap(([name, all]) =>
      all.flatMap((token) => (token.type === 'link' ? [[name, token.href as string]] : [])),
    );
    expect(links.length).toBeGreaterThan(300);
    expect(links.filter(([name, link]) => isDead(link!, name!))).toEqual([]);
  });

  it('have outside of code nothing that Vue takes for its own', async () => {
    const { tokens } = await makePages();
    const known = /^<\/?(a|b|br|div|em|img|kbd|picture|source|sub|sup|template|PageTabs)\b|^<!--/;
    const wrong = [...tokens].flatMap(([name, all]) =>
      all.flatMap(({ type, raw }) => {
        if (type === 'html')
          return (raw.match(/<[!/\w][^>]*/g) ?? []).filter((tag) => !known.test(tag));
        return type === 'text' && raw.includes('{{') ? [`${name}: ${raw}`] : [];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('have the document of the service, and each of its operations', async () => {
    const { folder } = await makePages();
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    const { paths } = JSON.parse(read('public/openapi.json')) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `### ${method.toUpperCase()} \`${path}\``),
    );
    expect(operations.length).toBeGreaterThan(5);
    const page = read('wire.md');
    expect(operations.filter((heading) => !page.includes(heading))).toEqual([]);
  });

  it('have for each operation a command that the service takes', async () => {
    const { folder } = await makePages();
    const page = readFileSync(join(folder, 'wire.md'), 'utf8');
    const { send, store } = runService({ page: () => ({ type: 'text/javascript', body: '' }) });
    const commands = [...page.matchAll(/^```sh\n(curl [^]*?)^```$/gm)].map(([, text]) => text!);
    expect(commands).toHaveLength(page.match(/^### (GET|POST|PUT|DELETE) /gm)!.length);
    const answers = commands.map(async (command) => {
      const { status } = await send(...requestOf(command, TOKEN));
      return `${command.split('\n')[0]} ${status}`;
    });
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/ 200$/);
    // Those that delete, with names that have each sign of an address in them.
    const deletions = commands.filter((command) => command.includes('-X DELETE'));
    expect(deletions).toHaveLength(2);
    for (const command of deletions) {
      await store.write([incomingEvent({ id: command }, { project: ODD, user_id: ODD })]);
      const response = await send(...requestOf(withOddNames(command), TOKEN));
      expect(await response.text()).toMatch(/"(deleted|rows)":[1-9]/);
    }
  });
});
