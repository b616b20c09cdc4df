import { corsHeaders } from './cors';
import type { ServiceContext } from './service-context';

/** Headers by name; `null` takes one away that would be there otherwise. */
export type AnswerHeaders = Record<string, string | null>;

/** Every answer goes through here, so that errors have the CORS headers too. */
export function answer(
  c: ServiceContext,
  status: number,
  body: string | null,
  headers: AnswerHeaders = {},
): Response {
  const all = new Headers(corsHeaders(c.req.path));
  if (body !== null) all.set('content-type', 'application/json');
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) all.delete(name);
    else all.set(name, value);
  }
  return new Response(body, { status, headers: all });
}

export function answerJson(
  c: ServiceContext,
  status: number,
  value: unknown,
  headers?: AnswerHeaders,
): Response {
  return answer(c, status, JSON.stringify(value), headers);
}

export function succeed(c: ServiceContext, message: string): Response {
  return answerJson(c, 200, { success: true, message });
}

const MESSAGES = {
  400: 'Invalid request data',
  401: 'Missing or wrong API token',
  404: 'Not found',
  405: 'Method not allowed',
  413: 'Request body too large',
  500: 'Internal server error',
};

/** The error body has the same shape at every status; `message` overrides the usual text. */
export function refuse(
  c: ServiceContext,
  code: keyof typeof MESSAGES,
  { message = MESSAGES[code], headers }: { message?: string; headers?: AnswerHeaders } = {},
): Response {
  return answerJson(c, code, { code, message }, headers);
}
