import { describe, expect, it } from 'vitest';
import { dropText, refusalsOf, slipsOf } from '../../src/dev/calls.js';
import { resolveOptions, type Settings } from '../../src/client/options.js';
import { recordOf, type Call, type Refusal } from '../../src/client/record.js';

const SETTINGS: Settings = resolveOptions(
  { baseUrl: 'https://in.example.com', token: 't', project: 'p', channel: 'c' },
  '',
  true,
);

const event = (subject: unknown, given: unknown, ...more: unknown[]): Call => ({
  type: 'event',
  at: 0,
  subject,
  given,
  more,
});
const identify = (subject: unknown, given?: unknown): Call => ({
  type: 'identify',
  at: 0,
  subject,
  given,
});

/** What a developer is told if the tracker drops the call. */
const told = (call: Call, settings: Partial<Settings> = {}): string | undefined => {
  try {
    recordOf(call, { ...SETTINGS, ...settings } as Settings, undefined);
    return undefined;
  } catch (error) {
    const { reason = 'not-serializable', message } = error as Refusal;
    return dropText({ reason, message }, call);
  }
};

const cyclic = () => {
  const list: unknown[] = [1];
  list.push({ list });
  return list;
};

// The words of most are in the folder `mistakes`.
describe('what a developer is told of a dropped call', () => {
  const DROPPED: Record<string, [call: Call, words: string]> = {
    'with a BigInt in a list': [
      event('Order Placed', { items: [{ price: 1 }, { price: 2n }] }),
      '(not-serializable): `items.1.price` of `Order Placed`: BigInt: give what JSON can hold',
    ],
    'with a circle': [
      event('a', { ok: 1, deep: { list: cyclic() } }),
      '(not-serializable): `deep.list.1.list` of `a`: it contains itself: give what JSON can hold',
    ],
    'with a `toJSON` that throws': [
      event('a', {
        when: {
          toJSON: () => {
            throw new Error('no time');
          },
        },
      }),
      '(not-serializable): `when` of `a`: no time: give what JSON can hold',
    ],
    'for no user': [
      event('a', { userId: '' }),
      '(invalid-call): `a`: wrong userId: give a text or a number',
    ],
  };

  for (const [which, [call, words]] of Object.entries(DROPPED)) {
    it(`names it: one ${which}`, () => {
      expect(told(call)).toBe(`a call was dropped ${words}`);
    });
  }

  it('is what an async `beforeSend` must do', () => {
    const beforeSend = (async () => null) as unknown as NonNullable<Settings['beforeSend']>;
    expect(told(event('a', {}), { beforeSend })).toMatch(
      /\(before-send-error\): `a`: .+: `beforeSend` must return the draft or null, at once$/,
    );
  });

  it('is nothing where the page itself has dropped it', () => {
    const beforeSend = () => null;
    expect(told(event('a', {}), { beforeSend })).toBeUndefined();
    expect(dropText({ reason: 'consent-denied', message: '' }, undefined)).toBeUndefined();
  });
});

describe('what a developer is told of a slip', () => {
  const SLIPS: Record<string, [call: Call, slips: string[]]> = {
    'none of a right call': [
      event('a', { icon: 'x', userId: 'u', timestamp: new Date(), plan: 'pro' }, undefined),
      [],
    ],
    'each misspelt field': [
      event('a', { descripton: 'd', tag: 1, time_stamp: 5, tabs: 2 }),
      [
        '`descripton` of `a` is sent as a tag: did you mean `description`?',
        '`tag` of `a` is sent as a tag: did you mean `tags`?',
        '`time_stamp` of `a` is sent as a tag: did you mean `timestamp`?',
      ],
    ],
    'none of properties': [identify('u', { descripton: 'd', timestamp: 5 }), []],
    'none of the same user twice': [event('a', { userId: 'u', user_id: 'u' }), []],
    'none of the wire name alone': [event('a', { user_id: 'u' }), []],
  };

  for (const [what, [call, slips]] of Object.entries(SLIPS)) {
    it(`is ${what}`, () => expect(slipsOf(call)).toEqual(slips));
  }
});

describe('what a developer is told that the service will refuse', () => {
  it('is each field of another type', () => {
    const given = { channel: 1, description: null, icon: 'x', notify: 'yes' };
    expect(refusalsOf(recordOf(event('a', given), SETTINGS, undefined))).toEqual([
      '`channel` of event "a" must be a string, or it is refused',
      '`description` of event "a" must be a string, or it is refused',
      '`notify` of event "a" must be a boolean, or it is refused',
    ]);
  });

  it('is nothing of right fields, or of those left out', () => {
    for (const given of [{}, { channel: 'c', description: 'd', icon: 'x', notify: true }])
      expect(refusalsOf(recordOf(event('a', given), SETTINGS, undefined))).toEqual([]);
  });
});
