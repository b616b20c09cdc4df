/**
 * Never run, only compiled: by `npm run build`, where a `@ts-expect-error` without an error is one,
 * and by `test/types.test.ts`.
 */
import { analytics, createAnalytics } from '../../src/index.js';
import { createAnalytics as createRelayAnalytics } from '../../src/relay-client.js';
import type {
  Analytics,
  DirectOptions,
  EventFields,
  RelayOptions,
  TagAnalytics,
} from '../../src/index.js';

declare const setup: DirectOptions;
declare const relayed: RelayOptions;
declare const anyName: string;
declare const openFields: EventFields;

const onlyRelay = createRelayAnalytics();

declare global {
  interface Window {
    /** What a user of the script tag writes. */
    typedTag: TagAnalytics<Events, Traits>;
  }
}

// --- an event map and traits, as interfaces and as type literals ----------------------------------

interface SignedUp {
  plan: 'free' | 'pro';
  seats?: number;
}
interface Events {
  'Signed Up': SignedUp;
  Searched: { query: string };
  'Filter Changed': { filter?: string };
  'Logged Out': object;
  'Page Left': Record<string, never>;
  'Words Counted': Record<string, number>;
  'Mail Sent': { channel: string; size: number };
}
interface Traits {
  plan?: 'free' | 'pro';
  seats?: number;
}
const byInterface = createAnalytics<Events, Traits>(setup);

type EventsLiteral = { 'Signed Up': { plan: 'free' | 'pro' }; 'Logged Out': object };
const byLiteral = createAnalytics<EventsLiteral, { plan: string }>();

/** Each needs tags. */
const byNeeds = createAnalytics<{ 'Order Placed': { total: number } }>();

const byNothing: Analytics = createAnalytics();

export const compiles = async () => {
  byInterface.event('Signed Up', { tags: { plan: 'free', seats: 3 }, notify: true, icon: '🎉' });
  byInterface.event('Searched', { tags: { query: 'x' }, userId: null, timestamp: new Date() });
  byInterface.event('Filter Changed');
  byInterface.event('Filter Changed', { description: 'without tags' });
  byInterface.event('Logged Out');
  byInterface.event('Logged Out', { channel: 'growth', timestamp: '2030-01-01T00:00:00Z' });
  byInterface.event('Page Left');
  byInterface.identify('user_1', { plan: 'pro', seats: 3 });
  const traits: Traits = { plan: 'free' };
  byInterface.identify('user_1', traits);
  const tags: SignedUp = { plan: 'free' };
  byInterface.event('Signed Up', { tags });

  // Tags beside the fields.
  byInterface.event('Signed Up', { plan: 'pro', seats: 3, notify: true, user_id: 'user_1' });
  byInterface.event('Signed Up', { plan: 'pro', tags: { seats: 3 } });
  byInterface.event('Signed Up', { tags: { plan: 'pro' }, seats: 3 });
  byInterface.event('Signed Up', tags);
  byInterface.event('Filter Changed', { filter: 'x' });
  byInterface.event('Logged Out', { anything: 1, user_id: null });
  byInterface.event('Words Counted', { the: 12, icon: '📖' });
  byInterface.event('Mail Sent', { tags: { channel: 'mail', size: 3 }, channel: 'growth' });
  byLiteral.event('Signed Up', { plan: 'pro' });

  byLiteral.event('Signed Up', { tags: { plan: 'pro' } });
  byLiteral.identify('user_1', { plan: 'whatever' });

  for (const one of [analytics, byNothing]) {
    one.event('Anything');
    one.event(anyName, { tags: { anything: [1, { deep: true }] } });
    one.event('Interface', { tags });
    one.event('Flat', { anything: [1, { deep: true }], icon: '🎉', userId: null });
    one.event('Fields', openFields);
    one.identify(anyName, traits);
  }

  byInterface.init({ ...setup, token: () => Promise.resolve('t'), beforeSend: (draft) => draft });
  byInterface.init({ relay: '/a', project: 'p', channel: 'c' });
  createAnalytics({ ...relayed, flushAt: 3 });
  onlyRelay.init(relayed);
  onlyRelay.event('Anything');
  byInterface.init({
    ...setup,
    beforeSend: () => null,
    onDrop: ({ reason }) => reason === 'expired',
  });
  byInterface.init({ ...setup, context: { app: 'shop' }, respectGpc: true });
  byInterface.init({ ...setup, context: () => ({ path: '/' }) });
  byInterface.on('consent', ({ consent }) => consent === 'granted');
  byInterface.on('reset', () => undefined);
  const { delivered, waiting } = await byInterface.flush();
  const stop: () => void = byInterface.on('outcome', ({ record, outcome }) => [record.id, outcome]);
  stop();

  // Methods need no `this`; a lint rule says so.
  const { event, identify, flush } = byInterface;
  event('Signed Up', { plan: 'pro' });
  identify('user_1');
  void flush().then(byInterface.stop);

  // Nothing else is needed to switch it off.
  createAnalytics({ disabled: true }).init({ disabled: true, project: 'p' });
  createRelayAnalytics({ disabled: true });
  window.typedTag.event('Signed Up', { plan: 'pro' });
  const unsubscribe = await window.typedTag.on('drop', ({ reason }) => reason);
  unsubscribe();
  const takesAny = (one: Analytics) => one.status();
  takesAny(byNothing);
  const paused: string | undefined = byInterface.status().paused;
  const fields: EventFields<SignedUp> = { tags };
  return { delivered, waiting, paused, fields };
};

