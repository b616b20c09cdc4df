import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const SITE = new URL('../../site/', import.meta.url);
const DOCS = new URL('../../docs/', import.meta.url);

/** The modules of the site are plain JavaScript. They need its packages only to build. */
const load = async <T>(name: string) => (await import(new URL(name, SITE).href)) as T;
const { GROUPS } = await load<{ GROUPS: Record<string, [string, string?][]> }>('sidebar.mjs');
const { withLinks } = await load<{ withLinks: (page: string) => string }>('collect-pages.mjs');
const { withTabs } = await load<{ withTabs: (page: string) => string }>('tabs.mjs');

/** Linked from the page about the promise, and those that each tool has of its own. */
const BESIDE = /^(promise|measured|migration|migration-.+)\.md$/;
const MADE = ['wire', 'api/index'];
const pages = readdirSync(DOCS).filter((name) => name.endsWith('.md'));
const inGroups = Object.values(GROUPS).flatMap((group) => group.map(([name]) => name));

describe('the site', () => {
  it('leads to every page, once', () => {
    const wanted = pages.filter((name) => !BESIDE.test(name));
    const named = inGroups.filter((name) => !MADE.includes(name)).map((name) => `${name}.md`);
    expect(named.sort()).toEqual(wanted.sort());
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

  it('finds tabs on the page about mounting a relay, one for each recipe', () => {
    const page = readFileSync(new URL('relay-mount.md', DOCS), 'utf8');
    const [, recipes] = page.split('\n## Recipes\n');
    const sections = recipes!.split(/^## /m)[0]!.match(/^### /gm)!;
    expect(withTabs(page).match(/<template #tab-/g)).toHaveLength(sections.length);
  });
});
