import { messageOf } from '../interface/errors.js';
import {
  createOriginDoor,
  createOriginPaths,
  createTokenDoor,
  type Door,
  type Operation,
} from './doors.js';
import type { ServiceHealth } from './deliver/backoff.js';
import type { ServerHealth } from './create-relay.js';
import type { Tell } from './hooks.js';
import { answerJson } from './http/answers.js';
import { createAdmission, createHeldBodies } from './http/admission.js';
import { MAX_BODY_BYTES } from './http/body.js';
import { createClientOf, createOpaqueWord } from './http/client.js';
import type { Origins } from './http/origin.js';
import { createReceive, type Refused } from './receive.js';
import type { Names, Rules } from './records.js';
import { refusalOf } from './refusal.js';
import type { ServerOptions } from './relay-options.js';
import type { Sink } from './sink.js';
import type { Tokens } from './tokens.js';
import { createUnlisted } from './unlisted.js';

interface Parts {
  options: ServerOptions;
  sink: Sink;
  rules: Rules;
  /** Origins whose pages may send without a token. */
  origins: Origins;
  /** Who may send with a token; without it nobody. */
  tokens?: Tokens | undefined;
  /** Makes the words for senders, if neither the options nor the sink have a secret. */
  secret?: string | undefined;
  browserOf?: ((request: Request) => Promise<string | undefined>) | undefined;
  addressOf?: ((request: Request) => string | undefined) | undefined;
  /** Called with each request and record that is refused. */
  refused?: ((refused: Refused) => void) | undefined;
  /** Called with each answer to a page. */
  answered?: ((request: Request) => void) | undefined;
  accepted?: (() => void) | undefined;
  tell: Tell;
  now: () => number;
}

/** What relay and service share: the doors, the way in, and a word on their health. */
export const createServer = (parts: Parts) => {
  const { options, sink, tokens, tell, now } = parts;
  const { authorize, allowMissingOrigin = false, consumer } = options;
  const { maxBytes = MAX_BODY_BYTES, bodyTimeout = 10_000, deadline = 15_000 } = options;
  const { origins } = parts;
  // Copied: what is allowed must not change under way.
  const originRules = {
    origins: typeof origins === 'function' ? origins : [...origins],
    allowMissingOrigin,
  };
  const admission = createAdmission({ ...options, now, tell });
  const unlisted = createUnlisted(tell, now);
  const receive = createReceive({
    ...{ sink, admission, tell, now, maxBytes, bodyTimeout, deadline },
    rules: {
      ...parts.rules,
      projects: copyOf(parts.rules.projects),
      channels: copyOf(parts.rules.channels),
    },
    hold: createHeldBodies(),
    clientOf: createClientOf(options, tell),
    // What goes on and may be stored holds no address.
    senderOf: createOpaqueWord(options.secret ?? sink.secret ?? parts.secret),
    browserOf: parts.browserOf,
    addressOf: parts.addressOf,
    accepted: parts.accepted,
    refused: (refused) => {
      unlisted(refused);
      parts.refused?.(refused);
    },
  });
  const originDoor = createOriginDoor(
    originRules,
    authorize &&
      (async (request) => {
        const may = await admission.unless('authorize', () => authorize(request));
        if (typeof may === 'object') return may;
        return may ? undefined : refusalOf('origin', 'Not allowed');
      }),
  );
  const tokenDoor: Door | undefined = tokens && createTokenDoor(tokens);

  const ready = async (): Promise<Response> => {
    const problem = await sink.problem();
    if (problem === undefined) return answerJson(200, { status: 'ok' });
    return answerJson(503, { status: 'failing' });
  };

  return {
    /** Answers pages of listed origins, under whatever path. Never rejects. */
    answerPage: createOriginPaths({
      rules: originRules,
      receive: (request, operation) => receive(request, operation, originDoor),
      probe: async (route) => (route === 'live' ? answerJson(200, { status: 'ok' }) : ready()),
      answered: (route, { status }) =>
        tell.metric('requests', 1, { route, status: String(status) }),
      failed: (error) => tell.error({ kind: 'fault', message: messageOf(error) }),
    }),
    /** Answers a request to an operation, of whoever has a token. */
    answerToken: (request: Request, operation: Operation): Promise<Response> =>
      receive(request, operation, tokenDoor!),
    ready,
    health: async (serviceHealth: () => ServiceHealth | undefined): Promise<ServerHealth> => {
      const problem = await sink.problem();
      const known = consumer?.health();
      const service = known?.service ?? serviceHealth();
      const size = known?.queue;
      const oldestMs = Math.max(0, now() - (size?.oldest ?? now()));
      return {
        status: problem === undefined ? 'ok' : 'failing',
        ...(problem !== undefined && { problem }),
        ...(service && { service }),
        ...(size && {
          queue: { waiting: size.waiting, dead: size.dead, oldest_s: Math.round(oldestMs / 1_000) },
        }),
      };
    },
  };
};

const copyOf = (names: Names): Names => (names === '*' ? names : [...names]);
