import { storedEvents } from '../../../e2e/support/stored-records.js';
import type { Row } from '../row.js';
import { SETUP } from '../stage.js';
import { TWENTY } from '../steps.js';
import { allOnce } from '../verdicts.js';

const DATABASE = 'bare';
const STORE = 'records';

/** Without our code: what an engine makes of the same fault where nothing could be done better. */
export const controlRows: readonly Row[] = [
  {
    id: 'bare-put-killed',
    group: 'For comparison',
    what: 'without our code: as much put into IndexedDB, with `commit()`, then the same kill',
    promised: allOnce,
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
        ([store, names, setup]) => {
          const { bare } = window as unknown as { bare: IDBDatabase };
          const transaction = bare.transaction(store, 'readwrite');
          const objects = transaction.objectStore(store);
          // As much as the outbox keeps of 20 calls: one parcel.
          const holder = 'the-id-of-a-new-holder';
          const at = Date.now();
          const body = (event: string) =>
            JSON.stringify({ ...setup, event, timestamp: new Date(at) });
          const records = names.map((name, i) => ({
            id: `the-id-of-a-record-${i}`,
            type: 'event',
            body: body(name),
            at,
            attempts: 0,
          }));
          objects.put({ v: 2, holder, until: at, flight: [], records }, [at, holder, 1]);
          transaction.commit();
        },
        [STORE, TWENTY, SETUP] as const,
      );
      await stage.browser.crashPages();
      const next = await stage.newTab(stage.bare());
      const found = await storedEvents(next);
      await next.evaluate(
        ([url, token, names, setup]) =>
          Promise.all(
            names.map((event) =>
              fetch(`${url}/v1/event`, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
                body: JSON.stringify({ ...setup, event }),
              }),
            ),
          ).then(() => undefined),
        [stage.baseUrl, stage.service.token, found, SETUP] as const,
      );
      return TWENTY;
    },
  },
];
