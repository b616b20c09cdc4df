import { ApplicationInsights } from '@microsoft/applicationinsights-web';

export const start = ({ ours, host, collector, isSet }) => {
  const key = 'InstrumentationKey=00000000-0000-4000-8000-000000000000';
  const config = {
    connectionString: `${key};IngestionEndpoint=${collector}`,
    enableCorsCorrelation: true,
    ...(isSet && {
      excludeRequestFromAutoTrackingPatterns: [new RegExp(`^${ours}`)],
      correlationHeaderExcludedDomains: [host],
    }),
  };
  new ApplicationInsights({ config }).loadAppInsights();
};
