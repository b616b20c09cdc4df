import { describe, expect, it, vi } from 'vitest';
import { readNotes } from '../../../src/client/outbox/note.js';
import { finish, leave } from '../../../src/client/outbox/outbox.js';
import { writeChanges } from '../../../src/client/outbox/writer.js';
import { openPage } from '../../support/outbox-page.js';
import { NAME } from '../../support/site.js';

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

  it('does not follow another one for what ends meanwhile, which goes along with the next', async () => {
    const page = openPage();
    page.add('a');
    await page.stored();
    const run = vi.spyOn(page.database, 'run');
    page.add('b');
    const { parcel } = page.entry('b');
    while (!parcel.writes) await undefined; // its transaction has begun
    finish(page.outbox, page.entry('a'));
    while (parcel.stored !== 'yes') await new Promise(setImmediate);
    page.add('c');
    await page.stored();
    expect(run).toHaveBeenCalledTimes(2); // for 'b', then for 'a' and 'c'
    expect(page.held()).toEqual(['b', 'c']);
  });

  it('is noted as the page is left, although an earlier one of the same parcel has ended', async () => {
    const page = openPage();
    await page.written();
    const ends: (() => void)[] = [];
    vi.spyOn(page.database, 'run').mockImplementation(async (work) => {
      const put = () => undefined;
      await work({ put, delete: put } as never);
      await new Promise<void>((end) => ends.push(end));
      return undefined as never;
    });
    const under = (count: number) => vi.waitFor(() => expect(ends).toHaveLength(count));
    page.add('a');
    await under(1);
    page.outbox.dirty.add(page.entry('a').parcel);
    leave(page.outbox, false); // the page is hidden
    finish(page.outbox, page.entry('a'));
    ends[0]!();
    await under(3); // the last of them deletes the parcel
    ends[1]!();
    await vi.waitFor(() => expect([...page.outbox.parcels][0]?.writes ?? 1).toBe(1));
    leave(page.outbox, true);
    expect(readNotes(NAME)).toMatchObject([{ until: 0, list: [{ records: [] }] }]);
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
