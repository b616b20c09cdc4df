import { expect, it } from 'vitest';
import { runDeadCommand } from '../../src/program/dead-command.js';

it('says to people, and not in its result, that there are no dead letters', async () => {
  const [printed, said]: [string[], string[]] = [[], []];
  const none = { list: async () => [], resend: async () => 0, purge: async () => 0 };
  const voice = {
    print: (line: string) => printed.push(line),
    say: (line: string) => said.push(line),
  };
  await runDeadCommand(['list'], none, voice);
  expect([printed, said]).toEqual([[], ['there are no dead letters']]);
});
