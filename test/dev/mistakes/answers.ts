import { vi } from 'vitest';
import { SETUP, RELAY_TAG, type Mistake } from './mistake.js';

export const WRONG_ANSWERS: Record<string, Mistake> = {
  'a token that the service refuses': {
    make: ({ event }) => event('A'),
    answer: [401],
    told: 'the service refuses the token (401): check the option `token`',
  },
  'an address without a service': {
    make: ({ event }) => event('A'),
    answer: [404, '<!doctype html>'],
    told: 'https://in.example answers 404, not as a service does: check the option `baseUrl`',
  },
  'a page in place of a service': {
    make: ({ event }) => event('A'),
    answer: [200, '<!doctype html>'],
    told: 'https://in.example answers 200, not as a service does: check the option `baseUrl`',
  },
  'an address that redirects': {
    make: ({ event }) => event('A'),
    answer: [0],
    told: 'https://in.example redirects, which no request follows: give the option `baseUrl` the address that it leads to',
  },
  'a record that the service refuses': {
    make: ({ event }) => event('A'),
    answer: [400, '{"code":400,"message":"Invalid request data"}'],
    told: 'event "A" was dropped (rejected): https://in.example/v1/event: 400: Invalid request data',
  },
  'a record that it refuses in a 200': {
    make: ({ event }) => event('A'),
    answer: [200, '{"success":false,"message":"no such channel"}'],
    told: 'event "A" was dropped (rejected): https://in.example/v1/event: 200: no such channel',
  },
  'a token function that fails': {
    init: {
      ...SETUP,
      token: async () => {
        throw new Error('not signed in');
      },
    },
    make: ({ event }) => event('A'),
    told: 'no token: not signed in: check the option `token`',
  },
  'an origin that the relay refuses': {
    tag: RELAY_TAG,
    make: ({ event }) => event('A'),
    answer: [403],
    told: 'the relay refuses this page (403): check its `origins` and `authorize`',
  },
  'no relay at the address': {
    tag: RELAY_TAG,
    make: ({ event }) => event('A'),
    answer: [405],
    told: 'https://shop.test/a answers 405, not as a relay does: check the option `relay`',
  },
  'a relay without its path': {
    tag: RELAY_TAG.replace('/a', 'https://shop.example'),
    make: ({ event }) => event('A'),
    answer: [403],
    told: 'https://shop.example answers 403, not as a relay does: add a path such as "/a" to the option `relay`',
  },
  'a channel that the relay does not list': {
    tag: RELAY_TAG,
    make: (_, tell) => {
      const record = { id: '1', type: 'event', body: '{"event":"A","channel":"web"}' };
      tell('error', { kind: 'setup', message: 'the relay: channel not listed' });
      tell('outcome', { record, outcome: 'blocked' });
    },
    told: 'the relay does not list the channel "web": add it to its list `channels`',
  },
  'a relay that the service refuses': {
    tag: RELAY_TAG,
    make: (_, tell) => tell('error', { kind: 'setup', message: 'the relay: 401', status: 401 }),
    told: 'the relay gets 401 from the service: check its set-up',
  },
  'nothing that answers': {
    make: (_, tell) => tell('error', { kind: 'unreachable', message: 'https://in.example: 0' }),
    told: 'nothing answers at https://in.example: check the address, CORS and blockers',
  },
  'a policy that blocks the service': {
    make: () =>
      document.dispatchEvent(
        Object.assign(new Event('securitypolicyviolation'), {
          blockedURI: 'https://in.example/v1/event',
          effectiveDirective: 'connect-src',
          disposition: 'enforce',
        }),
      ),
    told: "the page's Content Security Policy blocks https://in.example: add it to connect-src",
  },
  'a database that is missing': {
    before: () => vi.stubGlobal('indexedDB', undefined),
    told: 'records are kept in memory until storage works: ',
  },
  'a database that goes on hanging': {
    make: (_, tell) => tell('storage', { storage: 'memory', message: 'no answer in time' }),
    lateMs: 12_000,
    told: 'records are kept in memory until storage works: no answer in time',
  },
};
