/** Below this path pages send without a token. */
export const RELAY_PATH = '/a';

interface Place {
  /** Address of the program, or its path on the site of the pages; empty if it stands at the root of that. */
  url: string;
  /** Whether the pages are on this machine. */
  isLocal: boolean;
  project: string;
  channel: string;
}

/** Logs to the console if the file is missing or blocked. It stands in an attribute, so it has single quotes only. */
const ON_ERROR =
  "console.error('analytics-outbox: ' + this.src + ' did not load: check the address, and blockers')";

/**
 * The tag to paste: with a relay, and page views on. Without `async`, so that the scripts below it can call `analytics`
 * without a stub. The snippet records the views of local pages only with `local`.
 */
export const tagFor = ({ url, isLocal, project, channel }: Place): string => {
  const auto = isLocal ? 'pageviews local' : 'pageviews';
  return `<script src="${url}/outbox-auto.js" data-relay="${url}${RELAY_PATH}" data-project="${project}" data-channel="${channel}" data-auto="${auto}" onerror="${ON_ERROR}"></script>`;
};
