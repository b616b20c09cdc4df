import type { Settings } from '../../options.js';
import { createToken } from './token.js';
import { post } from './post.js';
import type { Send, Sender } from './sender.js';

/** Sends a record in a request of its own, straight to the service (interface, section 4). */
export const createDirectSend = (settings: () => Settings): Sender => {
  const token = createToken(settings);
  const send: Send = async ([record], how) => {
    const { baseUrl, idempotencyKey } = settings();
    const { id, type, body } = record!;
    const headers = {
      authorization: `Bearer ${token.current()}`,
      'content-type': 'application/json',
      ...(idempotencyKey && { 'idempotency-key': id }),
    };
    const answer = await post(
      { url: `${baseUrl}/v1/${type}`, headers, body, credentials: 'omit', ...how },
      settings(),
    );
    return answer && [answer];
  };
  return [send, token];
};
