import { describe, expect, it } from 'vitest';
import type { Status } from '../../../src/client/types.js';
import { reasonOf, type Known } from '../../../src/dev/inspector/reason.js';
import { lineOf, NOW } from './line-of.js';

const ask = (status: Partial<Status>, more: Partial<Known> = {}) =>
  reasonOf({
    status: {
      ...{ storage: 'indexeddb', consent: 'granted', waiting: 0, inFlight: 0, delivered: 0 },
      ...{ unknown: 0, dropped: {}, paused: undefined, ...status },
    },
    ...{ lines: [], isAsked: false, isGpc: false, now: NOW, ...more },
  });

describe('the reason why nothing is sent', () => {
  it('names the last answer, and counts down to the next attempt', () => {
    const tries = [{ sentAt: NOW - 200, endedAt: NOW - 100, handoff: false, status: 503 }];
    const status = { paused: 'backoff', waiting: 1, nextAttempt: NOW + 1_400 } as const;
    const reason = ask(status, { lines: [lineOf('Paid', { tries })] });
    expect(reason.text).toMatch(/^The last answer was 503, at \d\d:\d\d:\d\d\.$/);
    expect(reason).toMatchObject({ until: NOW + 1_400, fix: 'It goes on by itself.' });
    expect(ask(status, { isAsked: true }).fix).toBe('The service has asked for this wait.');
  });

  it('says what a developer was told of a wrong set-up', () => {
    const error = 'the service refuses the token (401): check the option `token`';
    expect(ask({ paused: 'setup' }, { error })).toMatchObject({ kind: 'wrong', text: error });
  });

  it.each([
    [{ consent: 'pending' }, {}, /consent is pending/, "Call setConsent('granted')."],
    [{ consent: 'denied' }, {}, /consent is denied/, "Call setConsent('granted')."],
    [
      { consent: 'denied' },
      { isGpc: true, given: { respectGpc: true } },
      /Global Privacy Control is on/,
      'Switch it off, or leave out `respectGpc`.',
    ],
  ] as const)('tells of consent: %j %j', (status, more, text, fix) => {
    const reason = ask({ paused: 'consent', ...status }, more);
    expect(reason.text).toMatch(text);
    expect(reason.fix).toBe(fix);
  });

  it('says when the records that were called go', () => {
    const reason = ask(
      { waiting: 2 },
      { lines: [lineOf('Paid', { calledAt: NOW - 300 }), lineOf('Paid')] },
    );
    expect(reason.text).toBe('2 records collected for the next flush.');
    expect(reason.until).toBe(NOW + 700);
  });

  it('says of records that fail while others pass when the first has its turn', () => {
    const tries = [{ sentAt: NOW - 200, endedAt: NOW - 100, handoff: false, status: 500 }];
    const lines = [
      lineOf('Paid', { tries, due: NOW + 900 }),
      lineOf('Paid', { tries, due: NOW + 500 }),
    ];
    expect(ask({ waiting: 2 }, { lines })).toMatchObject({ kind: 'trouble', until: NOW + 500 });
  });

  it('says that all is well', () => {
    expect(ask({ delivered: 3 }).text).toBe('Nothing waits: all is delivered.');
    expect(ask({ inFlight: 1 }).text).toBe('1 record on the wire.');
  });
});
