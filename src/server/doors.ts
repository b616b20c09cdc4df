import type { RecordType } from '../interface/bodies.js';
import { RECORD_FROM } from '../interface/wire.js';
import { refuse } from './http/answers.js';
import {
  isFromAllowedPage,
  listedOrigin,
  preflight,
  withCors,
  type Origins,
} from './http/origin.js';
import type { OwnRate } from './http/admission.js';
import { refusalOf, type Refusal } from './refusal.js';
import { bearerOf, type Tokens } from './tokens.js';

/** What a request may do that a door has let in. */
export interface Pass {
  /** Whether the sender's token, if it needs one, may write to a project. */
  mayWrite: (project: string) => boolean;
  /** The rate of the token, if it has one of its own. */
  own?: OwnRate | undefined;
  /** Its records never were in a browser. */
  fromServer?: boolean;
}

/** Decides who may send. The path of a request decides which door it comes to. */
export interface Door {
  enter: (request: Request) => Pass | Refusal | Promise<Pass | Refusal>;
  /** Called after the client's account was checked. */
  authorize?: (request: Request) => Promise<Refusal | undefined>;
}

const anyProject = (): boolean => true;

/** Lets in pages of listed origins, since browsers name the origin of a page truthfully. `Authorization` is ignored. */
export const createOriginDoor = (origins: Origins, authorize: Door['authorize']): Door => ({
  enter: (request) => {
    if (!isFromAllowedPage(request, origins)) return refusalOf('origin', wordsOf(request));
    return isJsonOrBeacon(request)
      ? { mayWrite: anyProject }
      : refusalOf('body', WRONG_TYPE, { status: 415 });
  },
  ...(authorize && { authorize }),
});

const wordsOf = ({ headers }: Request): string => {
  const origin = headers.get('origin');
  if (origin === 'null' || origin === null)
    return 'The page has no origin, as a file opened from disk has none. Serve it, for example by `npx serve`.';
  return `Pages of ${origin.slice(0, 256)} may not send. Add the origin to \`origins\` (the setting SITE_ORIGIN).`;
};

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
const BEACON_TYPE = /^text\/plain\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
const typeOf = ({ headers }: Request): string => headers.get('content-type') ?? '';
const WRONG_TYPE = 'The content type must be application/json, in UTF-8.';

/** A beacon is sent as `text/plain`: with JSON it would need a preflight, for which a leaving page has no time. */
const isJsonOrBeacon = (request: Request): boolean =>
  JSON_TYPE.test(typeOf(request)) || BEACON_TYPE.test(typeOf(request));

const NO_TOKEN =
  'The request has no token. Send `Authorization: Bearer <token>` with a write token of the server (`data-token` in the tag).';
const WRONG_TOKEN =
  'The token is none of the write tokens of the server. Compare it with those that the server was started with.';

/** Browsers name the origin of the page with each POST, and a relay says whose records it passes on. */
const isFromServer = ({ headers }: Request): boolean =>
  !headers.has('origin') && headers.get(RECORD_FROM) !== 'browser';

/** Lets in requests with a write token, whatever their origin. */
export const createTokenDoor = (tokens: Tokens): Door => ({
  enter: async (request) => {
    const token = bearerOf(request);
    const grant = token === undefined ? undefined : await tokens(token);
    if (!grant)
      return refusalOf('token', request.headers.has('authorization') ? WRONG_TOKEN : NO_TOKEN);
    // A page of any site can send text/plain without a preflight.
    if (!JSON_TYPE.test(typeOf(request))) return refusalOf('body', WRONG_TYPE, { status: 415 });
    return { ...grant, fromServer: isFromServer(request) };
  },
});

export type Operation = 'batch' | RecordType;
type Route = Operation | 'live' | 'ready';

const ROUTE = /\/(?:v1\/(batch|identify|event)|(live|ready))$/;

/** The path of a request; '' if its address cannot be parsed, because a client sent a wrong `Host`. */
export const pathOf = ({ url }: Request): string =>
  URL.canParse(url) ? new URL(url).pathname : '';

/** Only the end of the path counts, so that a relay can be mounted anywhere. */
const routeOf = (request: Request): Route | undefined => {
  const [, operation, probe] = ROUTE.exec(pathOf(request)) ?? [];
  return (operation ?? probe) as Route | undefined;
};

interface Paths {
  origins: Origins;
  receive: (request: Request, operation: Operation) => Promise<Response>;
  probe: (route: 'live' | 'ready') => Promise<Response>;
  /** Called with each answer. */
  answered: (route: Route | 'none', response: Response) => void;
  failed: (error: unknown) => void;
}

/** Answers requests of pages, whatever path is in front. Never rejects. */
export const createOriginPaths = ({ origins, receive, probe, answered, failed }: Paths) => {
  const answer = async (
    request: Request,
    route: Route | undefined,
    origin: string | undefined,
  ): Promise<Response> => {
    if (!route) return refuse(404);
    const isProbe = route === 'live' || route === 'ready';
    const { method } = request;
    const allow = isProbe ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS';
    if (method === 'OPTIONS') return origin ? preflight(allow) : refuse(403);
    if (!allow.split(', ').includes(method)) return refuse(405, { allow });
    return isProbe ? probe(route) : receive(request, route);
  };

  return async (request: Request): Promise<Response> => {
    let route: Route | undefined;
    let response: Response;
    let origin: string | undefined;
    try {
      route = routeOf(request);
      origin = listedOrigin(request, origins);
      response = await answer(request, route, origin);
    } catch (error) {
      failed(error);
      response = refuse(500);
    }
    answered(route ?? 'none', response);
    return withCors(response, origin);
  };
};
