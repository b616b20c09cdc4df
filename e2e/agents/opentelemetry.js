import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { FetchInstrumentation } from '@opentelemetry/instrumentation-fetch';
import { WebTracerProvider } from '@opentelemetry/sdk-trace-web';

export const start = ({ ours, isSet }) => {
  new WebTracerProvider().register();
  const ignoreUrls = isSet ? [new RegExp(`^${ours}`)] : [];
  registerInstrumentations({
    instrumentations: [
      new FetchInstrumentation({ propagateTraceHeaderCorsUrls: [/./], ignoreUrls }),
    ],
  });
};
