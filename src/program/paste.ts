/** Below this path pages send without a token. */
export const RELAY_PATH = '/a';

interface Place {
  /** Address of the program as pages see it; empty where they see it as a part of their own site. */
  url: string;
  project: string;
  channel: string;
}

/** Tells in the console of a file that is missing or blocked. It has no quotes but single ones, for an attribute. */
const ON_ERROR =
  "console.error('analytics-outbox: ' + this.src + ' did not load: check the address, and blockers')";

/**
 * The one tag to paste: relay form, page views on. Without `async`, so that the scripts below it can call `analytics`
 * though they have no stub. With an address it is for local pages, which the snippet does not capture without being
 * asked.
 */
export const tagFor = ({ url, project, channel }: Place): string => {
  const auto = url ? 'pageviews local' : 'pageviews';
  return `<script src="${url}/outbox-auto.js" data-relay="${url}${RELAY_PATH}" data-project="${project}" data-channel="${channel}" data-auto="${auto}" onerror="${ON_ERROR}"></script>`;
};
