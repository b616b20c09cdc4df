import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compile } from './support/compile.js';

const MARK = '// @ts-expect-error ';

// That what is right compiles, and what is wrong does not, is part of each build.
describe('the types of calls', () => {
  it('refuse each wrong call by itself, and name what is misspelt', () => {
    const lines = readFileSync(new URL('types/calls.ts', import.meta.url), 'utf8').split('\n');
    const marked = lines.flatMap((line, i) => (line.includes(MARK) ? [i + 1] : []));
    expect(marked.length).toBeGreaterThan(30);
    const unmarked = lines.map((line) => line.replace(MARK, '// ')).join('\n');
    const config = { extends: '../../tsconfig.json', include: ['.'] };
    const problems = compile('types', { 'calls.ts': unmarked }, config);
    expect([...new Set(problems.map(({ line }) => line - 1))].sort((a, b) => a - b)).toEqual(
      marked,
    );
    const messages = problems.map(({ message }) => message).join('\n');
    // What is misspelt is said to be so, and not that an argument is missing.
    expect(messages).toMatch(
      /'"Odrer Placed"' is not assignable to parameter of type '"Order Placed"'/,
    );
    for (const word of ['"Singed Up"', "'seat'", "'fitler'", "'saets'", "'fliter'", "'flushat'"]) {
      expect(messages).toContain(word);
    }
  });
});
