import { TAG, RELAY_TAG, MISSING, type Mistake } from './mistake.js';

const stub = () => ({ calls: [], setConsent: () => undefined });

export const MISTAKES_OF_TAG: Record<string, Mistake> = {
  'an attribute without `data-`': {
    tag: `${RELAY_TAG} flush-at="5"`,
    told: 'the tag has the attribute flush-at: write data-flush-at',
  },
  'the name of a callback in a handler of HTML, which calls nothing': {
    tag: `${RELAY_TAG} onError="report"`,
    told: 'the tag has the attribute onerror: write data-on-error',
  },
  'an attribute in camelCase': {
    tag: `${TAG} data-flushAt="5"`,
    told: 'the tag has no attribute data-flushat: did you mean data-flush-at?',
  },
  'a misspelt attribute': {
    tag: `${TAG} data-concent="pending"`,
    told: 'the tag has no attribute data-concent: did you mean data-consent?',
  },
  'a misspelt attribute that is no option': {
    tag: `${TAG} data-gobal="outbox"`,
    told: 'the tag has no attribute data-gobal: did you mean data-global?',
  },
  'a misspelt attribute that is required': {
    tag: 'data-relay="/a" data-project="shop" data-chanel="web"',
    told: 'the tag has no attribute data-chanel: did you mean data-channel?',
  },
  'an attribute of Plausible': {
    tag: `${TAG} data-domain="shop.test"`,
    told: 'the tag has no attribute data-domain: write data-project',
  },
  'what is to be captured, by another name': {
    tag: `${TAG} data-events="clicks"`,
    told: 'the tag has no attribute data-events: write data-auto',
  },
  'a sample': {
    tag: `${TAG} data-sample-rate="0.1"`,
    told: 'the tag has no attribute data-sample-rate: write data-before-send',
  },
  'the user on the tag': {
    tag: `${TAG} data-user-id="u1"`,
    told: 'the tag has no attribute data-user-id: write `identify(id)`',
  },
  'two channels': {
    tag: TAG.replace('web', 'web,app'),
    told: '`channel` is "web,app": give only one',
  },
  '`data-event` without `clicks`': {
    file: 'outbox-auto.js',
    tag: `${TAG} data-auto="pageviews local"`,
    html: `<script data-project="shop" data-auto="pageviews local"></script><a data-event="A">`,
    lateMs: 5_000,
    told: 'elements with `data-event` are here, and nothing takes them: add `clicks` to data-auto',
  },
  'a tag that is a module': {
    tag: `${TAG} type="module"`,
    told: 'the tag has `type="module"`: leave it out',
  },
  'two tags': {
    make: (_, tell) => tell('twice', document.currentScript),
    told: 'outbox.js is a second tag: leave it out',
  },
  '`data-auto` in a file that captures nothing': {
    tag: `${TAG} data-auto="clicks"`,
    told: '`data-auto` does nothing in outbox.js: load outbox-auto.js',
  },
  '`data-auto-options` in such a file': {
    tag: `${TAG} data-auto-options="labels"`,
    told: '`data-auto-options` does nothing in outbox.js: load outbox-auto.js',
  },
  'an empty `data-auto`': {
    file: 'outbox-auto.js',
    tag: `${TAG} data-auto=""`,
    told: 'outbox-auto.js captures nothing here: write data-auto="pageviews clicks"',
  },
  'a misspelt word of `data-auto`': {
    file: 'outbox-auto.js',
    tag: `${TAG} data-auto="pageview clicks local"`,
    told: 'data-auto has no pageview: did you mean `pageviews`?',
  },
  'outbox-auto.js without `data-auto`': {
    file: 'outbox-auto.js',
    told: 'outbox-auto.js captures nothing here: write data-auto="pageviews clicks"',
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
    told: 'option `timeout` (data-timeout) must be a number of ms, not "20s"',
  },
  'a switch that says neither on nor off': {
    tag: `${TAG} data-debug="yes"`,
    told: '`data-debug` is "yes": write true or false; it counts as not given',
  },
  'a stub of another name than the tag has': {
    tag: `${TAG} data-global="outbox"`,
    before: (page) => (page['analytics'] = stub()),
    told: 'the stub is window.analytics, but the tag is for window.outbox: write data-global="analytics"',
  },
  'a renamed stub without `data-global`': {
    before: (page) => (page['tracker'] = stub()),
    told: 'the stub is window.tracker, but the tag is for window.analytics: write data-global="tracker"',
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
};
