import { forceCloseDatabase } from 'fake-indexeddb';
import { describe, expect, it, vi } from 'vitest';
import { createJournal } from '../../../src/client/outbox/journal.js';
import { commit, WATCHDOG_MS } from '../../../src/client/outbox/transaction.js';
import type { StorageKind } from '../../../src/client/types.js';
import { advance } from '../../support/advance.js';
import {
  abortTransactions,
  closeConnection,
  forbidOpening,
  hangOpening,
  holdStore,
} from '../../support/break-storage.js';
import { DATABASE } from '../../support/create-page.js';
import { settle } from '../../support/settle.js';
import { storageEach } from '../../support/storage-each.js';
import { openDatabase, readStored } from '../../support/stored.js';

storageEach();

const journalOf = () => {
  const changes: [StorageKind, string][] = [];
  const journal = createJournal({
    name: DATABASE,
    onChange: (...change) => changes.push(change),
  });
  journal.open();
  const put = (key: string, value: unknown = { v: 1, records: [{ id: key }] }) =>
    journal.run<string>((store, done) => {
      store.put(value, ['owner', key]);
      commit(store);
      done(key);
    });
  return { journal, changes, put };
};

/** Settles to what a promise came to, so that a rejection is awaited from the start. */
const endOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => error,
  );

/** `open` succeeds when the function that it answers is called. */
const openLate = (): (() => Promise<void>) => {
  const request = {} as { result: IDBDatabase; onsuccess: () => void };
  const spy = vi.spyOn(indexedDB, 'open').mockReturnValue(request as unknown as IDBOpenDBRequest);
  return async () => {
    spy.mockRestore();
    request.result = await openDatabase();
    request.onsuccess();
  };
};

/** As the browser does. */
const closeUnder = (database: IDBDatabase): void => {
  // Its types ask for the class.
  forceCloseDatabase(database as unknown as Parameters<typeof forceCloseDatabase>[0]);
};

