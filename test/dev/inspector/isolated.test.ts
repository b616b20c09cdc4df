import { expect, it } from 'vitest';
import { h } from '../../../src/dev/inspector/dom.js';
import { isolated } from '../../../src/dev/inspector/isolated.js';

const bdi = (text: string) => h('bdi', {}, text);

it('sets names and texts apart, and nothing else', () => {
  const parts = isolated('{ "مفتاح": "قيمة \\"א\\"", "plan": ["pro", 1] }');
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
