import { withoutQuery } from '../capture/without-query.js';
import { pageTags, pathOf } from './browser/page-tags.js';
import { callBack } from './call-back.js';
import { refuse } from './refuse.js';
import type { ConsentTarget } from './target.js';

/** PostHog's documented calls that have a counterpart. None throws. */
export interface PostHog {
  /** The options of the instance count. Of those given here `loaded` is called. */
  init(token?: string, config?: object | null): PostHog;
  /**
   * An event whose tags are the properties. `$pageview` becomes `Page Viewed`, `$set` an identify, and `$pathname` or
   * `$current_url` the tag `path`.
   */
  capture(
    event: string,
    properties?: object | null,
    options?: { timestamp?: Date | string; $set?: object },
  ): void;
  /** What is to be set once is not sent: the service decides what an update changes. */
  identify(userId: string, set?: object, setOnce?: object): void;
  /** It is about the identified user. */
  setPersonProperties(set?: object, setOnce?: object): void;
  /** The older form of it. */
  people: {
    set(what: string | object, value?: unknown): void;
    /** Refused. */
    set_once(what: string | object, value?: unknown): void;
  };
  /** An event `Group Joined` with the tags `type` and `key`. */
  group(type: string, key: string, properties?: object): void;
  /** Tags of all later events of this page. */
  register(properties: object): void;
  /** The same, for tags that have no value yet. */
  register_once(properties: object): void;
  register_for_session(properties: object): void;
  unregister(name: string): void;
  unregister_for_session(name: string): void;
  /** The value of a registered tag. */
  get_property(name: string): unknown;
  getSessionProperty(name: string): unknown;
  /** Forgets the user and the registered tags. */
  reset(): void;
  /** The identified user. */
  get_distinct_id(): string | undefined;
  opt_in_capturing(): void;
  opt_out_capturing(): void;
  has_opted_in_capturing(): boolean;
  has_opted_out_capturing(): boolean;
  is_capturing(): boolean;
  get_explicit_consent_status(): 'granted' | 'denied' | 'pending';
  /** Makes the call of an entry of the snippet's list. */
  push(call: [method: string, ...args: unknown[]]): void;
}

/** Documented calls that have no counterpart, by what they answer: the page may go on with that. */
const REFUSED: readonly (readonly [names: string, answer: () => unknown])[] = [
  [
    'alias addExceptionStep cancelPendingSurvey canRenderSurvey captureException captureLog captureTraceFeedback captureTraceMetric clear_opt_in_out_capturing clearIdentity createPersonProfile debug displaySurvey getActiveMatchingSurveys getEarlyAccessFeatures getFeatureFlag getFeatureFlagPayload getFeatureFlagResult getPageViewId getSurveys isFeatureEnabled loadToolbar reloadFeatureFlags renderSurvey resetGroupPropertiesForFlags resetGroups resetPersonPropertiesForFlags sessionRecordingStarted set_config setGroupPropertiesForFlags setIdentity setInternalOrTestUser setPersonPropertiesForFlags startExceptionAutocapture startSessionRecording stopExceptionAutocapture stopSessionRecording unsetPersonProperties updateEarlyAccessFeatureEnrollment updateFlags',
    () => undefined,
  ],
  ['get_session_id get_session_replay_url', () => ''],
  ['getAllFeatureFlags getFlags', () => []],
  ['getGroups', () => ({})],
  ['canRenderSurveyAsync shutdown', async () => ({})],
  // What ends the listening.
  ['on onFeatureFlags onSessionId onSurveysLoaded', () => () => undefined],
];

/** A page waits for the list that these call back with. It is empty. */
const LISTS = /^(?:onFeature|onSurveys|getSurveys|getActive|getEarly)/;

type Methods = Record<string, (...args: unknown[]) => unknown>;

/**
 * PostHog's documented calls, over an instance.
 * @example createPostHog(analytics).capture('signed up', { plan: 'pro' });
 */
export const createPostHog = (analytics: ConsentTarget): PostHog => {
  const { identify, event, reset, setConsent } = analytics;
  let registered: Record<string, unknown> = {};
  const setKnown = (set?: object) => identify(analytics.status().userId!, set);
  const register = (properties: object) => void Object.assign(registered, properties);
  const unregister = (name: string) => void delete registered[name];
  const property = (name: string) => registered[name];
  const consent = () => analytics.status().consent;

  const posthog: PostHog = {
    init: (_token, config) => {
      callBack((config as { loaded?: unknown } | undefined)?.loaded, posthog);
      return posthog;
    },
    capture: (name, properties, options) => {
      const {
        $set = options?.$set,
        $set_once: _,
        $current_url,
        $pathname = $current_url,
        $referrer,
        ...own
      } = (properties ?? {}) as Record<string, unknown>;
      const isView = name === '$pageview';
      const tags = {
        ...(isView && pageTags()),
        ...($pathname !== undefined && { path: pathOf($pathname) }),
        ...($referrer !== undefined && { referrer: withoutQuery(String($referrer)) }),
        ...registered,
        ...own,
      };
      event(isView ? 'Page Viewed' : name, { tags, timestamp: options?.timestamp });
      if ($set) setKnown($set as object);
    },
    identify: (id, set) => identify(id, set),
    setPersonProperties: setKnown,
    people: {
      set: (what, value) => setKnown(typeof what === 'string' ? { [what]: value } : what),
      set_once: () => refuse(analytics, 'people.set_once'),
    },
    group: (type, key, properties) => event('Group Joined', { tags: { type, key, ...properties } }),
    register,
    register_once: (properties) => register({ ...properties, ...registered }),
    register_for_session: register,
    unregister,
    unregister_for_session: unregister,
    get_property: property,
    getSessionProperty: property,
    reset: () => {
      registered = {};
      reset();
    },
    get_distinct_id: () => analytics.status().userId,
    opt_in_capturing: () => setConsent('granted'),
    opt_out_capturing: () => setConsent('denied'),
    has_opted_in_capturing: () => consent() === 'granted',
    is_capturing: () => consent() === 'granted',
    has_opted_out_capturing: () => consent() === 'denied',
    get_explicit_consent_status: consent,
    push: ([name, ...args]) => (methods[name] ?? (() => refuse(analytics, name)))(...args),
  };
  const methods = posthog as unknown as Methods;
  for (const [names, answer] of REFUSED)
    for (const name of names.split(' '))
      methods[name] = (callback) => {
        refuse(analytics, name);
        if (LISTS.test(name)) callBack(callback, [], {}, {});
        return answer();
      };
  // PostHog has what is about flags there, too.
  return Object.assign(posthog, { featureFlags: posthog });
};
