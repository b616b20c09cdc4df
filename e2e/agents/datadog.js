import { datadogLogs } from '@datadog/browser-logs';
import { datadogRum } from '@datadog/browser-rum';

export const start = ({ ours, collector, isSet }) => {
  const isOther = (url = '') => !isSet || !url.startsWith(ours);
  const account = { clientToken: 'pub', site: 'datadoghq.com', service: 'shop', proxy: collector };
  datadogRum.init({
    ...account,
    applicationId: 'app',
    sessionSampleRate: 100,
    traceSampleRate: 100,
    trackResources: true,
    allowedTracingUrls: [isOther],
    excludedActivityUrls: isSet ? [(url) => !isOther(url)] : [],
    beforeSend: (event) => event.type !== 'resource' || isOther(event.resource.url),
  });
  datadogLogs.init({
    ...account,
    forwardErrorsToLogs: true,
    beforeSend: (log) => isOther(log.http?.url),
  });
};
