import * as Sentry from '@sentry/browser';

export const start = ({ ours, collector, isSet }) => {
  const isOurs = (url) => url.startsWith(ours);
  Sentry.init({
    dsn: 'https://key@sentry.example/1',
    tunnel: collector,
    tracesSampleRate: 1,
    tracePropagationTargets: isSet ? [location.origin] : [/./],
    integrations: [
      Sentry.browserTracingIntegration(
        isSet ? { shouldCreateSpanForRequest: (url) => !isOurs(url) } : {},
      ),
      Sentry.httpClientIntegration({ failedRequestTargets: isSet ? [location.origin] : [/./] }),
    ],
    beforeBreadcrumb: (crumb) => (isSet && isOurs(crumb.data?.url ?? '') ? null : crumb),
  });
};
