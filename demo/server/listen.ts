import type { Server } from 'node:http';

const MAX_TRIES = 50;

interface ListenOptions {
  port: number;
  host: string;
  nextFree: boolean;
}

/** Settles when the server listens; rejects when the port is taken and it must not try the next. */
export async function listen(server: Server, { port, host, nextFree }: ListenOptions) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await listenOnce(server, port + tries - 1, host);
    } catch (error) {
      if (!isPortTaken(error) || !nextFree || tries === MAX_TRIES) throw error;
    }
  }
}

export function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function listenOnce(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
