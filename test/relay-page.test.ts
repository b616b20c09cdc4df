import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { RECIPES as RUN } from '../packed/support/recipes.js';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const mountPage = read('docs/relay-mount.md');
const optionsPage = read('docs/relay-options.md');
const operatePage = read('docs/relay-operate.md');
const queuePage = read('docs/relay-queue.md');

const RECIPES: readonly (readonly [file: string, language: string])[] = [
  ['node-hono/server.js', 'js'],
  ['node-express/server.js', 'js'],
  ['next-app/app/a/[...path]/route.ts', 'ts'],
  ['cloudflare-worker/worker.js', 'js'],
  ['cloudflare-worker/wrangler.json', 'json'],
  ['cloudflare-queue/worker.js', 'js'],
  ['cloudflare-queue/wrangler.json', 'json'],
  ['deno/main.ts', 'ts'],
  ['bun/server.ts', 'ts'],
  ['nginx/server.js', 'js'],
  ['nginx/relay.conf', 'nginx'],
];
const MOST_LINES = 40;

describe('the page about mounting a relay', () => {
  it.each(RECIPES)('shows %s as it is run', (file, language) => {
    const source = read(
      `${file.startsWith('next-app/') ? 'demo/examples' : 'packed/recipes'}/${file}`,
    );
    expect(mountPage).toContain(`\`\`\`${language}\n${source}\`\`\`\n`);
    expect(source.trim().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
  });

  it('has every recipe that is run', () => {
    const shown = new Set(RECIPES.map(([file]) => file.split('/')[0]));
    expect(Object.keys(RUN).sort()).toEqual([...shown].sort());
  });
});

/** The rows of the table under a heading, as text without backticks. */
const tableUnder = (page: string, heading: string): string[][] => {
  const lines = page.split(`\n## ${heading}\n`)[1]!.split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines.slice(start + 2, start + length).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
};

const sourceOf = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);

const declared = (file: string, name: string): ts.Node =>
  sourceOf(file).statements.find(
    (node) =>
      (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) &&
      node.name.text === name,
  )!;

const membersOf = (file: string, name: string): readonly ts.TypeElement[] =>
  (declared(file, name) as ts.InterfaceDeclaration).members;

const defaultOf = (member: ts.TypeElement): string => {
  if (!member.questionToken) return 'required';
  const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default');
  return ts.getTextOfJSDocComment(tag?.comment)?.trim() ?? 'none';
};

/** Name and default of each option, by name. Where a name comes twice the first counts. */
const optionsOf = (...members: readonly ts.TypeElement[]): string[][] => {
  const defaults = new Map<string, string>();
  for (const member of members) {
    const name = member.name!.getText();
    if (!defaults.has(name)) defaults.set(name, defaultOf(member));
  }
  return [...defaults].sort();
};
const HOOKS = membersOf('src/relay/hooks.ts', 'HooksOf');

describe('its tables', () => {
  it('have every option with its default', () => {
    const rows = tableUnder(optionsPage, 'Options').map(([name, value]) => [name, value]);
    const own = membersOf('src/relay/front/relay-options.ts', 'RelayOptions');
    expect(rows.sort()).toEqual(
      optionsOf(
        ...own,
        ...membersOf('src/relay/front/admission.ts', 'AdmissionOptions'),
        ...membersOf('src/relay/front/client.ts', 'ClientOptions'),
        ...membersOf('src/relay/delivery/delivery.ts', 'DeliveryOptions'),
        ...membersOf('src/relay/delivery/upstream.ts', 'UpstreamOptions'),
        ...HOOKS,
      ),
    );
  });

  it('have every option of a consumer with its default', () => {
    const rows = tableUnder(queuePage, 'Options of a consumer').map(([name, value]) => [
      name,
      value,
    ]);
    const own = membersOf('src/relay/delivery/consumer.ts', 'ConsumerOptions');
    expect(rows.sort()).toEqual(optionsOf(...own, ...HOOKS));
  });

  it('have no metric that the relay does not tell', () => {
    const told = declared('src/relay/hooks.ts', 'RelayMetric').getText();
    const names = tableUnder(operatePage, 'What to alert on').map(([name]) => name);
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(told).toContain(`'${name}'`);
  });
});
