import { expect, it } from 'vitest';
import { h } from '../../../src/dev/inspector/dom.js';
import { apart, TEXT } from '../../../src/dev/inspector/apart.js';

const bdi = (text: string) => h('bdi', {}, text);

it('sets names and texts apart, and nothing else', () => {
  const parts = apart('{ "مفتاح": "قيمة \\"א\\"", "plan": ["pro", 1] }', TEXT, 'bdi');
  expect(parts.filter((part) => part !== '')).toEqual([
    '{ ',
    bdi('"مفتاح"'),
    ': ',
    bdi('"قيمة \\"א\\""'),
    ', ',
    bdi('"plan"'),
    ': [',
    bdi('"pro"'),
    ', 1] }',
  ]);
});

it('shows as code what stands in backticks', () => {
  expect(apart('leave out `respectGpc`.')).toEqual([
    'leave out ',
    h('code', {}, 'respectGpc'),
    '.',
  ]);
});