export const doesNotCompile = () => {
  // @ts-expect-error misspelt event name
  byInterface.event('Singed Up', { tags: { plan: 'pro' } });
  // @ts-expect-error misspelt event name where all events need tags
  byNeeds.event('Odrer Placed');
  // @ts-expect-error misspelt event name of the tag
  window.typedTag.event('Loged Out');
  // @ts-expect-error a name that is only known to be a string
  byInterface.event(anyName);
  // @ts-expect-error misspelt tag of two
  byInterface.event('Signed Up', { tags: { plan: 'pro', seat: 3 } });
  // @ts-expect-error misspelt tag, where none is required
  byInterface.event('Filter Changed', { tags: { fitler: 'x' } });
  // @ts-expect-error tag of a wrong type
  byInterface.event('Searched', { tags: { query: 5 } });
  // @ts-expect-error tag with a value that is not in the list
  byInterface.event('Signed Up', { tags: { plan: 'gold' } });
  // @ts-expect-error required tag missing
  byInterface.event('Signed Up', { tags: { seats: 3 } });
  // @ts-expect-error second argument missing, though a tag is required
  byInterface.event('Signed Up');
  // @ts-expect-error tags of another event
  byInterface.event('Searched', { tags: { plan: 'pro' } });
  // @ts-expect-error tags where the event has none
  byInterface.event('Page Left', { tags: { plan: 'pro' } });
  // @ts-expect-error tags that are no object
  byInterface.event('Logged Out', { tags: 'pro' });
  // @ts-expect-error required tag missing beside the fields
  byInterface.event('Signed Up', { seats: 3, icon: '🎉' });
  // @ts-expect-error misspelt tag of two beside the fields
  byInterface.event('Signed Up', { plan: 'pro', saets: 3 });
  // @ts-expect-error misspelt tag beside the fields, where none is required
  byInterface.event('Filter Changed', { fliter: 'x' });
  // @ts-expect-error tag beside the fields with a value that is not in the list
  byInterface.event('Signed Up', { plan: 'gold' });
  // @ts-expect-error tag of a wrong type beside the fields, whatever its name
  byInterface.event('Words Counted', { the: [] });
  // @ts-expect-error tag that has the name of a field beside the fields
  byInterface.event('Mail Sent', { channel: 'mail', size: 3 });
  // @ts-expect-error misspelt field of an event whose tags are known
  byInterface.event('Filter Changed', { chanel: 'growth' });
  // @ts-expect-error user by the service's name with a wrong type
  byInterface.event('Logged Out', { user_id: 1 });
  // @ts-expect-error field of a wrong type beside any tags
  analytics.event('Anything', { anything: 1, notify: 'yes' });
  // @ts-expect-error field of a wrong type
  byInterface.event('Logged Out', { notify: 'yes' });
  // @ts-expect-error time as a number
  byInterface.event('Logged Out', { timestamp: Date.now() });
  // @ts-expect-error no name at all
  byInterface.event();

  // @ts-expect-error trait of a wrong type
  byInterface.identify('user_1', { seats: 'three' });
  // @ts-expect-error misspelt trait
  byInterface.identify('user_1', { paln: 'pro' });
  // @ts-expect-error required trait missing
  byLiteral.identify('user_1', {});
  // @ts-expect-error all traits missing, though one of them is required
  byLiteral.identify('user_1');
  // @ts-expect-error options missing that only a disabled instance may leave out
  createAnalytics({ disabled: false });
  // @ts-expect-error traits that are no object
  byInterface.identify('user_1', 'pro');
  byInterface.identify(1);
  // @ts-expect-error no user at all
  byInterface.identify();
  // @ts-expect-error tags of the default instance that are no object
  analytics.event('Anything', { tags: 5 });

  // @ts-expect-error misspelt option
  analytics.init({ ...setup, flushat: 3 });
  // @ts-expect-error option of a wrong type
  analytics.init({ ...setup, flushAt: '3' });
  // @ts-expect-error required option missing
  analytics.init({ baseUrl: 'https://in.example', token: 't', project: 'p' });
  // @ts-expect-error a token beside a relay
  analytics.init({ ...relayed, token: 't' });
  // @ts-expect-error a relay beside address and token
  analytics.init({ ...setup, relay: '/a' });
  // @ts-expect-error an idempotency key beside a relay
  analytics.init({ ...relayed, idempotencyKey: true });
  // @ts-expect-error the direct form where there is only a relay
  onlyRelay.init(setup);
  // @ts-expect-error no options at all
  analytics.init();
  // @ts-expect-error misspelt option of createAnalytics
  createAnalytics({ ...setup, projct: 'p' });
  // @ts-expect-error consent that does not exist
  analytics.init({ ...setup, consent: 'maybe' });
  // @ts-expect-error a context that is no object
  analytics.init({ ...setup, context: 'shop' });
  // @ts-expect-error asynchronous beforeSend
  analytics.init({ ...setup, beforeSend: async (draft) => Promise.resolve(draft) });
  // @ts-expect-error consent that does not exist
  analytics.setConsent('maybe');
  // @ts-expect-error misspelt listener
  analytics.on('delivered', () => undefined);
  // @ts-expect-error field of another payload
  analytics.on('drop', ({ outcome }) => outcome);
  // @ts-expect-error an event map whose tags are no objects
  createAnalytics<{ 'Signed Up': string }>();
};
