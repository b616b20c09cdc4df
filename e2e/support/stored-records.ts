import type { Evaluates } from './evaluates.js';

/** Bodies of the records that stand in the outbox's database. None when there is no database. */
const storedBodies = (page: Evaluates): Promise<string[]> =>
  page.evaluate(async () => {
    const settled = <Value>(request: IDBRequest<Value>) =>
      new Promise<Value>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const found: string[] = [];
    for (const { name } of await indexedDB.databases()) {
      const database = await settled(indexedDB.open(name!));
      const values = await settled(
        database.transaction('records').objectStore('records').getAll() as IDBRequest<
          { records?: [number, { body: string }][] }[]
        >,
      );
      database.close();
      for (const [, { body }] of values.flatMap(({ records }) => records ?? [])) found.push(body);
    }
    return found;
  });

/** What stands in the outbox's database, by the names of its events. */
export const storedEvents = async (page: Evaluates): Promise<string[]> =>
  (await storedBodies(page)).map(
    (body) => (JSON.parse(body) as { event?: string }).event ?? 'identify',
  );

/** Bodies of the records that stand in exit notes. */
const notedBodies = (page: Evaluates): Promise<string[]> =>
  page.evaluate(() =>
    Object.entries(localStorage as Record<string, string>)
      .filter(([key]) => key.includes(' note '))
      .flatMap(
        ([, text]) => (JSON.parse(text) as { unsaved: [number, { body: string }][] }).unsaved,
      )
      .map(([, { body }]) => body),
  );

/** Bodies of all records that are kept anywhere, for whoever comes next. */
export const keptBodies = async (page: Evaluates): Promise<string[]> => [
  ...(await storedBodies(page)),
  ...(await notedBodies(page)),
];
