// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.test/cart" }
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTracker, type Tell } from '../../src/client/analytics.js';
import { FACTS } from '../../src/client/consent.js';
import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import { readAttributes } from '../../src/client/options.js';
import { installTag, OURS } from '../../src/client/tag.js';
import type { Analytics } from '../../src/client/types.js';
import { createDeveloper } from '../../src/dev/developer.js';
import { watchMethods } from '../../src/dev/methods.js';
import { createSay, cry } from '../../src/dev/say.js';

/** The page's own global, whatever a mistake calls on it. */
type Global = { [Method in keyof Analytics]: (...args: unknown[]) => unknown } & Record<
  string,
  (...args: unknown[]) => unknown
>;

interface Mistake {
  /** What the tag says beside its file: its attributes, as the page has them. @default a right set-up */
  tag?: string;
  /** The tag's file. @default outbox.js */
  file?: string;
  /** Other elements of the page. */
  html?: string;
  /** What the page has done before the tag's file came. */
  before?: (page: Record<string, unknown>) => void;
  /** What the page does then. */
  make?: (analytics: Global, tell: Tell) => unknown;
  /** What is called with options that take the place of right ones, without a tag. */
  init?: object | string | undefined;
  /** The service's answer. */
  answer?: readonly [status: number, body?: string];
  /** So long after all of this the developer is told. */
  lateMs?: number;
  /** What the developer reads, once. */
  told: string;
}

const SETUP = { baseUrl: 'https://in.example', token: 't', project: 'shop', channel: 'web' };
const RELAY = { relay: '/a', project: 'shop', channel: 'web' };
const TAG =
  'data-base-url="https://in.example" data-token="t" data-project="shop" data-channel="web"';
const RELAY_TAG = 'data-relay="/a" data-project="shop" data-channel="web"';

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;
const stub = () => ({ calls: [], setConsent: () => undefined });

/** What a browser says of a developers' file that it cannot import. */
const MISSING = 'no such file';

