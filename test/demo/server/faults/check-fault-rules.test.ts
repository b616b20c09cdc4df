import { expect, test } from 'vitest';
import { checkFaultRules } from '../../../../demo/server/faults/check-fault-rules';

test('accepts a rule with every field', () => {
  const rule = {
    match: { path: '/v1/event', event: 'e', user_id: 'u', property: { a: 1 } },
    skip: 1,
    times: 2,
    status: 503,
    headers: { 'Retry-After': '2', 'access-control-allow-origin': null },
    body: null,
    delay: 5,
    hang: false,
    reset: false,
    after: true,
  };
  expect(checkFaultRules([rule, {}])).toBeUndefined();
  expect(checkFaultRules([])).toBeUndefined();
});

test.each([
  [{}, 'array'],
  [[null], 'Rule 0: expected an object'],
  [[{}, { stauts: 500 }], 'Rule 1: `stauts` is unknown'],
  [[{ toString: 1 }], '`toString` is unknown'],
  [[{ match: { name: 'x' } }], '`match` is wrong'],
  [[{ match: { event: 1 } }], '`match` is wrong'],
  [[{ skip: -1 }], '`skip` is wrong'],
  [[{ times: '1' }], '`times` is wrong'],
  [[{ status: 100 }], '`status` is wrong'],
  [[{ status: 600 }], '`status` is wrong'],
  [[{ headers: { a: 1 } }], '`headers` is wrong'],
  [[{ headers: { 'a b': 'x' } }], '`headers` is wrong'],
  [[{ delay: 0.5 }], '`delay` is wrong'],
  [[{ hang: 1 }], '`hang` is wrong'],
  [[{ body: {} }], '`body` needs a `status`'],
])('refuses %j', (rules, wrong) => {
  expect(checkFaultRules(rules)).toContain(wrong);
});
