import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { expectFollowed } from '../../support/sums.js';
import {
  ALL,
  STORED,
  at,
  event,
  identify,
  idsOf,
  refusedOf,
  rowsOf,
  scenarioOf,
  times,
  type Part,
} from './scenario.js';

const isNight = process.env['NIGHT'] === '1';

/** The sums and the profiles follow the rows, whatever the database refuses and whoever works beside them. */
export const describeReaders: Part = (name, enter) => {
  const it = scenarioOf(enter);

  describe(`the readers of ${name}`, () => {
    it('go on behind identifies that the database refuses to merge, which can be merged later', async (store, {
      spoil,
    }) => {
      const unspoil = await spoil('poisoned', 'no profile', 'profiles');
      const records = times(400, (n) =>
        identify(
          { n },
          { calledAt: at(n) },
          { user_id: n % 150 === 7 ? 'poisoned' : `u${n % 20}` },
        ),
      );
      expect(await store.write(records)).toEqual(records.map(() => STORED));
      const poisoned = records.filter(({ body }) => body.user_id === 'poisoned');
      const refused = await refusedOf(store);
      expect(refused).toMatchObject(
        poisoned.map(({ id }) => ({ id, message: 'no profile', status: 200, isDead: true })),
      );
      await expectFollowed(store, { profiles: idsOf(poisoned) as string[] });
      const [first, ...others] = refused.map(({ seq }) => seq);
      expect(await store.resend([first!])).toEqual([
        { seq: first, outcome: 'dead', message: 'no profile' },
      ]);
      await unspoil();
      expect(await store.resend([...others, first!])).toMatchObject([STORED, STORED, STORED]);
      expect(await refusedOf(store)).toEqual([]);
      await expectFollowed(store);
    });

    it('go on behind rows that the database refuses to sum, which can be summed later', async (store, {
      spoil,
    }) => {
      const unspoil = await spoil('bad', 'no sums', 'hour_sums');
      const records = times(300, (n) =>
        event({ event: n === 120 ? 'bad' : `e${n % 3}`, user_id: 'u' }),
      );
      await store.write(records);
      const [refused, ...others] = await refusedOf(store);
      expect(others).toEqual([]);
      expect(refused).toMatchObject({ id: records[120]!.id, message: 'no sums', isDead: true });
      await expectFollowed(store, { sums: [records[120]!.id] });
      await unspoil();
      expect(await store.resend([refused!.seq])).toEqual([{ seq: refused!.seq, ...STORED }]);
      await expectFollowed(store);
      expect(await store.erase({ project: 'p', user_id: 'u' })).toBe(300);
      await expectFollowed(store);
    });

    it('bring back no profile that is erased meanwhile, and give a new one what came since', async (store, {
      open,
    }) => {
      const other = await open();
      for (let round = 0; round < (isNight ? 100 : 6); round++) {
        const user_id = `victim ${round}`;
        const records = times(60, (n) => {
          const user = n % 3 ? user_id : `by ${n}`;
          const times = n % 5 ? {} : { receivedAt: at(-7_200), calledAt: at(-7_200) };
          return n % 2
            ? identify({ n, round }, times, { user_id: user })
            : event({ event: `e${n % 6}`, user_id: user }, times);
        });
        await Promise.all([store.write(records.slice(0, 30)), other.write(records.slice(30))]);
        await sleep(Math.random() * 12);
        const erased = store.erase({ project: 'p', user_id });
        const expired = sleep(Math.random() * 5).then(() => other.expire(at(-3_600), 10));
        await Promise.all([erased, expired]);
        if (round % 3 === 0) {
          await other.write([identify({ since: round }, {}, { user_id })]);
          const [profile] = await store.profiles({ user_id }, ALL);
          expect(profile!.properties).toEqual({ since: round });
        } else expect(await store.profiles({ user_id }, ALL)).toEqual([]);
      }
      // Rows that are too old take nothing off their profiles.
      for (const row of await rowsOf(store))
        if (row.received_at < at(-3_600)) expect(row).toBe('gone');
    });

    it('sum each row once while several processes write, erase and expire', async (store, {
      open,
    }) => {
      const stores = [store, await open(), await open()];
      await Promise.all(
        stores.map(async (own, process) => {
          for (let round = 0; round < (isNight ? 60 : 8); round++) {
            const records = times(20 + round, (n) => {
              const record = n % 3 ? {} : { receivedAt: at(-7_200) };
              const user_id = `u${n % 7}`;
              return n % 4
                ? event({ event: `e${n % 5}`, user_id }, record)
                : identify({ [`k${n}`]: round }, record, { user_id });
            });
            await own.write([...records, ...records.slice(0, 3)]);
            if (round % 4 === process) await own.erase({ project: 'p', user_id: `u${round % 7}` });
            if (round % 3 === process) await own.expire(at(-3_600), 15);
          }
        }),
      );
      for (let gone = 1; gone > 0;) gone = await store.expire(at(-3_600), 1_000);
      const rows = await rowsOf(store);
      const { hours } = await store.hours({ from: at(-7_200), to: at(86_400) });
      expect(hours.reduce((sum, hour) => sum + hour.rows, 0)).toBe(rows.length);
      const counts = await store.counts();
      expect(counts.reduce((sum, count) => sum + count.rows, 0)).toBe(rows.length);
      for (const hour of hours)
        for (const value of Object.values(hour))
          if (typeof value === 'number') expect(value).toBeGreaterThanOrEqual(0);
    });
  });
};
