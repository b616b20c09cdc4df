import { createHash } from 'node:crypto';

let made = 0;

/** A record as a page sends it, with an id of its own. */
export const nextRecord = () => {
  const n = made++;
  const user = { project: 'shop', channel: 'web', user_id: `user-${n % 5_000}` };
  const said = { event: 'Order placed', tags: { total: 42, currency: 'EUR' } };
  const id = createHash('sha1').update(`${process.pid} ${n}`).digest('hex').slice(0, 21);
  return { id, type: 'event', body: { ...user, ...said, timestamp: new Date().toISOString() } };
};
