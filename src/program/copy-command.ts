import { copyStore } from '../service.js';
import { checkOptions } from '../server/check-options.js';
import { database } from './service-settings.js';
import { openServiceStore } from './service-store.js';

export const COPY_USAGE = 'copy <file:…|postgres://…> <file:…|postgres://…>';

interface Voice {
  /** Writes a line of the result. */
  print: (line: string) => void;
  /** Writes a line for people, which is no part of the result. */
  say: (line: string) => void;
}

/** Copies all rows, profiles and refused. It can be run again: what is there already is passed over. */
export const runCopy = async (
  [from, to, ...more]: readonly string[],
  { print, say }: Voice,
): Promise<void> => {
  if (!from || !to || more.length) throw new Error(`usage: ${COPY_USAGE}`);
  checkOptions('wrong addresses', { from, to }, { kinds: { from: database, to: database } });
  const source = await openServiceStore(from, { name: 'from', mustExist: true });
  const target = await openServiceStore(to, { name: 'to' });
  try {
    const total = await copyStore(source, target, {
      onProgress: ({ part, read }) => say(`${read} ${part} read …`),
    });
    print(`copied ${total.rows} rows and ${total.refused} refused, and merged the profiles`);
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
};
