import { compareKeys, nameOf, type Disk, type Key, type Slot } from './disk.js';
import type { Dice } from '../random.js';
import type { Timeline } from './timeline.js';

/** What storage needs to know of a page. */
export interface StorageUser {
  name: string;
  /** `dead` for good; a `frozen` one goes on later. */
  state: () => 'running' | 'frozen' | 'dead';
  /** Runs it in the page, as a task of its own; later where the page is frozen, never where it is dead. */
  task: (ms: number, run: () => void) => void;
}

/** What is wrong with storage. */
export interface StorageTrouble {
  /** So many of the next transactions are aborted. */
  aborts: number;
  /** Nothing is answered. */
  hangs: boolean;
  /** `open` fails. */
  refuses: boolean;
  /** Each transaction takes so many milliseconds longer. */
  slow: number;
}

interface Effects {
  timeline: Timeline;
  disk: Disk;
  dice: Dice;
  trouble: StorageTrouble;
  onWrite: (page: string, ids: readonly string[]) => void;
  onCommit: (page: string, began: number) => void;
  onAbort: () => void;
}

type Callback = (() => void) | null | undefined;

interface Request {
  result?: unknown;
  error?: unknown;
  transaction?: Transaction;
  onsuccess?: Callback;
  onerror?: Callback;
  onupgradeneeded?: Callback;
}

interface Range {
  lower: Key;
  lowerOpen: boolean;
  upper?: Key;
  upperOpen?: boolean;
}

const isWithin = ({ lower, lowerOpen, upper, upperOpen }: Range, key: Key): boolean => {
  const low = compareKeys(key, lower);
  const high = upper ? compareKeys(key, upper) : -1;
  return (lowerOpen ? low > 0 : low >= 0) && (upperOpen ? high < 0 : high <= 0);
};

interface Transaction {
  user: StorageUser;
  database: Database;
  state: 'waiting' | 'active' | 'done';
  began: number;
  /** The page has said that nothing follows. */
  isEnding: boolean;
  isClearing: boolean;
  /** It has to read before it can be ended. */
  reads: boolean;
  todo: [request: Request, work: () => unknown][];
  changes: Map<string, Slot | undefined>;
  error: Error | null;
  oncomplete?: Callback;
  onabort?: Callback;
  commit: () => void;
  abort: () => void;
  objectStore: () => unknown;
  addEventListener: (type: 'abort', listener: () => void) => void;
  aborted: (() => void)[];
}

interface Database {
  name: string;
  queue: Transaction[];
  /** It is to be deleted, which waits until every connection is closed. Whoever opens it waits, too. */
  isDoomed: boolean;
}

interface Connection {
  user: StorageUser;
  name: string;
  isOpen: boolean;
  onclose?: Callback;
  addEventListener: (type: 'close' | 'versionchange', listener: () => void) => void;
  /** The page closes it: what has begun goes on. */
  close: () => void;
  hears: (type: 'close' | 'versionchange') => void;
}

const failure = (name: string): Error => Object.assign(new Error(name), { name });

