/** Texts of the errors that a server answers with. */
const MESSAGES = {
  400: 'Invalid request data',
  401: 'Missing or wrong API token',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  413: 'Too large',
  415: 'Wrong content type',
  422: 'Not stored',
  429: 'Too many records',
  500: 'Failed',
  502: 'Not passed on',
  503: 'Try again later',
} as const;

export type ErrorStatus = keyof typeof MESSAGES;

/** An answer in JSON. No cache may keep it, or one origin could get the answer of another. */
export const answerJson = (status: number, value: unknown): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });

interface Words {
  /** How long to wait, if that is known. */
  waitMs?: number;
  /** What is wrong, if the status alone does not say it. */
  message?: string | undefined;
  /** What is wrong, beside a message that the interface fixes. */
  detail?: string | undefined;
  /** The methods that are allowed, with 405. */
  allow?: string;
}

/** An error in the interface's form (section 7). */
export const refuse = (
  status: ErrorStatus,
  { waitMs = 0, message, detail, allow }: Words = {},
): Response => {
  const words = { code: status, message: message ?? MESSAGES[status], detail };
  const response = answerJson(status, words);
  if (status === 401) response.headers.set('www-authenticate', 'Bearer');
  if (allow) response.headers.set('allow', allow);
  if (waitMs > 0) response.headers.set('retry-after', String(Math.ceil(waitMs / 1_000)));
  return response;
};
