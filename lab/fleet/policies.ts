import type { Client, CreateClient, World } from './clients.js';
import type { Reply } from './server.js';

const isGood = ({ status }: Reply): boolean => status === 200;

/** Requests at a time, as browsers and most trackers have it. */
const WIDTH = 6;
const FIXED_MS = 10_000;
const BASE_MS = 1_000;
const CAP_MS = 300_000;

/** One queue and one timer a client: after a failure all of it waits for `delayAfter`. */
const createQueueClient =
  (delayAfter: (failures: number, reply: Reply) => number): CreateClient =>
  (client, world) => {
    const { after, send, delivered, isOnline } = world;
    let waiting = 0;
    let flying = 0;
    let failures = 0;
    let isHeld = false;
    let page = 0;

    const pump = () => {
      while (waiting > 0 && flying < WIDTH && !isHeld && isOnline(client)) {
        waiting--;
        flying++;
        send(client, settled);
      }
    };
    const settled = (reply: Reply) => {
      flying--;
      if (isGood(reply)) {
        failures = 0;
        delivered();
      } else {
        waiting++;
        if (!isHeld) hold(delayAfter(failures++, reply));
      }
      pump();
    };
    const hold = (ms: number) => {
      isHeld = true;
      const current = page;
      after(ms, () => {
        if (page === current) release();
      });
    };
    const release = () => {
      isHeld = false;
      pump();
    };

    return {
      call: () => {
        waiting++;
        pump();
      },
      // The next page knows nothing of the failures of this one.
      navigate: () => {
        page++;
        failures = 0;
        release();
      },
      online: pump,
    };
  };

/** After a failure everything is tried again in ten seconds; `Retry-After` is not read. */
export const createFixedClient = createQueueClient(() => FIXED_MS);

/** 1, 2, 4 s and so on to five minutes, or what the server wishes, to the second. */
export const createExponentialClient = createQueueClient((failures, { retryAfterMs }) =>
  Math.max(retryAfterMs, Math.min(CAP_MS, BASE_MS * 2 ** failures)),
);

/** Each record is sent at once and has its own timer, with exponential backoff and full jitter. */
export const createPerRecordClient: CreateClient = (client, world: World): Client => {
  const { after, random, send, delivered, isOnline } = world;
  let offline: (() => void)[] = [];
  const attempt = (failures: number) => {
    if (!isOnline(client)) return void offline.push(() => attempt(failures));
    send(client, (reply) => {
      if (isGood(reply)) return delivered();
      const backoff = random() * Math.min(CAP_MS, BASE_MS * 2 ** failures);
      after(Math.max(reply.retryAfterMs, backoff), () => attempt(failures + 1));
    });
  };
  return {
    call: () => attempt(0),
    navigate: () => undefined, // its timers are taken along, which is kind to it
    online: () => {
      const held = offline;
      offline = [];
      for (const again of held) again();
    },
  };
};
