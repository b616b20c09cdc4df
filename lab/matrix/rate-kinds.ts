/** What the rates are of: rows of the matrix, run many times. */
export const RATES = [
  { id: 'navigate', what: '20 calls and a navigation in one task' },
  { id: 'close', what: '20 calls and the closing of the tab in one task' },
  { id: 'renderer-killed', what: '20 calls, then the page’s process is killed at once' },
  {
    id: 'bare-put-killed',
    what: 'without our code: as much put into IndexedDB, with `commit()`, then the same kill',
  },
] as const;
