import type { Row, RowFilter } from '../store/port.js';

/** Whether a row is one that the filter asks for: the same as the store's, for rows that are read already. */
export const matches = (row: Row, filter: RowFilter): boolean => {
  const { event, not, text } = filter;
  for (const name of ['project', 'channel', 'user_id', 'type', 'client'] as const) {
    if (filter[name] !== undefined && filter[name] !== row[name]) return false;
  }
  if (event?.length && !event.includes(row.event ?? '')) return false;
  if (row.event !== undefined && not?.includes(row.event)) return false;
  if (!text) return true;
  const inJson = JSON.stringify(text).slice(1, -1).toLowerCase();
  return JSON.stringify(row.body).toLowerCase().includes(inJson);
};
