import type { Evaluates } from './evaluates.js';

/** What stands in the outbox's database, by the names of its events. Empty when there is none. */
export const storedEvents = (page: Evaluates): Promise<string[]> =>
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
      for (const [, { body }] of values.flatMap(({ records }) => records ?? [])) {
        found.push((JSON.parse(body) as { event?: string }).event ?? 'identify');
      }
    }
    return found;
  });
