import { expect, it } from 'vitest';
import { dropText, refusalsOf, slipsOf } from '../../src/dev/calls.js';
import { resolveOptions } from '../../src/client/options.js';
import { recordOf, type Call } from '../../src/client/record.js';

const SETTINGS = resolveOptions(
  { baseUrl: 'https://in.example.com', token: 't', project: 'p', channel: 'c' },
  '',
  true,
);

const callOf = (given: unknown, type: Call['type'] = 'event'): Call => ({
  ...{ type, at: 0, subject: 'a', given, more: [undefined] },
});

// The words of most are in the folder `mistakes`.
it.each<[what: string, call: Call, slips: string[]]>([
  [
    'each misspelt field',
    callOf({ descripton: 'd', tag: 1, time_stamp: 5, tabs: 2 }),
    [
      '`descripton` of `a` is sent as a tag: did you mean `description`?',
      '`tag` of `a` is sent as a tag: did you mean `tags`?',
      '`time_stamp` of `a` is sent as a tag: did you mean `timestamp`?',
    ],
  ],
  ['no right field', callOf({ icon: 'x', userId: 'u', timestamp: new Date(), plan: 'pro' }), []],
  ['no property', callOf({ descripton: 'd', timestamp: 5 }, 'identify'), []],
  ['not of the same user twice', callOf({ userId: 'u', user_id: 'u' }), []],
  ['not of the wire name alone', callOf({ user_id: 'u' }), []],
])('tells of the slips of a call: %s', (_, call, slips) => {
  expect(slipsOf(call)).toEqual(slips);
});

it('tells of each field of another type, which the service will refuse, and of no other', () => {
  const refusals = (given: object) =>
    refusalsOf(recordOf(callOf(given), SETTINGS, undefined, new Set()));
  expect(refusals({ channel: 1, description: null, icon: 'x', notify: 'yes' })).toEqual([
    '`channel` of event "a" must be a string, or it is refused',
    '`description` of event "a" must be a string, or it is refused',
    '`notify` of event "a" must be a boolean, or it is refused',
  ]);
  expect(refusals({})).toEqual([]);
  expect(refusals({ channel: 'c', description: 'd', icon: 'x', notify: true })).toEqual([]);
});

it('says nothing of what the page itself has dropped', () => {
  expect(dropText({ reason: 'consent-denied', message: '' }, undefined)).toBeUndefined();
});
