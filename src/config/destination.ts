/**
 * Name of a destination's storage: endpoint and project, never the token, so that records made for one
 * destination cannot be sent to another. Spaces part it, and are encoded in the parts.
 */
export const destinationName = (baseUrl: string, project: string): string =>
  ['analytics-outbox', baseUrl.replace(/\/+$/, ''), project].map(encodeURI).join(' ');
