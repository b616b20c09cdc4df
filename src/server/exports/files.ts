import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { messageOf } from '../../util/errors.js';
import { FILE_MODE, FOLDER_MODE } from '../private-files.js';
import type { PlaceSpan, PlaceSum } from '../store/progress.js';
import type { Target, Turn } from './target.js';

/** A part is closed when it has this many bytes. */
const MAX_BYTES = 64 * 1_048_576;
/** A part is begun when its first row has waited for this long, or when there are this many rows. */
const WAIT = { ms: 300_000, rows: 100_000 };

/** The name of a part. It sorts by its first place, and a part that is written again replaces the same file. */
const nameOf = (first: number): string => `rows-${String(first).padStart(15, '0')}.ndjson.gz`;
const PART = /^rows-\d{15}\.ndjson\.gz$/;

/** Waits until a file or the names in a folder are on the disk. */
const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Writes the rows of a turn into a file, a line of JSON each, and returns the place of the last one. */
const writePart = async (path: string, { from, pages }: Turn): Promise<number> => {
  const file = createWriteStream(path, { mode: FILE_MODE });
  let place = from;
  async function* lines() {
    for await (const page of pages) {
      yield page.map((row) => `${JSON.stringify(row)}\n`).join('');
      place = page.at(-1)!.seq;
      if (file.bytesWritten >= MAX_BYTES) return;
    }
  }
  await pipeline(lines, createGzip(), file);
  return place;
};

/** Reads the lines of a part. */
async function* linesOf(path: string): AsyncGenerator<string, void> {
  const text = createGunzip();
  // An error of either stream ends the loop below.
  void pipeline(createReadStream(path), text).catch(() => {});
  text.setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of text) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** The names of the parts in a folder, in the order of their places. */
const partsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => PART.test(name)).sort();

/** Reads the places of the rows in a folder. Only parts that may have some of the span are read. */
async function* placesIn(folder: string, { from, to }: PlaceSpan): AsyncGenerator<number, void> {
  const parts = await partsIn(folder);
  for (const [index, name] of parts.entries()) {
    const next = parts[index + 1];
    if ((next !== undefined && next <= nameOf(from)) || name >= nameOf(to)) continue;
    for await (const line of linesOf(join(folder, name))) {
      const { seq } = JSON.parse(line) as { seq: number };
      if (seq >= from && seq < to) yield seq;
    }
  }
}

/** Fills a folder with files of NDJSON, gzipped, with the rows as `GET /rows?format=ndjson` gives them. */
export const createFilesTarget = (path: string, wait = WAIT): Target => {
  const folder = resolve(path);

  return {
    name: `file:${folder}`,
    wait,
    prepare: async () => {
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      // Parts that a killed process has left unfinished.
      for (const name of await readdir(folder))
        if (name.startsWith('.rows-')) await rm(join(folder, name), { force: true });
      // This fails if the process may not write there.
      await (await open(join(folder, '.rows-try'), 'w')).close();
      await rm(join(folder, '.rows-try'), { force: true });
    },
    fill: async (turn) => {
      const name = nameOf(turn.from + 1);
      const begun = join(folder, `.${name}.${turn.number}`);
      const place = await writePart(begun, turn);
      await sync(begun);
      await turn.mayWrite();
      await rename(begun, join(folder, name));
      // After `export from` there may be earlier parts with other ends. All of their rows are written again.
      for (const other of await partsIn(folder))
        if (other > name && other <= nameOf(place)) await rm(join(folder, other));
      await sync(folder);
      return place;
    },
    erase: async (_, erasures) => {
      const [first] = await partsIn(folder);
      const upto = Math.max(...erasures.map((erasure) => erasure.upto));
      // Which users a part has is not known without reading it.
      return first !== undefined && first < nameOf(upto)
        ? `rows of erased users may still be in the files of ${folder} that were written before: this program never changes a file. Delete the files, or the lines with these users`
        : undefined;
    },
    sumPlaces: async (_, { block, ...span }) => {
      const sums = new Map<number, PlaceSum>();
      for await (const place of placesIn(folder, span)) {
        const first = Math.floor(place / block) * block;
        const { rows, places } = sums.get(first) ?? { rows: 0, places: 0 };
        sums.set(first, { rows: rows + 1, places: places + place });
      }
      return sums;
    },
    places: async (_, span) => {
      const places: number[] = [];
      for await (const place of placesIn(folder, span)) places.push(place);
      return places;
    },
  };
};
