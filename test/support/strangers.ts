/** Strangers who try to keep others out of a server, and the others. A proxy in front says who each of them is. */
import { Agent, request, type ClientRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

interface Site {
  /** The address of the relay path. */
  url: string;
  origin: string;
  project: string;
  channel: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

const open = ({ url, origin }: Site, client: string, length?: number): ClientRequest =>
  request(`${url}/v1/batch`, {
    ...{ method: 'POST', agent },
    headers: {
      ...{ origin, 'content-type': 'application/json', 'x-forwarded-for': client },
      ...(length !== undefined && { 'content-length': length }),
    },
  });

/** The status of the answer; 0 if there is none. */
const statusOf = (sent: ClientRequest): Promise<number> =>
  new Promise((resolve) => {
    sent.once('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.once('error', () => resolve(0)).once('close', () => resolve(0));
  });

let made = 0;
const batchOf = ({ project, channel }: Site, count: number): string => {
  const records = Array.from({ length: count }, () => ({
    ...{ id: `r${++made}`, type: 'event', body: { project, channel, event: 'Visit' } },
  }));
  return JSON.stringify({ sent_at: new Date().toISOString(), records });
};

const post = (site: Site, client: string, count: number): Promise<number> => {
  const body = batchOf(site, count);
  const sent = open(site, client, body.length);
  const answer = statusOf(sent);
  sent.end(body);
  return answer;
};

/** Sends a body of so many bytes within so many milliseconds. */
const uploadSlowly = async (site: Site, client: string, bytes: number, ms: number) => {
  const body = batchOf(site, 5).padEnd(bytes);
  const sent = open(site, client, bytes);
  const answer = statusOf(sent);
  const PIECES = 20;
  for (let n = 0; n < PIECES && !sent.destroyed; n++) {
    sent.write(body.slice((n * bytes) / PIECES, ((n + 1) * bytes) / PIECES));
    await sleep(ms / PIECES);
  }
  sent.end();
  return answer;
};

type Attack = (site: Site, signal: AbortSignal) => Promise<unknown>;

/** Keeps bodies open of which the last byte never comes. One that is refused or cut off is sent again. */
export const holdBodies =
  (bodies: readonly { client: string; bytes: number; isTold: boolean }[]): Attack =>
  (site, signal) => {
    const over = new Promise((resolve) => signal.addEventListener('abort', resolve));
    return Promise.all(
      bodies.map(async ({ client, bytes, isTold }) => {
        while (!signal.aborted) {
          const sent = open(site, client, isTold ? bytes + 1 : undefined);
          const answer = statusOf(sent);
          sent.write('x'.repeat(bytes));
          await Promise.race([answer, over]);
          sent.destroy();
          if (!signal.aborted) await sleep(200);
        }
      }),
    );
  };

/** Clients who send batches one after the other, through so many connections. */
export const flood =
  (clients: readonly string[], count: number, connections = 20): Attack =>
  (site, signal) =>
    Promise.all(
      Array.from({ length: connections }, async (_, first) => {
        for (let n = first; !signal.aborted; n += connections)
          await post(site, clients[n % clients.length]!, count);
      }),
    );

const shareOf = (statuses: readonly number[]) =>
  statuses.filter((status) => status === 200).length / statuses.length;

/**
 * Lets others send beside an attack, each from a network of its own: twenty visits a second, and two slow bodies of
 * 200,000 bytes. Returns the shares that got in.
 */
export const servedBeside = async (
  site: Site,
  attack: Attack,
  { seconds, slowMs }: { seconds: number; slowMs: number },
) => {
  const end = new AbortController();
  const attacking = attack(site, end.signal);
  await sleep(1_000);
  const visits: Promise<number>[] = [];
  const slow: Promise<number>[] = [];
  for (let n = 0; n < seconds * 20; n++) {
    const network = `11.${n >> 8}.${n & 255}`;
    visits.push(post(site, `${network}.1`, 5));
    if (n % 10 === 0) slow.push(uploadSlowly(site, `12.${network.slice(3)}.1`, 200_000, slowMs));
    await sleep(50);
  }
  const [visited, uploaded] = [await Promise.all(visits), await Promise.all(slow)];
  end.abort();
  await attacking;
  agent.destroy();
  return {
    early: shareOf(visited.slice(0, 200)),
    late: shareOf(visited.slice(-200)),
    slow: shareOf(uploaded),
  };
};

const KIB = 1_024;

/** All the room for bodies, by a /48 of IPv6, or by addresses in as many /24s of IPv4. */
export const ofOneNetwork = holdBodies(
  Array.from({ length: 63 }, (_, n) => `2001:db8:0:${n}::1`).flatMap((client) => [
    { client, bytes: 1_024 * KIB - 1, isTold: true },
    ...Array.from({ length: 4 }, () => ({ client, bytes: 63 * KIB, isTold: false })),
  ]),
);
export const ofTwelveNetworks = holdBodies(
  Array.from({ length: 96 }, (_, n) => ({
    ...{ client: `10.0.${n % 12}.1`, bytes: 1_000 * KIB, isTold: true },
  })),
);
/** Clients of one /24, and of 300. */
export const addressesOfOne = Array.from({ length: 200 }, (_, n) => `10.0.0.${n + 1}`);
export const addressesOf300 = Array.from({ length: 300 }, (_, n) => `10.${n >> 8}.${n & 255}.1`);
