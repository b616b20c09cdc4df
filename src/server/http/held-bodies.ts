import { refusalOf, type Refusal } from '../refusal.js';

const MIB = 1_048_576;
/** What a body counts as at the least. */
const LEAST_BYTES = 1_024;
/** A larger body is a large one. Pages send none. */
export const SMALL_BYTES = 65_536;

/** A refusal of a body for which the server has no room or no time; its sender may try again soon. */
export const busy = (message: string, status: 429 | 503 = 503): Refusal =>
  refusalOf('rate', message, { status, waitMs: 1_000 });

const MANY_OF_CLIENT = busy('Too many bodies of this client at once.', 429);
const MANY_OF_ALL = busy('Too many bodies at once.');

/** A body in memory. */
export interface HeldBody {
  /** Counts the body as this many bytes, unless it counts as more already, or returns why there is no room. */
  grow: (to: number) => Refusal | undefined;
  /** The bytes that were counted. */
  size: () => number;
  /** The body is not held any more. */
  release: () => void;
  /** Ends the reading of the body; set while it is read. */
  cutOff?: ((why: Refusal) => void) | undefined;
}

/** Bytes of all bodies, and of the large ones among them. */
type Bytes = Record<'all' | 'large', number>;

const bytesOf = (size: number): Bytes => ({ all: size, large: size > SMALL_BYTES ? size : 0 });

interface Network {
  bytes: Bytes;
  /** Its bodies, the oldest first. */
  bodies: Set<HeldBody>;
}

/**
 * Counts the bytes of bodies in memory: those that are announced at once, the others as they come. If there is no room,
 * the network that holds most loses the newest of its bodies that are being read. So slow bodies of a network that holds
 * little get in. Clients that cannot be told apart have no bound of their own.
 */
export const createHeldBodies = ({ all = 64 * MIB, large = 48 * MIB, ofClient = 8 * MIB } = {}) => {
  const most: Bytes = { all, large };
  const held = bytesOf(0);
  const networks = new Map<string, Network>();
  const clients = new Map<string, number>();

  /** Makes room for more bytes of a network. Returns false if that network itself holds most. */
  const makeRoom = (kind: keyof Bytes, more: number, network: Network): boolean => {
    while (held[kind] + more > most[kind]) {
      let [top, bytes] = [network, network.bytes[kind] + more];
      for (const other of networks.values())
        if (other !== network && other.bytes[kind] > bytes)
          [top, bytes] = [other, other.bytes[kind]];
      const newest =
        top !== network &&
        [...top.bodies].filter((body) => body.cutOff && bytesOf(body.size())[kind]).at(-1);
      if (!newest) return false;
      newest.release();
      newest.cutOff!(MANY_OF_ALL);
    }
    return true;
  };

  /** One more body of a client in a network. */
  return (client: string, name: string): HeldBody => {
    const network = networks.get(name) ?? { bytes: bytesOf(0), bodies: new Set() };
    let size = 0;
    let isReleased = false;

    const count = ({ all, large }: Bytes): void => {
      for (const bytes of [held, network.bytes]) {
        bytes.all += all;
        bytes.large += large;
      }
      const left = (clients.get(client) ?? 0) + all;
      if (left) clients.set(client, left);
      else clients.delete(client);
    };

    const body: HeldBody = {
      grow: (to) => {
        const next = Math.max(LEAST_BYTES, size, to);
        // Bytes that come after the body was given up are not counted.
        if (isReleased || next === size) return undefined;
        const [before, after] = [bytesOf(size), bytesOf(next)];
        const more = { all: after.all - before.all, large: after.large - before.large };
        if (client && (clients.get(client) ?? 0) + more.all > ofClient) return MANY_OF_CLIENT;
        if (!makeRoom('large', more.large, network) || !makeRoom('all', more.all, network))
          return MANY_OF_ALL;
        size = next;
        count(more);
        return undefined;
      },
      size: () => size,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        const { all, large } = bytesOf(size);
        count({ all: -all, large: -large });
        network.bodies.delete(body);
        if (!network.bodies.size) networks.delete(name);
      },
    };
    networks.set(name, network);
    network.bodies.add(body);
    return body;
  };
};
