/** Ways in which IndexedDB fails real pages. Each stands alone: its source goes to the browser. */
export const breakages = {
  'is missing': () => {
    Object.defineProperty(window, 'indexedDB', { value: undefined });
  },
  'refuses to open': () => {
    IDBFactory.prototype.open = () => {
      const error = new DOMException('Internal error opening backing store.', 'UnknownError');
      const request = { error, onerror: () => undefined };
      queueMicrotask(() => request.onerror());
      return request as unknown as IDBOpenDBRequest;
    };
  },
  'aborts at the end, as when the disk is full': () => {
    IDBTransaction.prototype.commit = function () {
      this.abort();
    };
  },
  'never completes': () => {
    IDBFactory.prototype.open = ((open) =>
      function (this: IDBFactory, ...args: Parameters<IDBFactory['open']>) {
        const request = open.apply(this, args);
        request.addEventListener('success', () => {
          // Held busy for ever, as by a frozen tab in the middle of a transaction.
          const store = request.result.transaction('records', 'readwrite').objectStore('records');
          const again = () => (store.count().onsuccess = again);
          again();
        });
        return request;
      })(IDBFactory.prototype.open);
  },
} satisfies Record<string, () => void>;