/** IndexedDB as the outbox uses it, over a disk that outlives its pages. */
export const createStorage = ({
  timeline,
  disk,
  dice,
  trouble,
  onWrite,
  onCommit,
  onAbort,
}: Effects) => {
  const databases = new Map<string, Database>();
  const connections = new Set<Connection>();

  const databaseOf = (name: string): Database => {
    const found = databases.get(name) ?? { name, queue: [], isDoomed: false };
    databases.set(name, found);
    return found;
  };

  const transactionsOf = (page: string): Transaction[] =>
    [...databases.values()].flatMap(({ queue }) => queue.filter(({ user }) => user.name === page));

  const latency = () => dice.between(1, 3) / 2 + trouble.slow;

  const end = (transaction: Transaction) => {
    const { queue } = transaction.database;
    const wasFirst = queue[0] === transaction;
    transaction.state = 'done';
    const at = queue.indexOf(transaction);
    if (at >= 0) queue.splice(at, 1);
    if (wasFirst) begin(transaction.database);
  };

  const fail = (transaction: Transaction, name: string) => {
    transaction.error = failure(name);
    transaction.user.task(0, () => {
      transaction.onabort?.();
      for (const listener of transaction.aborted) listener();
    });
    end(transaction);
  };

  const perform = (transaction: Transaction): Request[] =>
    transaction.todo.splice(0).map(([request, work]) => {
      request.result = work();
      return request;
    });

  const commit = (transaction: Transaction) => {
    const { user, database, changes, isClearing, began } = transaction;
    if (trouble.aborts > 0) {
      trouble.aborts--;
      onAbort();
      return fail(transaction, 'QuotaExceededError');
    }
    disk.commit(database.name, changes, {
      page: user.name,
      by: isClearing ? 'clear' : 'transaction',
    });
    onCommit(user.name, began);
    user.task(0, () => transaction.oncomplete?.());
    end(transaction);
  };

  const advance = (transaction: Transaction): void => {
    if (transaction.state === 'done') return;
    if (trouble.hangs) return timeline.after(50, () => advance(transaction));
    const answered = perform(transaction).filter(({ onsuccess }) => onsuccess);
    if (answered.length === 0) return commit(transaction);
    // Reads go on in the page: where it is frozen, the transaction stays open, and others wait behind it.
    transaction.user.task(0, () => {
      for (const request of answered) if (transaction.state === 'active') request.onsuccess?.();
      timeline.after(latency(), () => advance(transaction));
    });
  };

  const begin = ({ queue }: Database) => {
    const [first] = queue;
    if (first?.state !== 'waiting') return;
    first.state = 'active';
    timeline.after(latency(), () => advance(first));
  };

  const createTransaction = (user: StorageUser, database: Database): Transaction => {
    const slots = disk.database(database.name);
    const demand = (work: () => unknown): Request => {
      if (transaction.state === 'done' || transaction.isEnding)
        throw failure('TransactionInactiveError');
      const request: Request = { transaction };
      if (user.state() !== 'dead') transaction.todo.push([request, work]);
      return request;
    };
    const change = (key: Key, slot: Slot | undefined) => {
      transaction.changes.set(nameOf(key), slot);
    };
    const inRange = (range: Range, count = Infinity): Slot[] => {
      const all = new Map<string, Slot | undefined>(slots);
      for (const [key, slot] of transaction.changes) all.set(key, slot);
      const found = [...all.values()].filter((slot) => slot && isWithin(range, slot.key)) as Slot[];
      return found.sort((a, b) => compareKeys(a.key, b.key)).slice(0, count);
    };
    const read = (slot: Slot | undefined) => slot && (JSON.parse(slot.text) as unknown);
    const get = (key: Key) => {
      const name = nameOf(key);
      return transaction.changes.has(name) ? transaction.changes.get(name) : slots.get(name);
    };
    const store = {
      put: (value: { records?: { id: string }[] }, key: Key) => {
        const ids = value.records?.map(({ id }) => id) ?? [];
        onWrite(user.name, ids);
        const slot = { key, text: JSON.stringify(value), ids };
        return demand(() => change(key, slot));
      },
      delete: (key: Key) => demand(() => change(key, undefined)),
      clear: () =>
        demand(() => {
          transaction.isClearing = true;
          for (const { key } of slots.values()) change(key, undefined);
        }),
      get: (key: Key) => {
        transaction.reads = true;
        return demand(() => read(get(key)));
      },
      getAll: (range: Range, count?: number) => {
        transaction.reads = true;
        return demand(() => inRange(range, count).map(read));
      },
      getKey: (range: Range) => {
        transaction.reads = true;
        return demand(() => inRange(range, 1).map(({ key }) => [...key])[0]);
      },
      getAllKeys: (range: Range, count?: number) => {
        transaction.reads = true;
        return demand(() => inRange(range, count).map(({ key }) => [...key]));
      },
    };
    const aborted: (() => void)[] = [];
    const transaction: Transaction = {
      user,
      database,
      state: 'waiting',
      began: timeline.now(),
      isEnding: false,
      isClearing: false,
      reads: false,
      todo: [],
      changes: new Map(),
      error: null as Error | null,
      commit: () => {
        if (user.state() !== 'dead') transaction.isEnding = true;
      },
      abort: () => {
        // Nor once the page has said that nothing follows (https://w3c.github.io/IndexedDB/#dom-idbtransaction-abort).
        if (transaction.state === 'done' || transaction.isEnding)
          throw failure('InvalidStateError');
        fail(transaction, 'AbortError');
      },
      objectStore: () => Object.assign(store, { transaction }),
      addEventListener: (_: 'abort', listener: () => void) => void aborted.push(listener),
      aborted,
    };
    return transaction;
  };

  const connect = (user: StorageUser, name: string) => {
    const listeners: [type: string, listener: () => void][] = [];
    const connection: Connection = {
      user,
      name,
      isOpen: true,
      addEventListener: (type, listener) => void listeners.push([type, listener]),
      close: () => {
        connection.isOpen = false;
      },
      hears: (type) =>
        user.task(0, () => {
          if (type === 'close') connection.onclose?.();
          for (const [one, listener] of listeners) if (one === type) listener();
        }),
    };
    connections.add(connection);
    return Object.assign(connection, {
      createObjectStore: () => undefined,
      transaction: () => {
        if (!connection.isOpen) throw failure('InvalidStateError');
        const database = databaseOf(name);
        const transaction = Object.assign(createTransaction(user, database), { db: connection });
        if (user.state() !== 'dead') {
          database.queue.push(transaction);
          begin(database);
        }
        return transaction;
      },
    });
  };

  return {
    /** Whether a transaction is under way. */
    isBusy: (name: string): boolean => databaseOf(name).queue.length > 0,
    /** `indexedDB` of a page. */
    factoryOf: (user: StorageUser) => ({
      open: (name: string): Request => {
        const request: Request = {};
        const answer = (): void => {
          if (trouble.hangs || databaseOf(name).isDoomed) return timeline.after(200, answer);
          user.task(dice.between(1, 30), () => {
            if (trouble.refuses) {
              request.error = failure('UnknownError');
              return request.onerror?.();
            }
            request.result = connect(user, name);
            if (!disk.exists(name)) {
              disk.database(name);
              request.onupgradeneeded?.();
            }
            request.onsuccess?.();
          });
        };
        answer();
        return request;
      },
      databases: async () => disk.names().map((name) => ({ name })),
      deleteDatabase: (name: string): void => {
        const database = databaseOf(name);
        const connectionsTo = () =>
          [...connections].filter(
            (one) => one.name === name && one.isOpen && one.user.state() !== 'dead',
          );
        const remove = (): void => {
          if (trouble.hangs || connectionsTo().length > 0 || database.queue.length > 0) {
            return timeline.after(50, remove);
          }
          database.isDoomed = false;
          disk.remove(name, { page: user.name, by: 'clear' });
        };
        for (const connection of connectionsTo()) connection.hears('versionchange');
        database.isDoomed = true;
        remove();
      },
    }),
    /** The page does not wait for anything that it reads. */
    isReady: (user: StorageUser): boolean => transactionsOf(user.name).every(({ reads }) => !reads),
    /** `IDBKeyRange` of a page. */
    keyRange: {
      lowerBound: (lower: Key, lowerOpen = false): Range => ({ lower, lowerOpen }),
      bound: (lower: Key, upper: Key, lowerOpen = false, upperOpen = false): Range => ({
        lower,
        lowerOpen,
        upper,
        upperOpen,
      }),
    },
    /** The browser closes the connections under the page. */
    closeUnder: (user: StorageUser): void => {
      for (const connection of connections) {
        if (connection.user.name !== user.name || !connection.isOpen) continue;
        connection.isOpen = false;
        for (const { queue } of databases.values()) {
          for (const transaction of queue.filter((one) => one.user.name === user.name)) {
            fail(transaction, 'AbortError');
          }
        }
        connection.hears('close');
      }
    },
    /**
     * The page is gone. What it had ended with `commit()` may still be stored, as the dice say; what it had
     * not is not.
     */
    leaveBehind: (user: StorageUser, survives: () => boolean): boolean => {
      let isAllWritten = true;
      for (const { queue } of databases.values()) {
        for (const transaction of queue.filter((one) => one.user.name === user.name)) {
          if (transaction.isEnding && !trouble.hangs && trouble.aborts === 0 && survives()) {
            perform(transaction);
            commit(transaction);
          } else {
            isAllWritten &&= transaction.changes.size + transaction.todo.length === 0;
            end(transaction);
          }
        }
      }
      return isAllWritten;
    },
  };
};

export type Storage = ReturnType<typeof createStorage>;
