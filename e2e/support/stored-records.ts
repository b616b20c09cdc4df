import type { Evaluates } from './evaluates.js';

/** What stands in the outbox's database. Nothing when there is no database. */
const storedValues = (page: Evaluates): Promise<unknown[]> =>
  page.evaluate(async () => {
    const settled = <Value>(request: IDBRequest<Value>) =>
      new Promise<Value>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const found: unknown[] = [];
    for (const { name } of await indexedDB.databases()) {
      const database = await settled(indexedDB.open(name!));
      const store = database.transaction('records').objectStore('records');
      found.push(...(await settled(store.getAll() as IDBRequest<unknown[]>)));
      database.close();
    }
    return found;
  });

/** Bodies of the records among it. */
const storedBodies = async (page: Evaluates): Promise<string[]> =>
  ((await storedValues(page)) as { records?: { body: string }[] }[])
    .flatMap(({ records }) => records ?? [])
    .map(({ body }) => body);

/** Ids of the records that the service may have, by what stands in the outbox's database. */
export const storedFlight = async (page: Evaluates): Promise<string[]> =>
  ((await storedValues(page)) as { flight?: string[] }[]).flatMap(({ flight }) => flight ?? []);

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
      .flatMap(([, text]) => (JSON.parse(text) as { list: { records: { body: string }[] }[] }).list)
      .flatMap(({ records }) => records.map(({ body }) => body)),
  );

/** Bodies of all records that are kept anywhere, for whoever comes next. */
export const keptBodies = async (page: Evaluates): Promise<string[]> => [
  ...(await storedBodies(page)),
  ...(await notedBodies(page)),
];
