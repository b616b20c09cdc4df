import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Service } from './service.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILDER = join(ROOT, 'e2e/recipes/build-examples.mjs');
const NEXT = join(ROOT, '.tmp/recipes/node_modules/next/dist/bin/next');

const run = promisify(execFile);

/** Builds the examples from the packed package, unless they are built from what is there now. */
export const buildExamples = async (): Promise<void> => {
  await run(process.execPath, [BUILDER]);
};

/** A folder of an example as it is built. */
export const exampleFolder = (...path: string[]): string =>
  join(ROOT, '.tmp/recipes/examples', ...path);

/** What a program prints that ends by itself. */
export const outputOf = async (folder: string, program: string): Promise<string> => {
  const { stdout, stderr } = await run(process.execPath, [program], { cwd: folder });
  return stdout + stderr;
};

const findPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** The Next.js example under `next start`, with its relay in front of the service. */
export const startNext = async (service: Service) => {
  const port = await findPort();
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
