import { expect, it } from 'vitest';
import { runNotify } from '../../src/program/notify-command.js';
import { listen } from '../server/support/relay.js';

const test = async (environment: NodeJS.ProcessEnv, args = ['--test']) => {
  const lines: string[] = [];
  const run = runNotify(args, { environment, print: (line) => lines.push(line) });
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => (thrown as Error).message,
  );
  return { lines, error };
};

it('sends a test message to each address, and says what each has answered', async () => {
  const asked: string[] = [];
  const port = await listen(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    asked.push(text);
    response.statusCode = text.includes('topic-wrong') ? 403 : 200;
    response.end();
  });
  const addressOf = (topic: string) => `ntfy+http://localhost:${port}/${topic}`;
  const NOTIFY = `${addressOf('topic-right')} ${addressOf('topic-wrong')}`;
  const { lines, error } = await test({ NOTIFY, NOTIFY_EVENTS: 'shop/*/*' });
  expect(lines).toEqual([
    expect.stringMatching(/^localhost:\d+\/top….{6} answers 200: it took the message$/),
    expect.stringMatching(/^localhost:\d+\/top….{6} answers 403: .* in NOTIFY$/),
  ]);
  expect(error).toBe('1 of 2 took no message');
  expect(JSON.parse(asked[0]!)).toMatchObject({ topic: 'topic-right', title: '🔔 Test' });
});

it('says what is missing', async () => {
  expect((await test({})).error).toContain('`NOTIFY` is missing');
  expect((await test({ NOTIFY: 'ntfy://ntfy.sh/x' })).error).toContain(
    '`NOTIFY_EVENTS` is missing',
  );
  expect((await test({}, [])).error).toBe('usage: notify --test');
});
