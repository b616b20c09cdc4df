import { describe, expect, it } from 'vitest';
import { isFromAllowedPage } from '../../../src/relay/front/origin.js';

const rules = { origins: ['https://shop.example'], allowMissingOrigin: false };
const isAllowed = (headers: Record<string, string>, more = {}) =>
  isFromAllowedPage(new Request('https://relay.example/v1/batch', { headers }), {
    ...rules,
    ...more,
  });
const listed = 'https://shop.example';

describe('a request', () => {
  it.each([
    [{ origin: listed }],
    [{ origin: listed, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
    [{ origin: listed, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }],
    [{ origin: 'null', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }],
    [{ 'sec-fetch-site': 'same-origin' }],
  ])('passes with %j', (headers) => {
    expect(isAllowed(headers)).toBe(true);
  });

  it.each([
    [{}],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }],
    [{ origin: 'http://shop.example' }],
    [{ origin: 'https://shop.example:8443' }],
    [{ origin: 'https://shop.example.evil.example' }],
    [{ origin: 'https://SHOP.example' }],
    [{ origin: 'null' }],
    [{ origin: 'null', 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: listed, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' }],
  ])('is refused with %j', (headers) => {
    expect(isAllowed(headers)).toBe(false);
  });

  it('may lack an origin where that is allowed, but only if no browser made it', () => {
    const allowMissingOrigin = true;
    expect(isAllowed({}, { allowMissingOrigin })).toBe(true);
    expect(isAllowed({ origin: 'null' }, { allowMissingOrigin })).toBe(false);
    expect(isAllowed({ 'sec-fetch-site': 'cross-site' }, { allowMissingOrigin })).toBe(false);
  });
});
