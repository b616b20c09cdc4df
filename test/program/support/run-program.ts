import { pathToFileURL } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import type { BatchRecord } from '../../../src/interface/wire.js';
import { serve } from '../../../src/program/serve.js';
import { readSettings, type Settings } from '../../../src/program/settings.js';
import { listen } from '../../server/support/relay.js';
import { tempFolder } from '../../support/temp-folder.js';

export const ORIGIN = 'https://shop.example';

/** Settings for the program in front of a service, with rows in a folder of its own. */
export const environmentOf = (
  serviceUrl: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> => ({
  ...{ SERVICE_URL: serviceUrl, SERVICE_TOKEN: 'tok', SITE_ORIGIN: ORIGIN, HOST: '127.0.0.1' },
  ...{ PROJECTS: 'p', CHANNELS: 'c', DATA_FOLDER: tempFolder(), PORT: '0', ...more },
});
export const settingsOf = (...given: Parameters<typeof environmentOf>) =>
  readSettings(environmentOf(...given));

interface Place {
  environment?: NodeJS.ProcessEnv;
  /** Folder with the files of the program. */
  folder?: string;
}

/** Starts the program until the test ends; its addresses are those that it says. */
export const runProgram = async (
  settings: Settings,
  { environment = {}, folder = tempFolder() }: Place = {},
) => {
  const lines: string[] = [];
  const errors: string[] = [];
  let announced = '';
  const announce = (text: string) => void (announced = text);
  const log = {
    info: (line: string) => lines.push(line),
    error: (line: string) => errors.push(line),
  };
  const files = pathToFileURL(`${folder}/`);
  const served = serve(settings, { log, announce, files, environment });
  const stop = async () => {
    process.emit('SIGTERM');
    await served;
  };
  onTestFinished(stop);
  const [url, adminUrl] = await vi.waitUntil(() => {
    const urls = lines.slice(1).flatMap((line) => /http:\S+/.exec(line) ?? []);
    return urls.length > (settings.adminPort === undefined ? 0 : 1) && urls;
  });
  return {
    ...{ lines, errors, announced, url: url!, adminUrl: adminUrl!, stop },
    send: (records: readonly object[], headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${url}/a/v1/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: ORIGIN, ...headers },
        body: JSON.stringify({ sent_at: new Date().toISOString(), records }),
      }),
  };
};

/** What the service was asked, and what it said. */
interface Asked {
  name: string;
  status: number;
  authorization: string | undefined;
}

/** A service over HTTP that judges events by their names. One that answers 503 asks for an hour. */
export const runJudge = async (judge: (name: string) => number | Promise<number> = () => 200) => {
  const asked: Asked[] = [];
  const port = await listen(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { event: name } = JSON.parse(text) as BatchRecord['body'] & { event: string };
    const status = await judge(name);
    asked.push({ name, status, authorization: request.headers.authorization });
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 503 && { 'retry-after': '3600' }),
    });
    response.end(JSON.stringify(status === 200 ? { success: true } : { code: status }));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    /** Names of events with such an answer. */
    answered: (status: number) => asked.flatMap((one) => (one.status === status ? [one.name] : [])),
  };
};
