import { expect, it } from 'vitest';
import { callCode } from '../../../../demo/page/views/call-code';

it('writes a call the way one would', () => {
  const fields = { icon: '🎉', tags: { 'a b': [1, null], plan: "pro's" }, timestamp: new Date(0) };
  expect(callCode('event', ['Say "hi"', fields])).toBe(`analytics.event('Say "hi"', {
  icon: '🎉',
  tags: {
    'a b': [1, null],
    plan: 'pro\\'s',
  },
  timestamp: new Date('1970-01-01T00:00:00.000Z'),
})`);
});

it('is JavaScript that means the same', () => {
  const value = { a: 'back\\slash "quoted" \'single\'\n', b: { c: [true, 1.5, {}] }, 'd-e': null };
  const run = new Function('analytics', `return ${callCode('event', ['n', value])}`);
  expect(run({ event: (...args: unknown[]) => args })).toEqual(['n', value]);
});
