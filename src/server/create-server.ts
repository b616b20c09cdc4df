import { messageOf } from '../util/errors.js';
import { createOriginDoor, createOriginPaths, type Door, type Operation } from './doors.js';
import type { ServiceHealth } from './deliver/backoff.js';
import { answerJson } from './http/answers.js';
import { createAdmission } from './http/admission.js';
import { createHeldBodies } from './http/held-bodies.js';
import type { Origins } from './http/origin.js';
import { createIgnoring } from './ignoring.js';
import { createReceive, type ReceiveParts } from './receive.js';
import type { Names } from './records.js';
import { refusalOf } from './refusal.js';
import type { ServerOptions } from './relay-options.js';
import { createUnlisted } from './unlisted.js';

/** The state of a server. */
export interface ServerHealth {
  /** `failing` only if it cannot take records. If a service is away, a restart of the relay would not help. */
  status: 'ok' | 'failing';
  /** Why records cannot be taken. */
  problem?: string;
  /** The state of the service that records are passed on to, if this process knows it. */
  service?: ServiceHealth;
}

/** What is made here of the options, in place of being given. */
type MadeHere = 'admission' | 'hold' | 'ignoring' | 'refused' | 'deadline';

interface Parts extends Omit<ReceiveParts, MadeHere>, Partial<Pick<ReceiveParts, 'refused'>> {
  options: ServerOptions;
  /** Origins whose pages may send without a token. */
  origins: Origins;
  /** The door for requests with a token. */
  tokenDoor?: Door | undefined;
}

/** What relay and service share: the doors, the steps of a request, and the state for operators. */
export const createServer = (parts: Parts) => {
  const { options, sink, tell, now } = parts;
  const { authorize, deadline = 15_000 } = options;
  // A copy, so that a later change of the list has no effect.
  const origins = typeof parts.origins === 'function' ? parts.origins : [...parts.origins];
  const admission = createAdmission({ ...options, now, tell });
  const unlisted = createUnlisted(tell, now);
  const receive = createReceive({
    ...{ ...parts, admission, deadline },
    rules: {
      ...parts.rules,
      projects: copyOf(parts.rules.projects),
      channels: copyOf(parts.rules.channels),
    },
    hold: createHeldBodies(),
    ignoring: createIgnoring(options),
    refused: (refused) => {
      unlisted(refused);
      parts.refused?.(refused);
    },
  });
  const originDoor = createOriginDoor(
    origins,
    authorize &&
      (async (request) =>
        admission.unless('authorize', async () =>
          (await authorize(request)) ? undefined : refusalOf('origin', 'Not allowed'),
        )),
  );

  const ready = async (): Promise<Response> => {
    const problem = await sink.problem();
    if (problem === undefined) return answerJson(200, { status: 'ok' });
    return answerJson(503, { status: 'failing' });
  };

  return {
    /** Answers requests of pages, whatever path is in front. Never rejects. */
    answerPage: createOriginPaths({
      origins,
      receive: (request, operation) => receive(request, operation, originDoor),
      probe: async (route) => (route === 'live' ? answerJson(200, { status: 'ok' }) : ready()),
      answered: (route, { status }) =>
        tell.metric('requests', 1, { route, status: String(status) }),
      failed: (error) => tell.error({ kind: 'fault', message: messageOf(error) }),
    }),
    /** Answers a request with a token. */
    answerToken: (request: Request, operation: Operation): Promise<Response> =>
      receive(request, operation, parts.tokenDoor!),
    ready,
    health: async (serviceHealth: () => ServiceHealth | undefined): Promise<ServerHealth> => {
      const problem = await sink.problem();
      const service = serviceHealth();
      return {
        status: problem === undefined ? 'ok' : 'failing',
        ...(problem !== undefined && { problem }),
        ...(service && { service }),
      };
    },
  };
};

const copyOf = (names: Names): Names => (names === '*' ? names : [...names]);
