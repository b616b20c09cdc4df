import { compareKeys, type Disk, type Key, type Slot } from './disk.js';
import type { Dice } from './dice.js';
import type { Timeline } from './timeline.js';

/** What storage needs to know of a page. */
interface User {
  name: string;
  isDead: () => boolean;
  /** Runs it in the page, as a task of its own: later if the page is frozen, never if it is dead. */
  task: (ms: number, run: () => void) => void;
}

/** What is wrong with IndexedDB. */
export interface Trouble {
  /** So many of the next transactions are aborted. */
  aborts: number;
  /** Nothing is answered. */
  hangs: boolean;
  /** `open` fails. */
  refuses: boolean;
  /** Each step of a transaction takes so many milliseconds longer. */
  slow: number;
}

interface Effects {
  timeline: Timeline;
  disk: Disk;
  dice: Dice;
  trouble: Trouble;
  onPut: (page: string, ids: readonly string[]) => void;
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
  upper?: Key | undefined;
  lowerOpen: boolean;
}

interface Transaction {
  db: Connection;
  state: 'waiting' | 'active' | 'done';
  /** The page has said that nothing follows. */
  isEnding: boolean;
  /** It has something to read, and goes on when the page has got that. */
  reads: boolean;
  todo: [request: Request, work: () => unknown][];
  /** What it changes. `undefined` deletes. */
  changes: Map<string, Slot | undefined>;
  error: Error | null;
  oncomplete?: Callback;
  onabort?: Callback;
  commit: () => void;
  abort: () => void;
  objectStore: () => unknown;
}

interface Connection {
  user: User;
  name: string;
  isOpen: boolean;
  onclose?: Callback;
  onversionchange?: Callback;
  /** The page closes it: what has begun goes on. */
  close: () => void;
  createObjectStore: () => void;
  transaction: () => Transaction;
}

const failure = (name: string): Error => Object.assign(new Error(name), { name });

const isWithin = ({ lower, upper, lowerOpen }: Range, key: Key): boolean => {
  const low = compareKeys(key, lower);
  return (lowerOpen ? low > 0 : low >= 0) && (!upper || compareKeys(key, upper) <= 0);
};

/**
 * IndexedDB as the outbox uses it, over a disk that outlives its pages. A double of its own, not `fake-indexeddb`: a
 * frozen page keeps its transaction open, a dead page's is completed or not, one fails as it commits, and a world has a
 * few hundred of them.
 */
