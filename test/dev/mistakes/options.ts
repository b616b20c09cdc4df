import { SETUP, RELAY, type Mistake } from './mistake.js';

export const MISTAKES_OF_OPTIONS: Record<string, Mistake> = {
  'the token before the options': {
    init: 'TOKEN',
    told: '`init` takes one object: write init({ baseUrl, token, project, channel })',
  },
  'no project': {
    init: { ...SETUP, project: undefined },
    told: 'option `project` (data-project) is missing: give a non-empty string',
  },
  'no channel': {
    init: { ...SETUP, channel: undefined },
    told: 'option `channel` (data-channel) is missing: give a non-empty string',
  },
  'no address': {
    init: { ...SETUP, baseUrl: undefined },
    told: 'option `baseUrl` (data-base-url) is missing: give an absolute http(s) URL without user, query or spaces, or `relay` in its place',
  },
  'no token': {
    init: { ...SETUP, token: undefined },
    told: 'option `token` (data-token) is missing: give a string of ASCII characters without spaces, or a function',
  },
  'no relay, in the file that only knows relays': {
    file: 'outbox-relay.js',
    tag: 'data-project="shop" data-channel="web"',
    told: 'option `relay` (data-relay) is missing: give a path such as "/a", or an absolute http(s) URL',
  },
  'a misspelt option': {
    init: { ...SETUP, concent: 'pending' },
    told: 'option `concent` (data-concent) does not exist: did you mean `consent` (data-consent)?',
  },
  'an option of another tool': {
    init: { ...SETUP, apiHost: 'https://x.example' },
    told: 'option `apiHost` (data-api-host) does not exist: leave it out',
  },
  'an address without `https://`': {
    init: { ...SETUP, baseUrl: 'in.example' },
    told: 'option `baseUrl` (data-base-url) must be an absolute http(s) URL without user, query or spaces, not "in.example"',
  },
  'an address with `/v1`': {
    init: { ...SETUP, baseUrl: 'https://in.example/v1/' },
    told: '`baseUrl` ends with /v1/, which is added to it: leave it out',
  },
  'a relay with `/v1/batch`': {
    init: { ...RELAY, relay: '/a/v1/batch' },
    told: '`relay` ends with /v1/batch, which is added to it: leave it out',
  },
  'a token with `Bearer`': {
    init: { ...SETUP, token: 'Bearer secret' },
    told: 'option `token` (data-token) begins with `Bearer`, which is added to it: give the token alone',
  },
  'a token with a character from a document': {
    init: { ...SETUP, token: 'secret–token' },
    told: 'option `token` (data-token) must be a string of ASCII characters without spaces, or a function, not "…–…"',
  },
  'a token beside a relay': {
    init: { ...RELAY, token: 't' },
    told: 'option `token` (data-token) does not go with `relay`: leave it out',
  },
  'keys of its own beside a relay': {
    init: { ...RELAY, idempotencyKey: true },
    told: 'option `idempotencyKey` (data-idempotency-key) does not go with `relay`: leave it out',
  },
  'a text for a number': {
    init: { ...SETUP, flushAt: '20' },
    told: 'option `flushAt` (data-flush-at) must be a number of records, not "20"',
  },
  'a text for a switch': {
    init: { ...SETUP, debug: 'true' },
    told: 'option `debug` (data-debug) must be true or false, not "true"',
  },
  'a `beforeSend` that is no function': {
    init: { ...SETUP, beforeSend: {} },
    told: 'option `beforeSend` (data-before-send) must be a function (on the tag: the name of a global one, defined above the tag), not [object Object]',
  },
  'a timeout in seconds': {
    init: { ...SETUP, timeout: 10 },
    told: '`timeout` is 10 ms; it must be 1,000 to 600,000 ms; 30,000 is used',
  },
  'an age in days': {
    init: { ...SETUP, maxAge: 7 },
    told: '`maxAge` is 7 ms; it must be 60,000 to 100,000,000,000 ms; 604,800,000 is used',
  },
  'an interval in seconds': {
    init: { ...SETUP, flushInterval: 2 },
    told: '`flushInterval` is 2 ms, which is very little: check the unit',
  },
  'the size of an outbox in megabytes': {
    init: { ...SETUP, maxBytes: 5 },
    told: '`maxBytes` is 5 bytes, which is very little: check the unit',
  },
  'the size of a record in kilobytes': {
    init: { ...SETUP, maxRecordBytes: 60 },
    told: '`maxRecordBytes` is 60 bytes, which is very little: check the unit',
  },
  'a project of spaces': {
    init: { ...SETUP, project: '  ' },
    told: 'option `project` (data-project) must be a non-empty string, not "  "',
  },
  'a project that was copied with a space': {
    init: { ...SETUP, project: 'shop ' },
    told: '`project` is "shop ", with white space around it: leave that out',
  },
  'a channel that was copied with a line break': {
    init: { ...SETUP, channel: '\nweb' },
    told: '`channel` is "\nweb", with white space around it: leave that out',
  },
  'half a record': {
    init: { ...SETUP, flushAt: 0.5 },
    told: '`flushAt` is 0.5 records; it must be 1 to 1,000,000,000 records; 20 is used',
  },
  'a number that is too small, beside a relay': {
    init: { ...RELAY, flushAt: 0 },
    told: '`flushAt` is 0 records; it must be 1 to 1,000,000,000 records; 50 is used',
  },
  'an interval without an end': {
    init: { ...SETUP, flushInterval: Infinity },
    told: '`flushInterval` is ∞ ms; it must be 1 to 1,000,000,000 ms; 1,000 is used',
  },
  'an http service on an https page': {
    init: { ...SETUP, baseUrl: 'http://in.example' },
    told: 'the browser blocks http://in.example, as this page is https: give an https address',
  },
  'another project by a second `init`': {
    make: ({ init }) => init({ ...SETUP, project: 'blog' }),
    told: '`init` again, for project blog at https://in.example: later calls go there. For both use a second instance',
  },
  'a context that is a promise': {
    init: { ...SETUP, context: async () => ({ plan: 'pro' }) },
    make: ({ event }) => event('A'),
    told: '`context` must return an object at once, not [object Promise]',
  },
  'a context that throws': {
    init: {
      ...SETUP,
      context: () => {
        throw new Error('no plan');
      },
    },
    make: ({ event }) => event('A'),
    told: '`context` failed: Error: no plan',
  },
};
