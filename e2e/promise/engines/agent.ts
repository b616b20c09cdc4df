import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Site } from '../../support/site.js';
import { until } from '../../support/until.js';
import type { Tab } from './engine.js';

/** Where pages ask what to do. */
const PREFIX = '/__agent/';
const ANSWERS_WITHIN_MS = 30_000;
/** An empty answer this often keeps the connection from being taken for dead. */
const POLL_MS = 1_000;
/** A page asks again after this time: WebKit never tells how a request has ended as a download began. */
const LATE_MS = 2_000;
const DEAD_AFTER_MS = 3_500;

interface Command {
  id: string;
  source: string;
  arg: unknown;
  /** The page may go away by it: nobody waits for an answer. */
  isFarewell: boolean;
  onDone: (answer: Answer) => void;
}

interface Answer {
  value?: unknown;
  error?: string;
}

interface Remote {
  /** The document that asked last, and its address. */
  doc: string;
  href: string;
  /** A document asks right now. */
  waiting: ServerResponse | undefined;
  /** When the last one stopped asking. */
  leftAt: number;
  queue: Command[];
  /** Taken and not answered yet. */
  taken: Map<string, Command & { doc: string }>;
}

/**
 * Asks for commands, runs them, and answers: for a browser that no protocol drives. It stands alone, at the
 * start of every page. The name of the window is that of the tab.
 */
const agentScript = (prefix: string, lateMs: number): void => {
  if (window !== top) return;
  // A tab that no script has opened gets its name by its first address.
  window.name ||= location.hash.slice(1);
  const doc = String(Math.random());
  const { fetch } = window;
  const tell = (answer: object) =>
    fetch(`${prefix}done`, { method: 'POST', body: JSON.stringify(answer) }).catch(() => undefined);
  const run = async ({ id, source, arg }: { id: string; source: string; arg: unknown }) => {
    try {
      const value: unknown = await (0, eval)(`(${source})`)(arg);
      await tell({ id, value });
    } catch (error) {
      await tell({ id, error: String(error) });
    }
  };
  const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
  const askOnce = async () => {
    const query = new URLSearchParams({ tab: window.name || 'main', doc, href: location.href });
    try {
      const response = await fetch(`${prefix}next?${query}`, { cache: 'no-store' });
      const command = (await response.json()) as {
        id: string;
        source: string;
        arg: unknown;
      } | null;
      if (command) void run(command);
    } catch {
      await pause(100); // the page leaves, or came back
    }
  };
  const ask = async () => {
    for (;;) await Promise.race([askOnce(), pause(lateMs)]);
  };
  addEventListener('load', () => void ask());
};

export const AGENT_HEAD = `<script>(${String(agentScript)})(${JSON.stringify(PREFIX)}, ${LATE_MS})</script>`;

export type AgentHub = ReturnType<typeof createAgentHub>;

