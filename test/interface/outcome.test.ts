import { describe, expect, it } from 'vitest';
import { outcomeOf as outcome } from '../../src/interface/outcome.js';

const outcomeOf = (status: number, body = '') => outcome(status, body);

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('with %i is a delivery', (status) => {
    expect(outcomeOf(status)).toBe('delivered');
  });

  it.each([408, 425, 429, 500, 501, 502, 503, 504, 507, 520, 599])(
    'with %i is to be tried again',
    (status) => {
      expect(outcomeOf(status)).toBe('retry');
      expect(outcomeOf(status, '<html>')).toBe('retry');
      expect(outcomeOf(status, '{"success":true}')).toBe('retry');
    },
  );

  it.each([400, 409, 413, 422])('with %i refuses the record', (status) => {
    expect(outcomeOf(status, '{"code":400,"message":"Invalid request data"}')).toBe('rejected');
    expect(outcomeOf(status, '\n<html>')).toBe('blocked');
  });

  it.each([
    100, 199, 300, 301, 302, 303, 304, 307, 308, 401, 402, 403, 404, 405, 406, 410, 415, 418, 451,
  ])('with %i says that the set-up is wrong', (status) => {
    expect(outcomeOf(status)).toBe('blocked');
    expect(outcomeOf(status, '{"success":true}')).toBe('blocked');
  });

  it.each([
    '{"success":true,"message":"ok"}',
    '{"success":true,"code":0}',
    '{"message":"ok"}',
    '{"success":true,"message":"1 < 2"}',
    '{}',
    '[]',
    'null',
    'true',
    '"ok"',
    '12',
    'ok',
    '{"success":',
    '',
    '   ',
  ])('with 200 and %j is a delivery', (body) => {
    expect(outcomeOf(200, body)).toBe('delivered');
  });

  it.each([
    '{"success":false}',
    '{"success":false,"message":"no"}',
    '{"code":400,"message":"Invalid request data"}',
    '{"code":500}',
  ])('with 200 and %j refuses the record', (body) => {
    expect(outcomeOf(200, body)).toBe('rejected');
  });

  it.each(['<!doctype html><title>Log in</title>', '  \n<html></html>', '<?xml version="1.0"?>'])(
    'with 200 and %j comes from something in between',
    (body) => {
      expect(outcomeOf(200, body)).toBe('blocked');
    },
  );

  it('that does not come is to be tried again', () => {
    expect(outcomeOf(0)).toBe('retry');
  });
});
