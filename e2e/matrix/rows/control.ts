import { MANY_RUNS, type Row } from '../row.js';
import { TWENTY } from '../steps.js';
import { allOnce } from '../verdicts.js';

const DATABASE = 'bare';
const STORE = 'records';

/** Without our code: what an engine makes of the same fault where nothing could be done better. */
export const controlRows: readonly Row[] = [
  {
    id: 'bare-put-killed',
    group: 'For comparison',
    what: 'without our code: one bare `put` of 20 names and `commit()`, then the same kill',
    promised: allOnce,
    because: 'a transaction that had not been committed by then went with the process.',
    runs: MANY_RUNS,
    needs: { durable: true },
    run: async (stage) => {
      const tab = await stage.newTab(stage.bare());
      await tab.evaluate(
        ([database, store]) =>
          new Promise<void>((resolve, reject) => {
            const opening = indexedDB.open(database, 1);
            opening.onupgradeneeded = () => opening.result.createObjectStore(store);
            opening.onsuccess = () => {
              Object.assign(window, { bare: opening.result });
              resolve();
            };
            opening.onerror = () => reject(opening.error!);
          }),
        [DATABASE, STORE] as const,
      );
      await tab.evaluate(
        ([store, names]) => {
          const { bare } = window as unknown as { bare: IDBDatabase };
          const transaction = bare.transaction(store, 'readwrite');
          transaction.objectStore(store).put(names, 1);
          transaction.commit();
        },
        [STORE, TWENTY] as const,
      );
      await stage.browser.crashPages();
      const next = await stage.newTab(stage.bare());
      const found = await next.evaluate(
        ([database, store]) =>
          new Promise<string[]>((resolve, reject) => {
            const opening = indexedDB.open(database, 1);
            opening.onerror = () => reject(opening.error!);
            opening.onsuccess = () => {
              const getting = opening.result.transaction(store).objectStore(store).get(1);
              getting.onerror = () => reject(getting.error!);
              getting.onsuccess = () => resolve((getting.result as string[] | undefined) ?? []);
            };
          }),
        [DATABASE, STORE] as const,
      );
      await next.evaluate(
        ([url, token, names]) =>
          Promise.all(
            names.map((event) =>
              fetch(`${url}/v1/event`, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
                body: JSON.stringify({ project: 'p', channel: 'c', event }),
              }),
            ),
          ).then(() => undefined),
        [stage.baseUrl, stage.service.token, found] as const,
      );
      return TWENTY;
    },
  },
];