/** The other side: hands commands to the tabs of a browser by way of the site they are on. */
export const createAgentHub = (site: Pick<Site, 'handle'>) => {
  const remotes = new Map<string, Remote>();

  const remoteOf = (tab: string): Remote => {
    const known = remotes.get(tab);
    if (known) return known;
    const remote: Remote = {
      doc: '',
      href: '',
      waiting: undefined,
      leftAt: 0,
      queue: [],
      taken: new Map(),
    };
    remotes.set(tab, remote);
    return remote;
  };

  const hand = (remote: Remote) => {
    const { waiting, queue } = remote;
    if (!waiting || queue.length === 0) return;
    const command = queue.shift()!;
    remote.waiting = undefined;
    remote.leftAt = performance.now();
    if (!command.isFarewell) remote.taken.set(command.id, { ...command, doc: remote.doc });
    waiting.end(JSON.stringify({ id: command.id, source: command.source, arg: command.arg }));
    if (command.isFarewell) command.onDone({});
  };

  const next = (url: URL, response: ServerResponse) => {
    const remote = remoteOf(url.searchParams.get('tab')!);
    remote.doc = url.searchParams.get('doc')!;
    remote.href = url.searchParams.get('href')!;
    for (const [id, { doc, onDone }] of remote.taken) {
      // Its document is gone.
      if (doc === remote.doc) continue;
      remote.taken.delete(id);
      onDone({ error: 'Execution context was destroyed' });
    }
    remote.waiting?.end('null'); // the page has given it up
    remote.waiting = response;
    const timer = setTimeout(() => {
      if (remote.waiting !== response) return;
      remote.waiting = undefined;
      response.end('null');
    }, POLL_MS);
    response.on('close', () => {
      clearTimeout(timer);
      if (response.writableFinished || remote.waiting !== response) return;
      remote.waiting = undefined;
      remote.leftAt = performance.now();
    });
    hand(remote);
  };

  const done = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = JSON.parse(Buffer.concat(chunks).toString()) as Answer & { id: string };
    for (const { taken } of remotes.values()) {
      taken.get(answer.id)?.onDone(answer);
      taken.delete(answer.id);
    }
    response.end('{}');
  };

  site.handle(PREFIX, (request, response) => {
    const url = new URL(request.url!, 'http://site');
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(200, headers);
    if (url.pathname.endsWith('/next')) next(url, response);
    else done(request, response).catch(() => response.end());
  });

  return {
    /** Runs a function in a tab; resolves with what it answers, or when it was handed over. */
    run: async (
      tab: string,
      source: string,
      arg: unknown,
      { isFarewell = false }: { isFarewell?: boolean } = {},
    ): Promise<unknown> => {
      const remote = remoteOf(tab);
      const answer = await Promise.race([
        new Promise<Answer>((resolve) => {
          remote.queue.push({ id: randomUUID(), source, arg, isFarewell, onDone: resolve });
          hand(remote);
        }),
        pause(ANSWERS_WITHIN_MS, { error: `The tab at ${remote.href} does not answer` } as Answer, {
          ref: false,
        }),
      ]);
      if (answer.error) throw new Error(answer.error);
      return answer.value;
    },
    /** The document that a tab shows. */
    docOf: (tab: string): string => remoteOf(tab).doc,
    /** Waits for another document than this, at an address. */
    arrival: async (tab: string, before: string, address: string): Promise<void> => {
      const isThere = () => {
        const { doc, href } = remoteOf(tab);
        return doc !== before && href === address;
      };
      if (!(await until(isThere, { within: ANSWERS_WITHIN_MS }))) {
        throw new Error(`The tab is at ${remoteOf(tab).href}, not at ${address}`);
      }
    },
    /** No document of the tab has asked for a while. */
    isGone: (tab: string): boolean => {
      const { waiting, leftAt, taken } = remoteOf(tab);
      const isSilent = !waiting && taken.size === 0 && leftAt > 0;
      return isSilent && performance.now() - leftAt > DEAD_AFTER_MS;
    },
    /** Forgets all tabs: the browser has ended. */
    forget: (): void => remotes.clear(),
  };
};

/** A tab whose pages carry the script. `home` is where it goes for an empty page, which would not have it. */
export const createAgentTab = (
  hub: AgentHub,
  name: string,
  home: string,
  isDead: () => boolean,
): Omit<Tab, 'popup'> => {
  let isClosed = false;
  const leave: Tab['leave'] = async (run, arg) => {
    await hub.run(name, String(run), arg, { isFarewell: true });
  };
  return {
    evaluate: ((source: unknown, arg?: unknown) =>
      hub.run(name, String(source), arg)) as Tab['evaluate'],
    goto: async (wanted) => {
      const address = wanted === 'about:blank' ? home : wanted;
      const before = hub.docOf(name);
      await leave((address) => void (location.href = address), address);
      await hub.arrival(name, before, address);
    },
    leave,
    isClosed: () => (isClosed ||= isDead() || hub.isGone(name)),
  };
};
