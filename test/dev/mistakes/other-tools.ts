import { TAG, type Mistake } from './mistake.js';

const DOCS = 'https://github.com/analytics-outbox/analytics-outbox/blob/main/docs';

export const CALLS_OF_OTHER_TOOLS: Record<string, Mistake> = {
  'calls of PostHog that wait': {
    before: (page) => (page['posthog'] = Object.assign([['capture', 'a']], { __SV: 1 })),
    lateMs: 5_000,
    told: 'calls of PostHog are here, and nothing takes them: analytics-outbox/compat/posthog',
  },
  'calls of Plausible that wait': {
    before: (page) => (page['plausible'] = Object.assign(() => undefined, { q: [['Signup']] })),
    lateMs: 5_000,
    told: 'calls or classes of Plausible are here, and nothing takes them: analytics-outbox/compat/plausible',
  },
  'class names of Plausible': {
    html: '<a class="plausible-event-name=Signup">',
    lateMs: 5_000,
    told: 'calls or classes of Plausible are here, and nothing takes them: analytics-outbox/compat/plausible',
  },
  'attributes of Umami': {
    html: '<button data-umami-event="Signup">',
    lateMs: 5_000,
    told: 'attributes of Umami are here, and nothing takes them: analytics-outbox/compat/umami',
  },
  'calls of gtag that wait': {
    before: (page) => (page['dataLayer'] = [['event', 'login']]),
    lateMs: 5_000,
    told: 'calls of gtag are here, and nothing takes them: analytics-outbox/compat/gtag',
  },
  'calls of Segment that wait': {
    tag: `${TAG} data-global="outbox"`,
    before: (page) => (page['analytics'] = [['track', 'A']]),
    lateMs: 5_000,
    told: 'calls of Segment are here, and nothing takes them: analytics-outbox/compat/segment',
  },
  'calls of Mixpanel that wait': {
    before: (page) =>
      (page['mixpanel'] = Object.assign([['track', 'A']], { _i: [['TOKEN']], __SV: 1.2 })),
    lateMs: 5_000,
    told: `calls of Mixpanel are here, and nothing takes them: write them by ${DOCS}/migration.md#mixpanel`,
  },
  'calls of Amplitude that wait': {
    before: (page) => (page['amplitude'] = { invoked: true, _q: [{ name: 'track' }] }),
    lateMs: 5_000,
    told: `calls of Amplitude are here, and nothing takes them: write them by ${DOCS}/migration.md#amplitude`,
  },
  'calls of Matomo that wait': {
    before: (page) => (page['_paq'] = [['trackPageView']]),
    lateMs: 5_000,
    told: `calls of Matomo are here, and nothing takes them: write them by ${DOCS}/migration.md#matomo`,
  },
  'calls of LogSnag that wait': {
    before: (page) => (page['lsq'] = [['track', { event: 'A' }]]),
    lateMs: 5_000,
    told: 'calls of LogSnag are here, and nothing takes them: analytics-outbox/compat/logsnag',
  },
};
