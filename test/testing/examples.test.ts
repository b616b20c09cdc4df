import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Compiled and run by `e2e/testing.spec.ts`. */
const FOLDER = new URL('../../e2e/fixtures/testing/', import.meta.url);
const page = readFileSync(new URL('../../docs/testing-your-site.md', import.meta.url), 'utf8');

const examples = readdirSync(FOLDER).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.config.ts'),
);

it.each(examples)('the page about tests shows %s as it is run', (name) => {
  expect(page).toContain(`\`\`\`ts\n${readFileSync(new URL(name, FOLDER), 'utf8')}\`\`\`\n`);
});

it('the page about tests shows nothing else', () => {
  expect(page.match(/^```\w/gm)).toHaveLength(examples.length);
});
