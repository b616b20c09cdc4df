import { callback, text } from '../../../interface/kinds.js';
import { checkOptions } from '../../check-options.js';
import { createLogStore } from '../log-store.js';
import type { Store } from '../port.js';
import { openDatabase } from './database.js';

export interface LibsqlStoreOptions {
  /** Of `createLibsqlStore`: the file, which is made with its folder; processes of one machine may share it. */
  path: string;
  /** Called with the number of records in which NUL or half a character was replaced by U+FFFD. */
  onReplaced?: ((records: number) => void) | undefined;
}

/** Keeps records in one file of this machine. */
export const createLibsqlStore = (options: LibsqlStoreOptions): Store => {
  checkOptions('createLibsqlStore', options, {
    kinds: { path: text, onReplaced: callback },
    required: ['path'],
  });
  const { path, onReplaced } = options;
  return createLogStore(openDatabase(path), { onReplaced });
};
