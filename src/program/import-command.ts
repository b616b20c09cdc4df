import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { importRows } from '../server/store/import-rows.js';
import type { Voice } from './log.js';
import { openStore } from './open-store.js';
import { readLines, unpacked } from './read-lines.js';
import type { Places } from './settings.js';
import { plain } from './tail-lines.js';

export const IMPORT_USAGE =
  'import [<rows.ndjson>|<rows.ndjson.gz>|-] ' +
  '(skips rows that are there already; erased users come back)';

/** Bytes of a line. The row with the largest record has fewer. */
const MAX_LINE = 1_048_576;
/** How many wrong lines are shown. All are counted. */
const MAX_SHOWN = 20;

interface Parts extends Voice {
  places: Places;
  input: Readable;
}

/** Stores the rows of an export, `GET /rows?format=ndjson`. It can be run again: what is there already is skipped. */
export const runImport = async (
  [path = '-', ...more]: readonly string[],
  { places, input, print, say }: Parts,
): Promise<void> => {
  if (more.length) throw new Error(`usage: ${IMPORT_USAGE}`);
  const bytes = await unpacked(path === '-' ? input : createReadStream(path));
  const store = await openStore(places.store.databaseUrl);
  try {
    let shown = 0;
    const { lines, rows, dead, wrong, hasUsers } = await importRows(
      store,
      readLines(bytes, MAX_LINE),
      {
        onProgress: (progress) => say(`${progress.lines} lines read …`),
        onWrong: (number, fault) => {
          if (shown++ < MAX_SHOWN) say(plain(`line ${number} is no row: ${fault}`));
        },
      },
    );
    if (wrong > MAX_SHOWN) say(`${wrong - MAX_SHOWN} more lines are no rows`);
    print(
      `imported ${rows} rows; ${lines - rows - dead - wrong} were there already, ` +
        `${dead} became dead letters, ${wrong} lines are no rows`,
    );
    if (rows && hasUsers)
      print('if users were erased since the export, their rows are back: erase them again');
    if (wrong) throw new Error(`${wrong} lines were not imported`);
  } finally {
    await store.close();
  }
};
