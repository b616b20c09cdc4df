import { describe, expect, it } from 'vitest';
import { keep } from '../../../src/client/outbox/outbox.js';
import { openPage, recordOf } from '../../support/outbox-page.js';

describe('a full outbox', () => {
  it('drops the oldest events first, and identifies last', () => {
    const page = openPage({ maxRecords: 2 });
    keep(page.outbox, recordOf('i', { type: 'identify', user: 'u' }));
    page.add('a', 'b', 'c');
    expect(page.held()).toEqual(['i', 'c']);
    expect(page.told).toEqual(['outbox-full', 'outbox-full']);
  });
});