describe('a journal', () => {
  it('is opening until the first transaction is done', async () => {
    const { journal, changes, put } = journalOf();
    expect(journal.kind()).toBe('opening');
    expect(await put('a')).toBe('a');
    expect(journal.kind()).toBe('indexeddb');
    expect(changes).toEqual([['indexeddb', '']]);
  });

  it('says only once where records are kept', async () => {
    const { changes, put } = journalOf();
    await put('a');
    await put('b');
    expect(changes).toHaveLength(1);
  });

  it('breaks off what has yet to read as the page is left, and is no worse for it', async () => {
    const { journal, changes, put } = journalOf();
    await put('a');
    const reading = endOf(
      journal.run((store, done: (value: unknown) => void) => {
        const again = (): void => {
          const request = store.get(['owner', 'a']);
          request.onsuccess = again;
          done(undefined);
        };
        again();
      }),
    );
    const writing = put('b');
    await Promise.resolve();
    journal.leave();
    expect(await reading).toMatchObject({ message: 'left' });
    expect(await writing).toBe('b');
    expect(await put('c')).toBe('c');
    expect(changes).toEqual([['indexeddb', '']]);
    expect(vi.getTimerCount()).toBe(0);
    expect((await readStored()).ids).toEqual(['a', 'b', 'c']);
  });

  it('reads nothing until the page is back, though the database opens meanwhile', async () => {
    const { journal, put } = journalOf();
    const read = () =>
      endOf(
        journal.run<unknown>((store, done) => {
          const request = store.get(['owner', 'a']);
          request.onsuccess = () => {
            commit(store);
            done(request.result);
          };
        }),
      );
    const early = read();
    journal.leave();
    expect(journal.mayRead()).toBe(false);
    expect(await early).toMatchObject({ message: 'left' });
    expect(await put('a', { v: 1 })).toBe('a');
    expect(await read()).toMatchObject({ message: 'left' });
    journal.comeBack();
    expect(journal.mayRead()).toBe(true);
    expect(await read()).toEqual({ v: 1 });
    expect(journal.kind()).toBe('indexeddb');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('says that it opens anew when the connection is closed under it', async () => {
    const { journal, changes, put } = journalOf();
    const connect = vi.spyOn(IDBDatabase.prototype, 'transaction');
    await put('a');
    await put('b');
    closeUnder(connect.mock.contexts[0] as IDBDatabase);
    await settle();
    expect(journal.kind()).toBe('opening');
    await put('c');
    expect(changes.map(([kind]) => kind)).toEqual(['indexeddb', 'opening', 'indexeddb']);
    expect((await readStored()).ids).toEqual(['a', 'b', 'c']);
  });

  it('stays without storage where the connection is closed after it has failed', async () => {
    const { journal, put } = journalOf();
    const connect = vi.spyOn(IDBDatabase.prototype, 'transaction');
    await put('a');
    const database = connect.mock.contexts[0] as IDBDatabase;
    abortTransactions();
    await endOf(put('b'));
    expect(journal.kind()).toBe('memory');
    closeUnder(database);
    await settle();
    expect(journal.kind()).toBe('memory');
  });

  it('leaves no timer behind', async () => {
    const { put } = journalOf();
    await put('a');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('refuses work when opening throws, and says why', async () => {
    forbidOpening();
    const { journal, changes, put } = journalOf();
    expect(await endOf(put('a'))).toBeInstanceOf(DOMException);
    expect(journal.kind()).toBe('memory');
    expect(changes).toEqual([['memory', 'The operation is insecure.']]);
  });

  it('refuses work when there is no IndexedDB', async () => {
    vi.stubGlobal('indexedDB', undefined);
    const { journal, put } = journalOf();
    expect(await endOf(put('a'))).toBeInstanceOf(Error);
    expect(journal.kind()).toBe('memory');
  });

  it('refuses work when reading `indexedDB` throws', async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB')!;
    Object.defineProperty(globalThis, 'indexedDB', {
      configurable: true,
      get: () => {
        throw new DOMException('denied', 'SecurityError');
      },
    });
    try {
      const { journal, put } = journalOf();
      expect(await endOf(put('a'))).toBeInstanceOf(DOMException);
      expect(journal.kind()).toBe('memory');
    } finally {
      Object.defineProperty(globalThis, 'indexedDB', before);
    }
  });

  it('refuses work when opening hangs, within a second', async () => {
    hangOpening();
    const { journal, put } = journalOf();
    const end = endOf(put('a'));
    await advance(WATCHDOG_MS - 1);
    expect(journal.kind()).toBe('opening');
    await advance(1);
    expect(journal.kind()).toBe('memory');
    expect(await end).toEqual(new Error('IndexedDB does not answer'));
  });

  it('stores nothing of what waits for it to open once it is closed, and says nothing', async () => {
    const { journal, changes, put } = journalOf();
    const end = endOf(put('a'));
    journal.close();
    const close = vi.spyOn(IDBDatabase.prototype, 'close');
    expect(await end).toEqual(new Error('closed'));
    expect(close).toHaveBeenCalledTimes(1); // or it would stand in the way of the site's own deletion
    expect(journal.kind()).toBe('none');
    expect(changes).toEqual([]);
    expect((await readStored()).ids).toEqual([]);
  });

  it('writes nothing in a transaction that has yet to read as it is closed', async () => {
    const { journal, changes, put } = journalOf();
    await put('a');
    const written = vi.fn();
    const end = endOf(
      journal.run((store) => {
        store.get(['nothing']).onsuccess = () => {
          written();
          store.delete(['a']);
        };
      }),
    );
    for (let i = 0; i < 30; i++) await Promise.resolve(); // it has begun
    journal.close();
    expect(await end).toBeInstanceOf(Error);
    await settle();
    expect(written).not.toHaveBeenCalled();
    expect(changes).toEqual([['indexeddb', '']]);
    expect((await readStored()).ids).toEqual(['a']);
  });

  it('refuses at once once it has failed', async () => {
    forbidOpening();
    const { put } = journalOf();
    await endOf(put('a'));
    const open = vi.mocked(indexedDB.open);
    const calls = open.mock.calls.length;
    await endOf(put('b'));
    expect(open.mock.calls.length).toBe(calls);
  });

  it('takes an abort after the requests succeeded for a failure', async () => {
    const { journal, put } = journalOf();
    await put('a');
    abortTransactions();
    expect(await endOf(put('b'))).toBeInstanceOf(Error);
    expect(journal.kind()).toBe('memory');
    expect((await readStored()).ids).toEqual(['a']);
  });

  it('takes work that throws for a failure', async () => {
    const { journal } = journalOf();
    const end = journal.run(() => {
      throw new Error('no');
    });
    expect(await endOf(end)).toEqual(new Error('no'));
  });

  it('aborts what hangs, so that it does not happen later', async () => {
    const { journal } = journalOf();
    const blocker = await openDatabase();
    const letGo = holdStore(blocker);
    const end = endOf(
      journal.run((store) => {
        store.put({ id: 'late' }, ['owner', 1]);
      }),
    );
    await advance(WATCHDOG_MS);
    expect(await end).toBeInstanceOf(Error);
    letGo();
    await settle();
    blocker.close();
    expect((await readStored()).ids).toEqual([]);
  });

  it('opens once more after a failure', async () => {
    const { journal, changes, put } = journalOf();
    await put('a');
    closeConnection();
    await endOf(put('b'));
    expect(journal.kind()).toBe('memory');
    await advance(5_000);
    expect(changes.map(([kind]) => kind)).toEqual(['indexeddb', 'memory', 'indexeddb']);
    await put('c');
    expect((await readStored()).ids).toEqual(['a', 'c']);
  });

  it('does not open a third time', async () => {
    forbidOpening();
    const { journal, put } = journalOf();
    await endOf(put('a'));
    await advance(600_000);
    expect(indexedDB.open).toHaveBeenCalledTimes(2);
    expect(journal.kind()).toBe('memory');
  });

  it('does not open again once it is closed', async () => {
    forbidOpening();
    const { journal, put } = journalOf();
    await endOf(put('a'));
    journal.close();
    await advance(600_000);
    expect(indexedDB.open).toHaveBeenCalledTimes(1);
  });

  it('does not open a third time where it fails again after the second', async () => {
    const { journal, put } = journalOf();
    await put('a');
    closeConnection();
    await endOf(put('b'));
    await advance(5_000);
    expect(journal.kind()).toBe('indexeddb');
    closeConnection();
    await endOf(put('c'));
    await advance(600_000);
    expect(journal.kind()).toBe('memory');
  });

  it('does nothing of what it has refused, though the database opens after all', async () => {
    const arrive = openLate();
    const { journal } = journalOf();
    const work = vi.fn();
    const end = endOf(journal.run(work));
    await advance(WATCHDOG_MS);
    expect(await end).toEqual(new Error('IndexedDB does not answer'));
    await arrive();
    await settle();
    expect(work).not.toHaveBeenCalled();
  });

  it('says nothing of what is stored as it is closed', async () => {
    const { journal, put } = journalOf();
    await put('a');
    const end = endOf(put('b'));
    for (let i = 0; i < 9; i++) await Promise.resolve(); // it has begun
    journal.close();
    expect(await end).toEqual(new Error('closed'));
    expect((await readStored()).ids).toEqual(['a', 'b']);
  });

  it('does not hang its callers where reopening hangs', async () => {
    const { journal, put } = journalOf();
    await put('a');
    closeConnection();
    await endOf(put('b'));
    hangOpening();
    await advance(10_000);
    expect(journal.kind()).toBe('memory');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stays in memory when what hung ends after all, until it is opened again', async () => {
    const { journal, changes, put } = journalOf();
    await put('a');
    const blocker = await openDatabase();
    const letGo = holdStore(blocker);
    const end = endOf(put('b'));
    await advance(WATCHDOG_MS);
    await end;
    letGo();
    await settle();
    blocker.close();
    expect(changes.map(([kind]) => kind)).toEqual(['indexeddb', 'memory']);
    expect(journal.kind()).toBe('memory');
  });
});

describe('a journal whose database the site deletes', () => {
  it('closes its connection, and opens another one with the next work', async () => {
    const journal = createJournal({ name: DATABASE, onChange: () => undefined });
    journal.open();
    const put = () =>
      journal.run<true>((store, done) => {
        store.put({ v: 1, records: [] }, ['owner', 0]);
        commit(store);
        done(true);
      });
    await put();
    const outcome = await new Promise((resolve) => {
      const request = indexedDB.deleteDatabase(DATABASE);
      request.onsuccess = () => resolve('deleted');
      request.onblocked = () => resolve('blocked');
    });
    expect(outcome).toBe('deleted');
    expect(journal.kind()).toBe('opening');
    expect(await put()).toBe(true);
    expect(journal.kind()).toBe('indexeddb');
  });
});

describe('a journal that is admitted by what stands in the database', () => {
  const run = async (isAllowed: boolean) => {
    const journal = createJournal({ name: DATABASE, onChange: () => undefined });
    journal.open((store, then) => {
      store.count().onsuccess = () => isAllowed && then();
    });
    const work = vi.fn((store: IDBObjectStore) => commit(store));
    void endOf(journal.run(work));
    expect(work).not.toHaveBeenCalled();
    await journal.opened();
    return work;
  };

  it('works after it, in the same transaction', async () => {
    expect(await run(true)).toHaveBeenCalledTimes(1);
  });

  it('does nothing without', async () => {
    expect(await run(false)).not.toHaveBeenCalled();
  });
});

describe('a journal that may not store anything', () => {
  const create = () => createJournal({ name: DATABASE, onChange: () => undefined });
  const expectNone = async (journal: ReturnType<typeof create>) => {
    expect(journal.kind()).toBe('none');
    expect(journal.opened()).toBeUndefined();
    expect(await endOf(journal.run(commit))).toEqual(new Error('no storage'));
  };

  it('is none, and makes no database, whatever the page does', async () => {
    const open = vi.spyOn(indexedDB, 'open');
    const journal = create();
    journal.leave();
    expect(journal.mayRead()).toBe(false);
    journal.comeBack();
    journal.closeAfterWrites();
    journal.close();
    await expectNone(journal);
    expect(open).not.toHaveBeenCalled();
  });

  it('is none again once it is released, and what is being written then is stored', async () => {
    const { journal, put } = journalOf();
    const writing = put('a');
    journal.closeAfterWrites();
    await expectNone(journal);
    expect(await writing).toBe('a');
    expect((await readStored()).ids).toEqual(['a']);
  });

  it('closes its connection once it is released', async () => {
    const { journal, put } = journalOf();
    await put('a');
    const close = vi.spyOn(IDBDatabase.prototype, 'close');
    journal.closeAfterWrites();
    await vi.waitFor(() => expect(close).toHaveBeenCalledTimes(1));
  });

  it('is opened anew after that', async () => {
    const { journal, put } = journalOf();
    await put('a');
    journal.close();
    journal.open();
    expect(journal.kind()).toBe('opening');
    await put('b');
    expect(journal.kind()).toBe('indexeddb');
    expect((await readStored()).ids).toEqual(['a', 'b']);
  });
});
