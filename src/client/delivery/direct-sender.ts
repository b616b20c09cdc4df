import { createCarrier } from './carrier.js';
import type { Capacity, Sender, SenderEffects } from './sender.js';
import type { Verdict } from '../../interface/outcome.js';
import { createTokenSource, type TokenSource } from '../../interface/token.js';

type Effects = Omit<SenderEffects, 'beacon'>;

/** One record a request, since the service has no batch operation. */
const CAPACITY: Capacity = {
  records: 1,
  bytes: Infinity,
  bytesPerRecord: 0,
};

const problemOf = (status: number, url: string): string =>
  status === 401 || status === 403
    ? `the service refuses the token (${status}): check the option \`token\``
    : `no service at ${url} (${status}): check the option \`baseUrl\``;

/**
 * Tells the token source what an answer means for the token of the request. Returns true if the answer was about
 * that token only: another one is in use by now, or has to be asked for.
 */
export const tellToken = (
  token: TokenSource,
  used: string,
  { outcome, status }: Verdict,
): boolean => {
  if (outcome === 'delivered' || outcome === 'rejected') token.passed();
  return outcome === 'blocked' && (used !== token.get() || (status === 401 && token.refused()));
};

/** Sends each record in a request of its own, straight to the service (interface, section 4). */
export const createDirectSender = (effects: Effects): Sender => {
  const { settings } = effects;
  const { post, ...carrier } = createCarrier(effects);
  const token = createTokenSource(
    () => settings().token ?? '',
    () => settings().timeout,
  );

  return {
    ...carrier,
    capacity: CAPACITY,
    hasPreflight: true,
    token,
    send: async ([record], { size, keepalive }) => {
      const { baseUrl = '', idempotencyKey } = settings();
      const { id, type, body } = record!;
      const used = token.get() ?? '';
      const url = `${baseUrl.replace(/\/+$/, '')}/v1/${type}`;
      const answer = await post({
        url,
        headers: {
          authorization: `Bearer ${used}`,
          'content-type': 'application/json',
          ...(idempotencyKey && { 'idempotency-key': id }),
        },
        body,
        credentials: 'omit',
        size,
        keepalive,
      });
      return (
        answer && {
          problem: problemOf(answer.status, url),
          isStale: tellToken(token, used, answer),
          ...answer,
        }
      );
    },
  };
};
