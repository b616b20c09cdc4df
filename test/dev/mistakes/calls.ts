import { SETUP, type Mistake } from './mistake.js';

const cyclic: unknown[] = [1];
cyclic.push({ list: cyclic });

export const MISTAKES_OF_CALLS: Record<string, Mistake> = {
  'an event without a name': {
    make: ({ event }) => event(undefined),
    told: "a call was dropped (invalid-call): `event`: wrong name: give the event's name first",
  },
  'an event whose name is white space': {
    make: ({ event }) => event('  '),
    told: '`event` is called with "  ", with white space around it: leave that out',
  },
  'a user with white space around the id': {
    make: ({ identify }) => identify('u\n'),
    told: '`identify` is called with "u\n", with white space around it: leave that out',
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
  'the user by another name': {
    make: ({ event }) => event('A', { user: 'u1' }),
    told: '`user` of `A` is sent as a tag: did you mean `userId`?',
  },
  'the time by another name': {
    make: ({ event }) => event('A', { time: 1 }),
    told: '`time` of `A` is sent as a tag: did you mean `timestamp`?',
  },
  'tags by another name': {
    make: ({ event }) => event('A', { metadata: { plan: 'pro' } }),
    told: '`metadata` of `A` is sent as a tag: did you mean `tags`?',
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
    make: ({ event }) => event('A', { items: [{ price: 1 }, { price: 2n }] }),
    told: 'a call was dropped (not-serializable): `items.1.price` of `A`: BigInt: give what JSON can hold',
  },
  'a circle': {
    make: ({ event }) => event('A', { ok: 1, deep: { list: cyclic } }),
    told: 'a call was dropped (not-serializable): `deep.list.1.list` of `A`: it contains itself: give what JSON can hold',
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
  'a `toJSON` that throws': {
    make: ({ event }) =>
      event('A', {
        when: {
          toJSON: () => {
            throw new Error('no time');
          },
        },
      }),
    told: 'a call was dropped (not-serializable): `when` of `A`: no time: give what JSON can hold',
  },
  'an empty user of an event': {
    make: ({ event }) => event('A', { userId: '' }),
    told: 'a call was dropped (invalid-call): `A`: wrong userId: give a real id, a text or a number',
  },
  'a value that is NaN': {
    make: ({ event }) => event('A', { tags: { n: NaN } }),
    told: '`tags.n` of `A` becomes `null` (NaN): give what JSON can hold',
  },
  'a Map': {
    make: ({ event }) => event('A', { list: [new Map([['a', 1]])] }),
    told: '`list.0` of `A` becomes `{}` (Map): give what JSON can hold',
  },
  'a function as a value': {
    make: ({ event }) => event('A', { plan: () => 'pro' }),
    told: '`plan` of `A` is left out (a function): give what JSON can hold',
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
    told: 'a call was dropped (invalid-call): `identify`: wrong userId: give a real id, a text or a number',
  },
  'the text `undefined` for a user': {
    make: ({ identify }) => identify(`${undefined}`),
    told: 'a call was dropped (invalid-call): `undefined`: wrong userId: give a real id, a text or a number',
  },
  'an object for a user': {
    make: (analytics) => analytics['identify']!({ id: 'u' }),
    told: 'a call was dropped (invalid-call): `identify`: wrong userId: give a real id, a text or a number',
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
  'a `beforeSend` that answers later': {
    init: { ...SETUP, beforeSend: async () => null },
    make: ({ event }) => event('A'),
    told: 'a call was dropped (before-send-error): `A`: before-send-error: `beforeSend` must return the draft or null, at once',
  },
  'no function to listen with': {
    make: ({ on }) => on('drop'),
    told: '`on` of `drop`: give a function second',
  },
  'a method that failed before this file came': {
    html: '<script>window.analytics.optIn()</script>',
    told: "there is no method `optIn`: write `setConsent('granted')`",
  },
  'a method of Segment': {
    make: (analytics) => analytics['track'],
    told: "there is no method `track`: write `event('Name', { … })`",
  },
  ...Object.fromEntries(
    [
      ['set', 'give the option `context`'],
      ['send', "write `event('Name', { … })`"],
      ['log', "write `event('Name', { … })`"],
      ['off', 'call what `on` returned'],
      ['consent', "write `setConsent('granted')`"],
      ['optIn', "write `setConsent('granted')`"],
    ].map(([method, fix]): [string, Mistake] => [
      `the method ${method}`,
      { make: (analytics) => analytics[method!], told: `there is no method \`${method}\`: ${fix}` },
    ]),
  ),
};
