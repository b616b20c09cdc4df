import { describe, expect, test } from 'vitest';
import { createFaultSwitch } from '../../../../demo/server/faults/fault-switch';
import { matchesRule } from '../../../../demo/server/faults/matches-rule';

const subject = { path: '/v1/event', body: { event: 'e', user_id: 'u', tags: { n: 1, a: 'x' } } };

describe('matchesRule', () => {
  test.each([
    [{}],
    [{ path: '/v1/event' }],
    [{ event: 'e' }],
    [{ user_id: 'u' }],
    [{ property: 'n' }],
    [{ property: { n: 1 } }],
    [{ property: { n: 1, a: 'x' } }],
    [{ path: '/v1/event', event: 'e', user_id: 'u', property: 'a' }],
  ])('matches %j', (match) => {
    expect(matchesRule(match, subject)).toBe(true);
  });

  test.each([
    [{ path: '/v1/identify' }],
    [{ event: 'f' }],
    [{ user_id: 'v' }],
    [{ property: 'b' }],
    [{ property: 'toString' }],
    [{ property: { n: 2 } }],
    [{ property: { n: 1, a: 'y' } }],
    [{ path: '/v1/event', event: 'f' }],
  ])('does not match %j', (match) => {
    expect(matchesRule(match, subject)).toBe(false);
  });

  test('looks into the properties of an identify too', () => {
    const body = { user_id: 'u', properties: { n: 1 } };
    expect(matchesRule({ property: { n: 1 } }, { path: '/v1/identify', body })).toBe(true);
  });

  test.each([null, 'text', [1]])('matches by path alone when the body is %j', (body) => {
    expect(matchesRule({ path: '/v1/event' }, { path: '/v1/event', body })).toBe(true);
    expect(matchesRule({ event: 'e' }, { path: '/v1/event', body })).toBe(false);
  });
});

describe('createFaultSwitch', () => {
  const statuses = (faults: ReturnType<typeof createFaultSwitch>, count: number) =>
    Array.from({ length: count }, () => faults.take(subject)?.status);

  test('takes the first rule that matches and has times left', () => {
    const faults = createFaultSwitch();
    faults.set([
      { match: { event: 'other' }, status: 501 },
      { status: 502, times: 2 },
      { status: 503 },
    ]);
    expect(statuses(faults, 4)).toEqual([502, 502, 503, 503]);
    expect(faults.list().map(({ fired }) => fired)).toEqual([0, 2, 2]);
  });

  test('lets the first requests pass, on to the later rules', () => {
    const faults = createFaultSwitch();
    faults.set([
      { status: 501, skip: 2, times: 1 },
      { status: 502, times: 1 },
    ]);
    expect(statuses(faults, 4)).toEqual([502, undefined, 501, undefined]);
    expect(faults.list()).toMatchObject([
      { seen: 3, fired: 1 },
      { seen: 1, fired: 1 },
    ]);
  });

  test('never applies a rule with no times', () => {
    const faults = createFaultSwitch();
    faults.set([{ status: 500, times: 0 }]);
    expect(statuses(faults, 1)).toEqual([undefined]);
  });

  test('counts anew when the rules are set again', () => {
    const faults = createFaultSwitch();
    faults.set([{ status: 500, times: 1 }]);
    faults.take(subject);
    faults.set([{ status: 500, times: 1 }]);
    expect(statuses(faults, 1)).toEqual([500]);
  });
});
