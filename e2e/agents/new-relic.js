import { BrowserAgent } from '@newrelic/browser-agent/loaders/browser-agent';

export const start = ({ ours, host, isSet }) => {
  new BrowserAgent({
    init: {
      distributed_tracing: {
        enabled: true,
        cors_use_newrelic_header: true,
        cors_use_tracecontext_headers: true,
        allowed_origins: isSet ? [location.origin] : [location.origin, ours],
      },
      ajax: { deny_list: isSet ? [host] : [] },
    },
    info: { beacon: 'nr.example', errorBeacon: 'nr.example', licenseKey: 'k', applicationID: '1' },
    loader_config: {
      accountID: '1',
      trustKey: '1',
      agentID: '1',
      licenseKey: 'k',
      applicationID: '1',
    },
  });
};
