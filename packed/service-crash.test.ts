/**
 * Kills what stores, again and again, while clients send: the service over a file; two services over one Postgres, of
 * which one is killed, or Postgres itself. `KILLS=20` kills more often than each push does. And stops a service in the
 * middle of a step of a reader.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { createLibsqlStore } from '../src/service-libsql.js';
import { createPostgresStore } from '../src/service-postgres.js';
import type { Store } from '../src/service.js';
import { caughtUp } from '../test/server/support/patient.js';
import { startPostgres } from '../test/support/start-postgres.mjs';
import { MANIFEST } from './support/entries.js';
import { INSTALLED } from './support/install.js';
import { startProgram } from './support/program.js';
import { BATCH, recordOf, sendUntilTaken, takenOf, USERS } from './support/senders.js';
import { ORIGIN } from './support/service.js';
import { until } from './support/until.js';

const KILLS = Number(process.env.KILLS ?? 2);
const SENDERS = 6;
/** Records to be answered between two kills. */
const BETWEEN_KILLS = 500;
const KILLS_WITHIN_MS = 900_000;
/** How long a process that stands still may hold up others. */
const STILL_MS = 6_000;

const folder = mkdtempSync(join(tmpdir(), 'service-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const startService = async (databaseUrl: string) => {
  const file = join(INSTALLED, MANIFEST.bin['analytics-outbox']!);
  const program = startProgram({
    ...{ command: [process.execPath, file], folder },
    env: {
      ...{ DATABASE_URL: databaseUrl, DATA_FOLDER: mkdtempSync(join(folder, 'data-')) },
      ...{ HOST: '127.0.0.1', PORT: '0', SITE_ORIGIN: ORIGIN, PROJECTS: 'shop', CHANNELS: 'web' },
      ...{
        WRITE_TOKENS: 'shop=write',
        READ_TOKEN: 'read-token-of-16-signs',
        RATE_LIMIT: 'off',
        CEILING: 'off',
      },
    },
  });
  const [, url] = await program.says(/listens at (http:[\w.:/]+)/);
  return { ...program, url: `${url}/a` };
};
type Service = Awaited<ReturnType<typeof startService>>;

/** Clients that send until they are ended, and each batch until it is answered, as the snippet does. */
const startClients = (services: readonly Service[]) => {
  const answered = new Set<string>();
  let made = 0;
  let isEnding = false;
  const send = async (sender: number) => {
    while (!isEnding) {
      const batch = Array.from({ length: BATCH }, () => recordOf(made++));
      await sendUntilTaken(services, batch, sender, (ids) => ids.forEach((id) => answered.add(id)));
    }
  };
  const sending = Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  return {
    answered,
    end: () => {
      isEnding = true;
      return sending;
    },
  };
};

/** Nothing that was answered is lost, nothing is there twice, and a profile has what all identifies of its user said. */
const judge = async (store: Store, answered: ReadonlySet<string>): Promise<void> => {
  const ids: string[] = [];
  const identified = new Map<string, object>();
  for (let after: number | undefined; ;) {
    const rows = await store.rows({}, { ...(after !== undefined && { after }), limit: 5_000 });
    if (!rows.length) break;
    for (const { id, type, user_id, body } of rows) {
      ids.push(id);
      if (type !== 'identify') continue;
      const { properties } = body as { properties: object };
      identified.set(user_id!, { ...identified.get(user_id!), ...properties });
    }
    after = rows.at(-1)!.seq;
  }
  const different = new Set(ids);
  expect(different.size).toBe(ids.length);
  expect([...answered].filter((id) => !different.has(id))).toEqual([]);
  await caughtUp(store);
  expect((await store.counts()).reduce((sum, { rows }) => sum + rows, 0)).toBe(ids.length);
  const profiles = await store.profiles({}, { limit: USERS + 1 });
  expect(profiles.length).toBe(identified.size);
  for (const { user_id, properties } of profiles)
    expect(properties).toEqual(identified.get(user_id));
  expect(await store.refused({ limit: 1 })).toEqual([]);
};

/** `killOther`: kills something else in this round; answers whether it did. */
const survives = async (
  open: () => Store | Promise<Store>,
  url: string,
  count: number,
  killOther: (round: number) => Promise<boolean>,
): Promise<void> => {
  const services = await Promise.all(Array.from({ length: count }, () => startService(url)));
  const clients = startClients(services);
  try {
    for (let round = 1; round <= KILLS; round++) {
      const goal = clients.answered.size + BETWEEN_KILLS;
      await until(() => clients.answered.size >= goal, 'answers');
      if (await killOther(round)) continue;
      const victim = round % count;
      await services[victim]!.kill();
      services[victim] = await startService(url);
    }
  } finally {
    await clients.end();
    await Promise.all(services.map((service) => service.stop()));
  }
  const store = await open();
  await judge(store, clients.answered);
  await store.close();
};

it(
  'a file keeps what was answered when its service is killed',
  { tags: ['Postgres'], timeout: KILLS_WITHIN_MS },
  () => {
    const path = join(folder, 'rows.db');
    return survives(
      () => createLibsqlStore({ path }),
      `file:${path}`,
      1,
      async () => false,
    );
  },
);

it(
  'two services over one Postgres keep it when one of the three is killed',
  { tags: ['Postgres'], timeout: KILLS_WITHIN_MS },
  async () => {
    const postgres = await startPostgres();
    const killPostgres = async (round: number) => {
      if (round % 5 !== 2) return false;
      await postgres.kill();
      await postgres.restart();
      return true;
    };
    await survives(() => createPostgresStore({ url: postgres.url }), postgres.url, 2, killPostgres);
    await postgres.stop();
  },
);

/** A batch of identifies that change large profiles, so that a step of a reader takes long. */
const largeBatch = (round: number) =>
  Array.from({ length: 10 }, (_, user) => ({
    ...{ id: `large-${round}-${user}`, type: 'identify' as const },
    body: {
      ...{ project: 'shop', user_id: `large-${user}` },
      properties: { [`p${round % 2}`]: 'x'.repeat(30_000), round },
    },
  }));

it(
  'a service that stands still in a step of a reader holds up the other one for six seconds at the most',
  { tags: ['Postgres'], timeout: KILLS_WITHIN_MS },
  async () => {
    const postgres = await startPostgres();
    const service = await startService(postgres.url);
    const admin = new pg.Client(postgres.url);
    await admin.connect();
    /** Transactions that have locked the row of a reader. */
    const steps = async (): Promise<string[]> => {
      const { rows } = await admin.query<{ step: string }>(
        `SELECT a.pid || ' ' || a.xact_start AS step FROM pg_stat_activity AS a JOIN pg_locks AS l USING (pid)
        WHERE l.relation = 'analytics_outbox.readers'::regclass AND l.mode = 'RowExclusiveLock'`,
      );
      return rows.map(({ step }) => step);
    };
    let stoppedAt = 0;
    let isCaught = false;
    for (let round = 0; !isCaught; round++) {
      await takenOf(service.url, largeBatch(round));
      // A step that is over before it was seen is followed by that of the next round.
      const isSoon = performance.now() + 500;
      while (!(await steps()).length && performance.now() < isSoon) await sleep(1);
      service.signal('SIGSTOP');
      stoppedAt = performance.now();
      const before = await steps();
      await sleep(200);
      const after = await steps();
      isCaught = before.some((step) => after.includes(step));
      if (!isCaught) service.signal('SIGCONT');
    }
    const store = await createPostgresStore({ url: postgres.url });
    await caughtUp(store);
    expect(performance.now() - stoppedAt).toBeLessThan(STILL_MS);
    service.signal('SIGCONT');
    await service.stop();
    await store.close();
    await admin.end();
    await postgres.stop();
  },
);
