import type { Voice } from './log.js';
import type { Message } from '../server/exports/notify-message.js';
import { createPost } from '../server/exports/notify-post.js';
import { readNotifySettings } from './settings.js';

export const NOTIFY_USAGE = 'notify --test';

const testMessage = (now: number): Message => {
  const time = new Date(now).toISOString();
  const row = {
    ...{ id: `test-${now}`, called_at: time, received_at: time },
    ...{ icon: '🔔', description: 'Notifications of analytics-outbox arrive here.' },
  };
  const names = { project: 'test', channel: 'test', event: 'Test' };
  return {
    ...{ id: `msg_test_${now}`, count: 1, others: 0, from: time, to: time },
    groups: [{ ...names, place: 0, count: 1, first: row, last: row }],
  };
};

/** Sends a test message to each address of `NOTIFY`, and prints what each has answered. Rejects if one took none. */
export const runNotify = async (
  args: readonly string[],
  { environment, print }: Pick<Voice, 'print'> & { environment: NodeJS.ProcessEnv },
): Promise<void> => {
  if (args.length !== 1 || args[0] !== '--test') throw new Error(`usage: ${NOTIFY_USAGE}`);
  const { addresses, ...shared } = readNotifySettings(environment);
  const message = testMessage(Date.now());
  let failed = 0;
  for (const address of addresses) {
    const { outcome, words } = await createPost({ address, ...shared })(message);
    if (outcome !== 'delivered') failed += 1;
    print(`${address.name} ${words}${outcome === 'delivered' ? ': it took the message' : ''}`);
  }
  if (failed) throw new Error(`${failed} of ${addresses.length} took no message`);
};
