import { describe, expect, it, vi } from 'vitest';
import { finish } from '../../../src/client/outbox/outbox.js';
import { writeChanges } from '../../../src/client/outbox/writer.js';
import { openPage } from '../../support/outbox-page.js';

describe('a write', () => {
  it('has all that changes in a task, and of what ends in a moment', async () => {
    const page = openPage();
    await page.written();
    const run = vi.spyOn(page.database, 'run');
    page.add('a', 'b', 'c');
    await page.stored();
    expect(run).toHaveBeenCalledTimes(1);
    finish(page.outbox, page.entry('a'));
    finish(page.outbox, page.entry('b'));
    await page.stored();
    expect(page.held()).toEqual(['c']);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('that was undone leaves the parcel as it was, and comes again', async () => {
    const page = openPage();
    await page.written();
    vi.spyOn(page.database, 'run').mockImplementationOnce(async (work) => {
      const put = () => undefined;
      await work({ put, delete: put } as never);
      throw Object.assign(new Error(), { isOpen: false });
    });
    page.add('a');
    await writeChanges(page.outbox);
    const { parcel } = page.entry('a');
    expect(parcel.stored).toBe('no');
    await writeChanges(page.outbox);
    expect(parcel.stored).toBe('yes');
  });

  it('of which nobody saw the end has perhaps stored the parcel', async () => {
    const page = openPage();
    await page.written();
    vi.spyOn(page.database, 'run').mockImplementationOnce(async (work) => {
      await work({ put: () => undefined } as never);
      throw Object.assign(new Error(), { isOpen: true });
    });
    page.add('a');
    await writeChanges(page.outbox);
    expect(page.entry('a').parcel.stored).toBe('perhaps');
  });
});
