import { withoutQuery } from '../capture/without-query.js';
import { pageTags, pathOf } from './browser/page-tags.js';
import { callBack } from './call-back.js';
import type { PostHog } from './posthog-types.js';
import { refuse } from './refuse.js';
import type { ConsentTarget } from './target.js';

/** Documented calls that have no counterpart, by what they answer: the page may go on with that. */
const REFUSED: readonly (readonly [names: string, answer: () => unknown])[] = [
  [
    'alias addExceptionStep cancelPendingSurvey canRenderSurvey captureException captureLog captureTraceFeedback captureTraceMetric clear_opt_in_out_capturing clearIdentity createPersonProfile debug displaySurvey getActiveMatchingSurveys getEarlyAccessFeatures getFeatureFlag getFeatureFlagPayload getFeatureFlagResult getPageViewId getSurveys isFeatureEnabled loadToolbar reloadFeatureFlags renderSurvey resetGroupPropertiesForFlags resetGroups resetPersonPropertiesForFlags sessionRecordingStarted set_config setGroupPropertiesForFlags setIdentity setInternalOrTestUser setPersonPropertiesForFlags startExceptionAutocapture startSessionRecording stopExceptionAutocapture stopSessionRecording unsetPersonProperties updateEarlyAccessFeatureEnrollment updateFlags',
    () => undefined,
  ],
  ['get_session_id get_session_replay_url', () => ''],
  ['getAllFeatureFlags', () => []],
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
  const isGranted = () => consent() === 'granted';

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
    has_opted_in_capturing: isGranted,
    is_capturing: isGranted,
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
  return posthog;
};
