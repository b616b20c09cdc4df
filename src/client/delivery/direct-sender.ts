import { createCarrier } from './carrier.js';
import type { Capacity, Sender, SenderEffects } from './sender.js';
import { createTokenAccess } from './token-access.js';
import { createTokenSource } from '../../interface/token.js';

type Effects = Pick<SenderEffects, 'settings' | 'now' | 'watchDeparture' | 'isGoing'>;

/** The service has no batch. */
const CAPACITY: Capacity = {
  records: 1,
  bytes: Infinity,
  bytesPerRecord: 0,
};

const problemOf = (status: number): string =>
  status === 401 || status === 403
    ? `the service refuses the token (${status}): check the option \`token\``
    : `no such service (${status}): check the option \`baseUrl\``;

/** Sends one record a request, straight to the service (interface, section 4). */
export const createDirectSender = (effects: Effects): Sender => {
  const { settings } = effects;
  const { room, post, abort, comeBack } = createCarrier(effects);
  const token = createTokenSource(
    () => settings().token ?? '',
    () => settings().timeout,
  );

  return {
    capacity: CAPACITY,
    hasPreflight: true,
    room,
    access: createTokenAccess(token),
    send: async ([record], { size, keepalive }) => {
      const { baseUrl = '', idempotencyKey } = settings();
      const { id, type, body } = record!;
      const used = token.get() ?? '';
      const answer = await post({
        url: `${baseUrl.replace(/\/+$/, '')}/v1/${type}`,
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
      return answer && { ...answer, token: used, problem: problemOf(answer.status) };
    },
    abort,
    comeBack,
  };
};
