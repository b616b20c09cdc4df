import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EXAMPLES_FOLDER, FOLDER } from '../../packed/support/install.js';
import { freePort } from '../../test/support/free-port.mjs';
import type { Service } from './service.js';

const NEXT = join(FOLDER, 'node_modules/next/dist/bin/next');

const run = promisify(execFile);

/** A folder of an example as it is built. */
export const exampleFolder = (...path: string[]): string => join(EXAMPLES_FOLDER, ...path);

/** What a program prints that ends by itself. */
export const outputOf = async (folder: string, program: string): Promise<string> => {
  const { stdout, stderr } = await run(process.execPath, [program], { cwd: folder });
  return stdout + stderr;
};

/** The Next.js example under `next start`, with its relay in front of the service. */
export const startNext = async (service: Service) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [NEXT, 'start', '-H', '127.0.0.1', '-p', String(port)], {
    cwd: exampleFolder('next-app'),
    env: {
      ...process.env,
      NODE_ENV: 'production',
      NEXT_TELEMETRY_DISABLED: '1',
      SERVICE_URL: service.url,
      SERVICE_TOKEN: service.token,
      SITE_ORIGIN: url,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = once(child, 'exit');
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Ready')) resolve();
      });
    }
  });
  const failed = exited.then(() => Promise.reject(new Error(`next start ended:\n${output}`)));
  failed.catch(() => undefined); // it ends when it is told to, too
  await Promise.race([ready, failed]);
  return {
    url,
    /** All that it has printed. */
    output: () => output,
    stop: async (): Promise<void> => {
      child.kill();
      await exited;
    },
  };
};