const MISTAKES: Record<string, Mistake> = {
  // --- the tag
  'an attribute without `data-`': {
    tag: `${RELAY_TAG} flush-at="5"`,
    told: 'the tag has the attribute flush-at: write data-flush-at',
  },
  'all attributes without `data-`': {
    tag: 'project="shop"',
    told: 'the tag has the attribute project: write data-project',
  },
  'an attribute in camelCase': {
    tag: `${TAG} data-flushAt="5"`,
    told: 'the tag has no attribute data-flushat: did you mean data-flush-at?',
  },
  'a misspelt attribute': {
    tag: `${TAG} data-concent="pending"`,
    told: 'the tag has no attribute data-concent: did you mean data-consent?',
  },
  'a misspelt attribute that is required': {
    tag: 'data-relay="/a" data-project="shop" data-chanel="web"',
    told: 'the tag has no attribute data-chanel: did you mean data-channel?',
  },
  'an attribute of Plausible': {
    tag: `${TAG} data-domain="shop.test"`,
    told: "`data-domain` is another tool's: write data-project",
  },
  'an attribute of Umami': {
    tag: `${TAG} data-website-id="94db1cb1"`,
    told: "`data-website-id` is another tool's: write data-project",
  },
  'a tag that is a module': {
    tag: `${TAG} type="module"`,
    told: 'the tag has `type="module"`: leave it out',
  },
  'two tags': {
    make: (_, tell) => tell('twice', document.currentScript),
    told: 'the page has two tags, outbox.js and outbox.js: only the first works; leave one out',
  },
  '`data-auto` in a file that captures nothing': {
    tag: `${TAG} data-auto="clicks"`,
    told: '`data-auto` does nothing in outbox.js: load outbox-auto.js',
  },
  '`data-auto-options` in such a file': {
    tag: `${TAG} data-auto-options="labels"`,
    told: '`data-auto-options` does nothing in outbox.js: load outbox-auto.js',
  },
  '`data-anonymous-id` in such a file': {
    tag: `${TAG} data-anonymous-id`,
    told: '`data-anonymous-id` does nothing in outbox.js: load outbox-auto.js',
  },
  'an empty `data-auto`': {
    file: 'outbox-auto.js',
    tag: `${TAG} data-auto=""`,
    told: 'outbox-auto.js captures nothing without data-auto: write data-auto="pageviews clicks"',
  },
  'outbox-auto.js without `data-auto`': {
    file: 'outbox-auto.js',
    told: 'outbox-auto.js captures nothing without data-auto: write data-auto="pageviews clicks"',
  },
  'a part of the context in a file without it': {
    tag: `${TAG} data-context="page session:tab"`,
    told: 'option `context` (data-context) has the parts "page session:tab", which this file lacks: load outbox-auto.js',
  },
  'a misspelt part of the context': {
    tag: `${TAG} data-context="pages"`,
    told: 'option `context` (data-context) has no part "pages": did you mean `page`?',
  },
  'a context that is no global': {
    tag: `${TAG} data-context="ourTags"`,
    told: 'option `context` (data-context) must be an object or a function (on the tag: the name of a global one, defined above the tag), or parts: page campaign device session, not "ourTags"',
  },
  'a function that is no global': {
    tag: `${TAG} data-before-send="redact"`,
    told: 'option `beforeSend` (data-before-send) must be a function (on the tag: the name of a global one, defined above the tag), not "redact"',
  },
  'a number that is a text': {
    tag: `${TAG} data-timeout="20s"`,
    told: 'option `timeout` (data-timeout) must be a number, not "20s"',
  },
  'a switch that says neither on nor off': {
    tag: `${TAG} data-debug="yes"`,
    told: '`data-debug` is "yes": write true or false; it counts as not given',
  },
  'a misspelt `false`': {
    tag: `${TAG} data-disabled="flase"`,
    told: '`data-disabled` is "flase": write true or false; it counts as not given',
  },
  'a stub of another name than the tag has': {
    tag: `${TAG} data-global="outbox"`,
    before: (page) => (page['analytics'] = stub()),
    told: 'the stub is window.analytics, but the tag is for window.outbox: write data-global="analytics" on the tag',
  },
  'a renamed stub without `data-global`': {
    before: (page) => (page['tracker'] = stub()),
    told: 'the stub is window.tracker, but the tag is for window.analytics: write data-global="tracker" on the tag',
  },
  'no `init`, and no options on the tag': {
    tag: 'async',
    make: ({ event }) => event('A'),
    lateMs: 10_000,
    told: 'calls wait, and nothing is sent: `init` has not been called, and the tag has no options',
  },
  "a developers' file that is missing": {
    told: MISSING,
  },

  // --- the options
  'no options': { init: undefined, told: 'expected an object of options' },
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
  'a misspelt option that is required': {
    init: { ...SETUP, project: undefined, projekt: 'shop' },
    told: 'option `projekt` (data-projekt) does not exist: did you mean `project` (data-project)?',
  },
  'an option of another tool': {
    init: { ...SETUP, apiHost: 'https://x.example' },
    told: 'option `apiHost` (data-api-host) does not exist: leave it out',
  },
  'an address without `https://`': {
    init: { ...SETUP, baseUrl: 'in.example' },
    told: 'option `baseUrl` (data-base-url) must be an absolute http(s) URL without user, query or spaces, not "in.example"',
  },
  'an address with a query': {
    init: { ...SETUP, baseUrl: 'https://in.example?key=1' },
    told: 'option `baseUrl` (data-base-url) must be an absolute http(s) URL without user, query or spaces, not "https://in.example?key=1"',
  },
  'an address with `/v1`': {
    init: { ...SETUP, baseUrl: 'https://in.example/v1/' },
    told: '`baseUrl` ends with /v1/, which is added to it: leave it out',
  },
  'the address of one operation': {
    init: { ...SETUP, baseUrl: 'https://in.example/v1/event' },
    told: '`baseUrl` ends with /v1/event, which is added to it: leave it out',
  },
  'a relay with `/v1/batch`': {
    init: { ...RELAY, relay: '/a/v1/batch' },
    told: '`relay` ends with /v1/batch, which is added to it: leave it out',
  },
  'a relay without its slash': {
    init: { ...RELAY, relay: 'a' },
    told: 'option `relay` (data-relay) must be a path such as "/a", or an absolute http(s) URL, not "a"',
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
    told: 'option `flushAt` (data-flush-at) must be a number, not "20"',
  },
  'a text for a switch': {
    init: { ...SETUP, debug: 'true' },
    told: 'option `debug` (data-debug) must be true or false, not "true"',
  },
  'an unknown consent': {
    init: { ...SETUP, consent: 'yes' },
    told: 'option `consent` (data-consent) must be granted, pending or denied, not "yes"',
  },
  'a `beforeSend` that is no function': {
    init: { ...SETUP, beforeSend: {} },
    told: 'option `beforeSend` (data-before-send) must be a function (on the tag: the name of a global one, defined above the tag), not [object Object]',
  },
  'a timeout in seconds': {
    init: { ...SETUP, timeout: 10 },
    told: '`timeout` is 10 ms; it must be 1,000 to 600,000 ms; 30,000 is used',
  },
  'half a record': {
    init: { ...SETUP, flushAt: 0.5 },
    told: '`flushAt` is 0.5 records; it must be 1 to 1,000,000,000 records; 20 is used',
  },
  'an interval without an end': {
    init: { ...SETUP, flushInterval: Infinity },
    told: '`flushInterval` is ∞ ms; it must be 1 to 1,000,000,000 ms; 1,000 is used',
  },
  'no request at a time': {
    init: { ...SETUP, concurrency: 0 },
    told: '`concurrency` is 0 requests; it must be 1 to 100 requests; 6 is used',
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

  // --- the calls
  'an event without a name': {
    make: ({ event }) => event(undefined),
    told: "a call was dropped (invalid-call): `event`: wrong name: give the event's name first",
  },
  'fields that are a text': {
    make: ({ event }) => event('A', 'pro'),
    told: 'a call was dropped (invalid-call): `A`: wrong fields: give an object second',
  },
  'tags that are a list': {
    make: ({ event }) => event('A', { tags: ['pro'] }),
    told: 'a call was dropped (invalid-call): `A`: wrong tags: give an object',
  },
  'a misspelt field': {
    make: ({ event }) => event('A', { descripton: 'd' }),
    told: '`descripton` of `A` is sent as a tag: did you mean `description`?',
  },
  'a field of another type': {
    make: ({ event }) => event('A', { notify: 'yes' }),
    told: '`notify` of event "A" must be a boolean, or it is refused',
  },
  'a time that no clock knows': {
    make: ({ event }) => event('A', { timestamp: 'yesterday' }),
    told: 'a call was dropped (invalid-call): `A`: wrong timestamp: give a Date or an ISO 8601 text',
  },
  'a time in seconds': {
    make: ({ event }) => event('A', { timestamp: 1_767_225_600 }),
    told: '`timestamp` of `A` looks like seconds: give milliseconds',
  },
  'two users': {
    make: ({ event }) => event('A', { userId: 'u', user_id: 'v' }),
    told: '`userId` and `user_id` of `A` differ: `userId` was taken; give only one',
  },
  'a callback': {
    make: (analytics) => analytics['event']!('A', {}, () => undefined),
    told: '`event` takes two arguments: the others of `A` were not sent',
  },
  'a BigInt': {
    make: ({ event }) => event('A', { tags: { n: 1n } }),
    told: 'a call was dropped (not-serializable): `tags.n` of `A`: BigInt: give what JSON can hold',
  },
  'a circle': {
    make: ({ event }) => event('A', { tags: cyclic }),
    told: 'a call was dropped (not-serializable): `tags.self` of `A`: it contains itself: give what JSON can hold',
  },
  'a getter that throws': {
    make: ({ event }) =>
      event('A', {
        get plan() {
          throw new Error('no plan');
        },
      }),
    told: 'a call was dropped (not-serializable): `plan` of `A`: no plan: give what JSON can hold',
  },
  'a value that is NaN': {
    make: ({ event }) => event('A', { tags: { n: NaN } }),
    told: '`tags.n` of `A` becomes `null` (NaN): give what JSON can hold',
  },
  'a value that is no time': {
    make: ({ event }) => event('A', { when: new Date(NaN) }),
    told: '`when` of `A` becomes `null` (Date): give what JSON can hold',
  },
  'a Map': {
    make: ({ event }) => event('A', { list: [new Map([['a', 1]])] }),
    told: '`list.0` of `A` becomes `{}` (Map): give what JSON can hold',
  },
  'a Set': {
    make: ({ identify }) => identify('u', { plans: new Set(['pro']) }),
    told: '`plans` of `u` becomes `{}` (Set): give what JSON can hold',
  },
  'a function as a value': {
    make: ({ event }) => event('A', { plan: () => 'pro' }),
    told: '`plan` of `A` is left out (a function): give what JSON can hold',
  },
  'an error as a value': {
    make: ({ event }) => event('A', { error: new Error('no plan') }),
    told: '`error` of `A` becomes `{}` (Error): give what JSON can hold',
  },
  'a Map in place of fields': {
    make: ({ event }) => event('A', new Map()),
    told: 'what `A` is given becomes `{}` (Map): give what JSON can hold',
  },
  'a call that is too large': {
    make: ({ event }) => event('A', { text: 'x'.repeat(60_000) }),
    told: 'a call was dropped (too-large): `A`: 60104 bytes: send less, or raise `maxRecordBytes`',
  },
  'no user': {
    make: ({ identify }) => identify(undefined),
    told: 'a call was dropped (invalid-call): `identify`: wrong userId: give a text or a number',
  },
  'the text `undefined` for a user': {
    make: ({ identify }) => identify(`${undefined}`),
    told: 'a call was dropped (invalid-call): `undefined`: wrong userId: the text "undefined" is no id: identify only who has one',
  },
  'the text of an object for a user': {
    make: ({ identify }) => identify(String({ id: 1 })),
    told: 'a call was dropped (invalid-call): `[object Object]`: wrong userId: the text "[object Object]" is no id: identify only who has one',
  },
  'an object for a user': {
    make: (analytics) => analytics['identify']!({ id: 'u' }),
    told: 'a call was dropped (invalid-call): `identify`: wrong userId: give a text or a number',
  },
  'an unknown `setConsent`': {
    make: ({ setConsent }) => setConsent('yes'),
    told: 'a call was dropped (invalid-call): setConsent: give granted, pending or denied',
  },
  'an event of `on` that there is not': {
    make: ({ on }) => on('drops' as never, () => undefined),
    told: '`on` knows no event `drops`: did you mean `drop`?',
  },
  'a `beforeSend` without an answer': {
    init: { ...SETUP, beforeSend: () => undefined },
    make: ({ event }) => event('A'),
    told: 'a call was dropped (before-send-error): `A`: before-send-error: `beforeSend` must return the draft or null, at once',
  },
  'a method of Segment': {
    make: (analytics) => analytics['track'],
    told: "there is no method `track`: write `event('Name', { … })`",
  },
  'a method of PostHog': {
    make: (analytics) => analytics['opt_out_capturing'],
    told: "there is no method `opt_out_capturing`: write `setConsent('denied')`",
  },
  'a method of Amplitude': {
    make: (analytics) => analytics['setUserId'],
    told: 'there is no method `setUserId`: write `identify(id)`',
  },

  // --- what the service, the relay and the browser answer
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

  // --- calls and attributes of other tools
  'calls of PostHog that wait': {
    before: (page) => (page['posthog'] = Object.assign([['capture', 'a']], { __SV: 1 })),
    lateMs: 5_000,
    told: 'calls of PostHog are here, and nothing takes them: analytics-outbox/compat/posthog does',
  },
  'calls of Plausible that wait': {
    before: (page) => (page['plausible'] = Object.assign(() => undefined, { q: [['Signup']] })),
    lateMs: 5_000,
    told: 'calls or classes of Plausible are here, and nothing takes them: analytics-outbox/compat/plausible does',
  },
  'class names of Plausible': {
    html: '<a class="plausible-event-name=Signup">',
    lateMs: 5_000,
    told: 'calls or classes of Plausible are here, and nothing takes them: analytics-outbox/compat/plausible does',
  },
  'attributes of Umami': {
    html: '<button data-umami-event="Signup">',
    lateMs: 5_000,
    told: 'attributes of Umami are here, and nothing takes them: analytics-outbox/compat/umami does',
  },
  'calls of gtag that wait': {
    before: (page) => (page['dataLayer'] = [['event', 'login']]),
    lateMs: 5_000,
    told: 'calls of gtag are here, and nothing takes them: analytics-outbox/compat/gtag does',
  },
  'calls of Segment that wait': {
    tag: `${TAG} data-global="outbox"`,
    before: (page) => (page['analytics'] = [['track', 'A']]),
    lateMs: 5_000,
    told: 'calls of Segment are here, and nothing takes them: analytics-outbox/compat/segment does',
  },
  'calls of LogSnag that wait': {
    before: (page) => (page['lsq'] = [['track', { event: 'A' }]]),
    lateMs: 5_000,
    told: 'calls of LogSnag are here, and nothing takes them: analytics-outbox/compat/logsnag does',
  },
};

const globals = globalThis as unknown as Record<string, unknown>;
let lines: string[];
let known: string[];
/** Ends what a page before has listened to. */
let leaving: AbortController;

beforeEach(() => {
  known = Object.keys(globals);
  leaving = new AbortController();
  Reflect.deleteProperty(globalThis, FACTS);
  localStorage.clear();
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('IDBKeyRange', IDBKeyRange);
  lines = [];
  const note = (line: unknown) => {
    // Each engine has words of its own for a file that it cannot import.
    lines.push(typeof line === 'string' ? line.replace('analytics-outbox: ', '') : MISSING);
  };
  vi.spyOn(console, 'warn').mockImplementation(note);
  vi.spyOn(console, 'error').mockImplementation(note);
  const listen = document.addEventListener.bind(document);
  vi.spyOn(document, 'addEventListener').mockImplementation(((type: string, listener: never) =>
    listen(type, listener, { signal: leaving.signal })) as never);
});

afterEach(() => {
  leaving.abort();
  for (const name of Object.keys(globals)) if (!known.includes(name)) delete globals[name];
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** The page with its tag, whose developers' file has come: as `script-dev.ts` does it. */
const openPage = ({ tag = TAG, file = 'outbox.js', html = '', before }: Mistake) => {
  document.body.innerHTML = html;
  // In no document, since its file would be loaded there.
  const box = document.createElement('div');
  box.innerHTML = `<script src="https://shop.test/${file}" ${tag}></script>`;
  const script = box.querySelector('script')!;
  Object.defineProperty(Object.getPrototypeOf(document), 'currentScript', {
    configurable: true,
    get: () => script,
  });
  before?.(globals);
  installTag((tell) => createTracker(createDirectSend, tell), readAttributes);
  const analytics = globals[script.dataset['global'] ?? 'analytics'] as Global;
  const steps = (analytics as unknown as Record<symbol, [string, unknown][]>)[OURS]!;
  const say = createSay();
  const tell = createDeveloper({ say, refuse: cry, mayBeDirect: true });
  watchMethods(analytics, say);
  for (const step of steps.splice(0)) tell(...step);
  steps.push = (...more) => (more.forEach((step) => tell(...step)), 0);
  return { analytics, tell };
};

/** An instance without a tag. */
const openInstance = () => {
  const tell = createDeveloper({ say: createSay(), refuse: cry, mayBeDirect: true });
  const { analytics } = createTracker(createDirectSend, tell);
  return { analytics: analytics as Global, tell };
};

const HELP = /^what each message means: .+\/docs\/messages/;

describe('a developer is told once, with what to do, of', () => {
  for (const [name, mistake] of Object.entries(MISTAKES)) {
    it(`${name}`, async () => {
      const { make, lateMs, answer: [status, body = '{}'] = [200], told } = mistake;
      if (lateMs) vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const answer = { status, headers: new Headers(), text: async () => body };
      // A browser's own, as far as can be told.
      vi.stubGlobal('fetch', new Proxy(Math.max, { apply: async () => answer }));
      const isTagged = !('init' in mistake);
      const { analytics, tell } = isTagged ? openPage(mistake) : openInstance();
      if (!isTagged) {
        try {
          analytics.init(mistake.init as never);
        } catch {
          // The tag's file catches it, too.
        }
      }
      await make?.(analytics, tell);
      if (lateMs) await vi.advanceTimersByTimeAsync(lateMs);
      else await analytics.flush();
      const isOther = (line: string) => !HELP.test(line) && (line !== MISSING || line === told);
      await vi.waitFor(() => expect(lines.join('\n')).toContain(told), { timeout: 5_000 });
      expect(lines.filter(isOther).map((line) => line.slice(0, told.length))).toEqual([told]);
      analytics.stop();
      vi.useRealTimers();
      // Not in the lines of the next one.
      if (isTagged) await vi.waitFor(() => expect(lines).toContain(MISSING), { timeout: 5_000 });
    });
  }

  it('at least 76 kinds of mistakes', () => {
    expect(Object.keys(MISTAKES).length).toBeGreaterThanOrEqual(76);
  });
});
