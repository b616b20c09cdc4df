/** Below this path pages send without a token. */
export const RELAY_PATH = '/a';

interface Place {
  /** Address of the program for local pages; empty if it is a part of their site. */
  url: string;
  project: string;
  channel: string;
}

/** Logs to the console if the file is missing or blocked. It stands in an attribute, so it has single quotes only. */
const ON_ERROR =
  "console.error('analytics-outbox: ' + this.src + ' did not load: check the address, and blockers')";

/**
 * The tag to paste: with a relay, and page views on. Without `async`, so that the scripts below it can call `analytics`
 * without a stub. With an address it is for local pages, whose views the snippet records only with `local`.
 */
export const tagFor = ({ url, project, channel }: Place): string => {
  const auto = url ? 'pageviews local' : 'pageviews';
  return `<script src="${url}/outbox-auto.js" data-relay="${url}${RELAY_PATH}" data-project="${project}" data-channel="${channel}" data-auto="${auto}" onerror="${ON_ERROR}"></script>`;
};
