import { mayFail } from '../util/may-fail.js';
import type { DeliveryError, Options } from '../client/types.js';

type Destination = Pick<Partial<Options>, 'relay' | 'baseUrl'>;

/** The address of the relay or of the service. */
export const addressOf = ({ relay, baseUrl = relay }: Destination): string => {
  const { href } = new URL(baseUrl!, location.href);
  return href.replace(/\/+$/, '');
};

/**
 * Tools that follow requests put their own `fetch` in place of the browser's, which has a name and a length and no other
 * property. Sentry's reads like the browser's, as `toString` is replaced, too.
 */
const isFetchReplaced = (): boolean =>
  Object.getOwnPropertyNames(fetch).length > 2 ||
  !Function.prototype.toString.call(fetch).includes('[native code]');

/** So much of an answer that is no JSON is shown. */
const MOST = 200;

/** The address, the status and the service's own words, of what the tracker says of an answer. */
export const answerOf = (problem: string): string => {
  const [, start, text] = /^(\S+ \d+) ([^]+)/.exec(problem) ?? [problem, problem];
  if (!text) return problem.trim();
  const { message = text } = mayFail(() => JSON.parse(text) as { message?: unknown }) ?? {};
  return `${start}: ${String(message).slice(0, MOST)}`;
};

/** What is wrong with delivery, and which option to check. */
export const errorText = (
  { kind, message, status = 0 }: DeliveryError,
  options: Destination,
): string => {
  const { relay } = options;
  const address = addressOf(options);
  if (/^the relay/.test(message))
    return `the relay gets ${status || 'no answer'} from the service: check its set-up`;
  if (kind === 'unreachable')
    return (
      `nothing answers at ${address}: check the address, CORS and blockers` +
      (isFetchReplaced()
        ? '. Another script has replaced `fetch`: it may add headers that CORS does not allow'
        : '')
    );
  if (!status) return `no token: ${message.slice(7)}: check the option \`token\``;
  const isRoot = relay && !/[^:/]\//.test(address);
  if (isRoot || (status !== 401 && status !== 403)) {
    const [what, option] = relay ? ['relay', 'relay'] : ['service', 'baseUrl'];
    // The browser does not tell which redirect it was: 301, 302, 307 or 308.
    if (status === 302)
      return `${address} redirects, which no request follows: give the option \`${option}\` the address that it leads to`;
    return `${address} answers ${status}, not as a ${what} does: ${isRoot ? 'add a path such as "/a" to' : 'check'} the option \`${option}\``;
  }
  return relay
    ? `the relay refuses this page (${status}): check its \`origins\` and \`authorize\``
    : `the service refuses the token (${status}): check the option \`token\``;
};

/** Whether the browser blocks the address: by http, a page that came by https reaches its own machine alone. */
export const isMixed = (address: string): boolean =>
  location.protocol === 'https:' && /^http:\/\/(?!localhost|127\.|\[::1)/.test(address);

/** Calls `onBlocked` each time that the page's Content Security Policy blocks a request to the destination. */
export const followPolicy = (destination: () => Destination, onBlocked: (why: string) => void) =>
  document.addEventListener(
    'securitypolicyviolation',
    ({ blockedURI, effectiveDirective, disposition }) => {
      const { origin } = new URL(addressOf(destination()));
      // Some browsers tell the origin alone.
      const isEnforced = disposition === 'enforce' && effectiveDirective === 'connect-src';
      if (isEnforced && `${blockedURI}/`.startsWith(`${origin}/`))
        onBlocked(`the page's Content Security Policy blocks ${origin}: add it to connect-src`);
    },
  );
