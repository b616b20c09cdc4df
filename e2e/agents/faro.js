import { getWebInstrumentations, initializeFaro } from '@grafana/faro-web-sdk';
import { TracingInstrumentation } from '@grafana/faro-web-tracing';

export const start = ({ ours, collector, isSet }) => {
  const ignoreUrls = isSet ? [new RegExp(`^${ours}`)] : [];
  const instrumentationOptions = { propagateTraceHeaderCorsUrls: [/./] };
  initializeFaro({
    url: collector,
    app: { name: 'shop' },
    ignoreUrls,
    instrumentations: [
      ...getWebInstrumentations(),
      new TracingInstrumentation({ instrumentationOptions }),
    ],
  });
};