export const createStorage = ({ timeline, disk, dice, trouble, onPut }: Effects) => {
  /** By database: its transactions, which run one after the other. */
  const queues = new Map<string, Transaction[]>();
  const connections = new Set<Connection>();
  /** Databases that are to be deleted, once every connection is closed. Whoever opens one waits, too. */
  const doomed = new Set<string>();

  const queueOf = (name: string): Transaction[] => {
    const queue = queues.get(name) ?? [];
    queues.set(name, queue);
    return queue;
  };
  const transactionsOf = (page: User): Transaction[] =>
    [...queues.values()].flatMap((queue) => queue.filter(({ db }) => db.user.name === page.name));

  const latency = () => dice.between(1, 3) / 2 + trouble.slow;

  const end = (transaction: Transaction) => {
    const queue = queueOf(transaction.db.name);
    transaction.state = 'done';
    const at = queue.indexOf(transaction);
    if (at >= 0) queue.splice(at, 1);
    if (at === 0) begin(queue);
  };

  const fail = (transaction: Transaction, name: string) => {
    transaction.error = failure(name);
    transaction.db.user.task(0, () => transaction.onabort?.());
    end(transaction);
  };

  const perform = (transaction: Transaction): Request[] =>
    transaction.todo.splice(0).map(([request, work]) => {
      request.result = work();
      return request;
    });

  const commit = (transaction: Transaction) => {
    if (trouble.aborts > 0) {
      trouble.aborts--;
      return fail(transaction, 'QuotaExceededError');
    }
    const { db, changes } = transaction;
    const slots = disk.databases.get(db.name)!;
    for (const [key, slot] of changes) {
      if (slot) slots.set(key, slot);
      else slots.delete(key);
    }
    db.user.task(0, () => transaction.oncomplete?.());
    end(transaction);
  };

  const advance = (transaction: Transaction): void => {
    if (transaction.state === 'done') return;
    if (trouble.hangs) return timeline.after(50, () => advance(transaction));
    const answered = perform(transaction).filter(({ onsuccess }) => onsuccess);
    if (answered.length === 0) return commit(transaction);
    // Reads go on in the page: if it is frozen, the transaction stays open, and others wait behind it.
    transaction.db.user.task(0, () => {
      for (const request of answered) if (transaction.state === 'active') request.onsuccess?.();
      timeline.after(latency(), () => advance(transaction));
    });
  };

  const begin = ([first]: Transaction[]) => {
    if (first?.state !== 'waiting') return;
    first.state = 'active';
    timeline.after(latency(), () => advance(first));
  };

  const createTransaction = (db: Connection): Transaction => {
    const { user } = db;
    const slots = disk.databases.get(db.name)!;
    const demand = (work: () => unknown, reads = false): Request => {
      if (transaction.state === 'done' || transaction.isEnding)
        throw failure('TransactionInactiveError');
      transaction.reads ||= reads;
      const request: Request = { transaction };
      if (!user.isDead()) transaction.todo.push([request, work]);
      return request;
    };
    const change = (key: Key, slot: Slot | undefined) =>
      transaction.changes.set(JSON.stringify(key), slot);
    const find = (range: Range, count = Infinity): Slot[] => {
      const all = new Map<string, Slot | undefined>([...slots, ...transaction.changes]);
      return [...all.values()]
        .filter((slot) => slot !== undefined)
        .filter(({ key }) => isWithin(range, key))
        .sort((a, b) => compareKeys(a.key, b.key))
        .slice(0, count);
    };
    const keyOf = ({ key }: Slot) => [...key];
    const valueOf = ({ text }: Slot) => JSON.parse(text) as unknown;
    const store = {
      put: (value: { records?: { id: string }[] }, key: Key) => {
        const ids = value.records?.map(({ id }) => id) ?? [];
        onPut(user.name, ids);
        const slot = { key, text: JSON.stringify(value), ids };
        return demand(() => change(key, slot));
      },
      delete: (key: Key) => demand(() => change(key, undefined)),
      clear: () => demand(() => slots.forEach(({ key }) => change(key, undefined))),
      get: (key: Key) =>
        demand(() => find({ lower: key, upper: key, lowerOpen: false }).map(valueOf)[0], true),
      getKey: (range: Range) => demand(() => find(range, 1).map(keyOf)[0], true),
      count: (range: Range) => demand(() => find(range).length, true),
      getAll: (range: Range, count?: number) => demand(() => find(range, count).map(valueOf), true),
      getAllKeys: (range: Range, count?: number) =>
        demand(() => find(range, count).map(keyOf), true),
    };
    const transaction: Transaction = {
      db,
      state: 'waiting',
      isEnding: false,
      reads: false,
      todo: [],
      changes: new Map(),
      error: null,
      commit: () => {
        if (!user.isDead()) transaction.isEnding = true;
      },
      abort: () => {
        // Nor once the page has said that nothing follows (https://w3c.github.io/IndexedDB/#dom-idbtransaction-abort).
        if (transaction.state === 'done' || transaction.isEnding)
          throw failure('InvalidStateError');
        fail(transaction, 'AbortError');
      },
      objectStore: () => Object.assign(store, { transaction }),
    };
    return transaction;
  };

  const connect = (user: User, name: string): Connection => {
    const connection: Connection = {
      user,
      name,
      isOpen: true,
      close: () => void (connection.isOpen = false),
      createObjectStore: () => undefined,
      transaction: () => {
        if (!connection.isOpen) throw failure('InvalidStateError');
        const transaction = createTransaction(connection);
        if (!user.isDead()) {
          const queue = queueOf(name);
          queue.push(transaction);
          begin(queue);
        }
        return transaction;
      },
    };
    connections.add(connection);
    return connection;
  };

  const openTo = (name: string) =>
    [...connections].filter((one) => one.name === name && one.isOpen && !one.user.isDead());

  return {
    /** `indexedDB` of a page. */
    factoryOf: (user: User) => ({
      open: (name: string): Request => {
        const request: Request = {};
        const answer = (): void => {
          if (trouble.hangs || doomed.has(name)) return timeline.after(200, answer);
          user.task(dice.between(1, 30), () => {
            if (trouble.refuses) {
              request.error = failure('UnknownError');
              return request.onerror?.();
            }
            request.result = connect(user, name);
            if (!disk.databases.has(name)) {
              disk.databases.set(name, new Map());
              request.onupgradeneeded?.();
            }
            request.onsuccess?.();
          });
        };
        answer();
        return request;
      },
      databases: async () => [...disk.databases.keys()].map((name) => ({ name })),
      deleteDatabase: (name: string): void => {
        const remove = (): void => {
          if (trouble.hangs || openTo(name).length > 0 || queueOf(name).length > 0)
            return timeline.after(50, remove);
          doomed.delete(name);
          disk.databases.delete(name);
        };
        for (const connection of openTo(name))
          connection.user.task(0, () => connection.onversionchange?.());
        doomed.add(name);
        remove();
      },
    }),
    /** `IDBKeyRange` of a page. */
    keyRange: {
      lowerBound: (lower: Key): Range => ({ lower, lowerOpen: false }),
      bound: (lower: Key, upper: Key, lowerOpen = false): Range => ({ lower, upper, lowerOpen }),
    },
    /** No transaction of the page is under way. */
    isIdle: (user: User): boolean => transactionsOf(user).length === 0,
    /** The page does not wait for anything that it reads. */
    isReady: (user: User): boolean => transactionsOf(user).every(({ reads }) => !reads),
    /** The browser closes the connections under the page. */
    closeUnder: (user: User): void => {
      for (const transaction of transactionsOf(user)) fail(transaction, 'AbortError');
      for (const connection of connections) {
        if (connection.user.name !== user.name || !connection.isOpen) continue;
        connection.isOpen = false;
        user.task(0, () => connection.onclose?.());
      }
    },
    /** The page is gone. What it had ended with `commit()` may still be stored; what it had not is not. */
    leaveBehind: (user: User, survives: () => boolean): void => {
      for (const transaction of transactionsOf(user)) {
        const isStored = transaction.isEnding && !trouble.hangs && !trouble.aborts && survives();
        if (isStored) {
          perform(transaction);
          commit(transaction);
        } else end(transaction);
      }
    },
  };
};

export type Storage = ReturnType<typeof createStorage>;
