import { expect, type Page } from '@playwright/test';
import type { Service } from './service.js';
import { statusOf } from './status-of.js';
import type { TagStyle } from './tagged.js';

/** The file of the tag that captures. */
export const AUTO: TagStyle = { src: '/dist/outbox-auto.js' };

/** Words that a test has to add: its browser is automated, and its host a local one. */
export const HERE = 'automated local';

/** All features at once. */
export const EVERYTHING = `pageviews clicks outbound downloads forms vitals engagement errors ${HERE}`;

/** A row as tests write it: the name of the event, its tags, and what else it has. */
export type Row = readonly [event: string, tags: Record<string, unknown>, more?: object];

const DEFAULTS = { description: null, icon: null, notify: false, user_id: null };

/**
 * Waits for so many events of these names, once each, then answers with all rows in the order they happened.
 * Fields that have their default are left out.
 */
export const captured = async (
  service: Service,
  events: readonly string[],
  channel = 'c',
): Promise<Row[]> => {
  await service.holds({ events });
  const rows = (await service.events()).sort((a, b) =>
    a.timestamp === b.timestamp ? a.id - b.id : a.timestamp < b.timestamp ? -1 : 1,
  );
  return rows.map((row): Row => {
    const more = Object.entries({ channel, ...DEFAULTS }).flatMap(([name, usual]) => {
      const value = row[name as keyof typeof row];
      return value === usual ? [] : [[name, value]];
    });
    return more.length
      ? [row.event, row.tags, Object.fromEntries(more) as object]
      : [row.event, row.tags];
  });
};

export const namesOf = (rows: readonly Row[]): string[] => rows.map(([event]) => event);

/** Waits until the page has its database, and so captures. */
export const untilStored = (page: Page): Promise<void> =>
  expect.poll(async () => (await statusOf(page)).storage).toBe('indexeddb');

export const untilDelivered = (page: Page, count: number): Promise<void> =>
  expect.poll(async () => (await statusOf(page)).delivered).toBe(count);
