import { checkOptions } from '../server/check-options.js';
import type { Voice } from './log.js';
import { load } from '../util/load.js';
import { openStore } from './open-store.js';
import { database } from './setting-kinds.js';

export const COPY_USAGE = 'copy <file:…|postgres://…> <file:…|postgres://…>';

/** Copies all rows, profiles and refused. It can be run again: anything that is there already is skipped. */
export const runCopy = async (
  [from, to, ...more]: readonly string[],
  { print, say }: Voice,
): Promise<void> => {
  if (!from || !to || more.length) throw new Error(`usage: ${COPY_USAGE}`);
  checkOptions('wrong addresses', { from, to }, { kinds: { from: database, to: database } });
  const { copyStore } = await load('hono', () => import('../service.js'));
  const source = await openStore(from, { name: 'from', mustExist: true });
  const target = await openStore(to, { name: 'to' });
  try {
    const total = await copyStore(source, target, {
      onProgress: ({ part, read }) => say(`${read} ${part} read …`),
    });
    print(`copied ${total.rows} rows and ${total.refused} refused, and merged the profiles`);
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
};
