// @vitest-environment happy-dom
// @vitest-environment-options { "url": "https://shop.example/pricing" }
import { expect, it, vi } from 'vitest';
import { createPostHog, takeOverPostHog } from '../../src/compat-posthog.js';
import { outbox, refused } from './bench.js';

type Method = (...args: unknown[]) => unknown;

/** The documented methods of posthog-js that nothing here stands for, by what PostHog answers. */
const DOCUMENTED: Record<string, string> = {
  nothing: `addExceptionStep alias cancelPendingSurvey canRenderSurvey captureException captureLog
    captureTraceFeedback captureTraceMetric clear_opt_in_out_capturing clearIdentity createPersonProfile debug
    displaySurvey getActiveMatchingSurveys getEarlyAccessFeatures getFeatureFlag getFeatureFlagPayload
    getFeatureFlagResult getPageViewId getSurveys isFeatureEnabled loadToolbar reloadFeatureFlags renderSurvey
    resetGroupPropertiesForFlags resetGroups resetPersonPropertiesForFlags sessionRecordingStarted set_config
    setGroupPropertiesForFlags setIdentity setInternalOrTestUser setPersonPropertiesForFlags
    startExceptionAutocapture startSessionRecording stopExceptionAutocapture stopSessionRecording
    unsetPersonProperties updateEarlyAccessFeatureEnrollment updateFlags`,
  'a text': 'get_session_id get_session_replay_url',
  'a list': 'getAllFeatureFlags getFlags',
  'an object': 'getGroups',
  'a promise of an object': 'canRenderSurveyAsync shutdown',
  'a function': 'on onFeatureFlags onSessionId onSurveysLoaded',
};
const USES: Record<string, (answer: never) => unknown> = {
  nothing: (answer: unknown) => expect(answer).toBeUndefined(),
  'a text': (answer: string) => answer.length,
  'a list': (answer: unknown[]) => answer.map(String),
  'an object': (answer: object) => Object.keys(answer),
  'a promise of an object': (answer: Promise<object>) => answer.then(Object.keys),
  'a function': (answer: () => void) => answer(),
};
const ROWS = Object.entries(DOCUMENTED).flatMap(([answer, names]) =>
  names.split(/\s+/).map((name) => [name, answer] as const),
);

it.each(ROWS)(
  '%s: tells of it, and answers with %s that a page can go on with',
  async (name, answer) => {
    for (const posthog of [createPostHog(outbox), takeOverPostHog(outbox)]) {
      const call = (posthog as unknown as Record<string, Method>)[name]!;
      await USES[answer]!(call('a', {}, () => undefined) as never);
    }
    expect(outbox.drops()).toEqual(refused(name, name));
    expect(outbox.rows()).toEqual([]);
  },
);

it.each([
  'onFeatureFlags',
  'onSurveysLoaded',
  'getSurveys',
  'getActiveMatchingSurveys',
  'getEarlyAccessFeatures',
])('%s: calls back with an empty list, since a page waits for it', async (name) => {
  const callback = vi.fn();
  (createPostHog(outbox) as unknown as Record<string, Method>)[name]!(callback);
  expect(callback).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(callback).toHaveBeenCalledExactlyOnceWith([], {}, {}));
});

it.each(['on', 'onSessionId'])('%s: calls nobody back with what never happens', async (name) => {
  const callback = vi.fn();
  (createPostHog(outbox) as unknown as Record<string, Method>)[name]!(
    ...(name === 'on' ? ['eventCaptured', callback] : [callback]),
  );
  await new Promise((resolve) => setTimeout(resolve));
  expect(callback).not.toHaveBeenCalled();
});

it('answers in `featureFlags` as it does itself', () => {
  const { featureFlags } = takeOverPostHog(outbox) as unknown as {
    featureFlags: Record<string, Method>;
  };
  expect(featureFlags['getFlags']!()).toEqual([]);
  expect(featureFlags['isFeatureEnabled']!('a')).toBeUndefined();
  expect(outbox.drops()).toEqual(refused('getFlags', 'isFeatureEnabled'));
});
