import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checked, event } from '../server/support/records.js';
import { runDeadCommand, type DeadLetter } from '../../src/program/dead-command.js';
import { openDeadLetters } from '../../src/program/open-dead-letters.js';
import { readPlaces } from '../../src/program/settings.js';
import { createLibsqlStore } from '../../src/service-libsql.js';
import { refuseRows } from '../server/support/refuse-rows.js';
import { tempFolder } from '../support/temp-folder.js';

type Letters = Parameters<typeof runDeadCommand>[1];

/** Runs the command over dead letters that are a list, or functions; answers with what it prints and says. */
const run = async (
  args: readonly string[],
  letters: readonly DeadLetter[],
  more: Partial<Letters> = {},
) => {
  const [printed, said]: [string[], string[]] = [[], []];
  const all = {
    list: async ({ after }: { after?: string } = {}) => (after ? [] : [...letters]),
    resend: async () => 0,
    purge: async () => 0,
    ...more,
  };
  await runDeadCommand(args, all, {
    print: (line) => printed.push(line),
    say: (line) => said.push(line),
  });
  return { printed, said };
};

const letterOf = (id: string, event = 'Paid'): DeadLetter => ({
  ...{ id, diedAt: 0, reason: 'rejected 400' },
  record: {
    ...checked({ id: `record-${id}`, type: 'event', body: { event } }),
  },
});

it('says to people, and not in its result, that there are no dead letters', async () => {
  expect(await run(['list'], [])).toEqual({ printed: [], said: ['there are no dead letters'] });
});

it('sends all again that are dead when it begins, and not those that die meanwhile', async () => {
  const letters = Array.from({ length: 250 }, (_, n) => letterOf(String(n)));
  const resent: string[] = [];
  const { printed } = await run(['resend', '--all'], [], {
    list: async ({ limit = 100, after } = {}) => {
      const from = after === undefined ? 0 : Number(after) + 1;
      return letters.slice(from, from + limit);
    },
    // A relay that runs beside it delivers them at once, and the service refuses them again.
    resend: async (ids) => {
      resent.push(...ids);
      if (resent.length > 1_000) throw new Error('it does not end');
      letters.push(...ids.map((_, n) => letterOf(String(letters.length + n))));
      return ids.length;
    },
  });
  expect(printed).toEqual(['250 sent again']);
  expect(resent).toEqual(Array.from({ length: 250 }, (_, n) => String(n)));
});

it.each([
  [
    ['list', '--reason', 'expired'],
    ['b', 'c'],
  ],
  [['list', '--reason', 'rejected 4'], ['a']],
  [['list', '--older', '2d'], ['c']],
  [['list', '--newer', '90m'], ['a']],
  [['purge', '--older', '2h', '--newer', '2d'], ['b']],
  [['resend', '--reason', 'expired', '--older', '2d'], ['c']],
])('chooses by reason and age: %j', async (args, chosen) => {
  const ago = (id: string, reason: string, hours: number) => ({
    ...{ ...letterOf(id), reason, diedAt: Date.now() - hours * 3_600_000 },
  });
  const letters = [
    ago('a', 'rejected 400', 1),
    ago('b', 'expired', 5),
    ago('c', 'expired 503', 72),
  ];
  const told: string[] = [];
  const take = async (ids: readonly string[]) => {
    told.push(...ids);
    return ids.length;
  };
  const { printed } = await run(args, letters, { resend: take, purge: take });
  if (args[0] === 'list') told.push(...printed.map((line) => (JSON.parse(line) as DeadLetter).id));
  expect(told).toEqual(chosen);
});

it.each([['purge'], ['purge', 'a', '--all'], ['resend', '--older', 'week'], ['list', 'a'], ['x']])(
  'does nothing by %j',
  async (...args) => {
    const refuse = () => Promise.reject(new Error('touched'));
    const letters = { list: refuse, resend: refuse, purge: refuse };
    await expect(run(args, [], letters)).rejects.toThrow(/usage|no age/);
  },
);

it('writes nothing of a record that a terminal would obey', async () => {
  const letter = letterOf('1', '\u009b31m\u202e\u007f\u001b[2J\u{e0001}');
  const { printed } = await run(['list'], [letter]);
  expect(printed[0]).toMatch(/^[ -~]+$/);
  const { text: _, ...record } = letter.record;
  expect(JSON.parse(printed[0]!)).toMatchObject({ record });
});

it('lists, sends again and deletes what the database has refused, in the same words', async () => {
  const folder = tempFolder();
  const path = join(folder, 'rows.db');
  const store = createLibsqlStore({ path });
  const unspoil = refuseRows(path, 'not this one', "NEW.event = 'bad'");
  const bad = (id: string) => checked(event(id, 'bad'));
  await store.write([bad('a'), checked(event('good')), bad('b'), bad('c')]);
  await store.refuse([
    { received_at: new Date().toISOString(), reason: 'token', status: 401, message: 'no token' },
  ]);
  await store.close();

  const dead = async (...args: string[]) => {
    const letters = await openDeadLetters(readPlaces({ DATA_FOLDER: folder }));
    const [printed, said]: [string[], string[]] = [[], []];
    await runDeadCommand(args, letters, {
      print: (line) => printed.push(line),
      say: (line) => said.push(line),
    });
    await letters.close();
    return { printed, said };
  };
  const listed = async () =>
    (await dead('list')).printed.map((line) => JSON.parse(line) as DeadLetter);
  const [a, b, c] = await listed();
  expect([a, b, c].map((one) => one!.record.id)).toEqual(['a', 'b', 'c']);
  expect(a).toMatchObject({ reason: 'not this one', record: { type: 'event' } });
  expect(await dead('resend', a!.id)).toEqual({
    ...{ printed: ['0 sent again'], said: ['1 were not there, or are refused still'] },
  });
  unspoil();
  expect((await dead('resend', a!.id)).printed).toEqual(['1 sent again']);
  expect((await dead('purge', '--reason', 'not this', '--newer', '1h')).printed).toEqual([
    '2 deleted',
  ]);
  expect(await listed()).toEqual([]);
  const after = createLibsqlStore({ path });
  onTestFinished(() => after.close());
  expect((await after.rows({}, { limit: 9 })).map(({ id }) => id)).toEqual(['good', 'a']);
  expect(await after.countRefused()).toBe(1);
});

it('says where dead letters would be, where there are none', async () => {
  const DATA_FOLDER = tempFolder();
  await expect(openDeadLetters(readPlaces({ DATA_FOLDER }))).rejects.toThrow(
    `\`DATABASE_URL\` (file:${DATA_FOLDER}/rows.db): there is no such file`,
  );
});
