import type { BatchAnswer, BatchResult } from '../../src/interface/wire.js';

/** The service takes the record. */
export const taken = async () => new Response('{"success":true}');

export const idsOf = ({ body }: RequestInit): string[] =>
  (JSON.parse(body as string) as { records: { id: string }[] }).records.map(({ id }) => id);

/** Answers a batch with this for each of its records. */
export const answerEach = (request: RequestInit, result: Omit<BatchResult, 'id'>): Response =>
  Response.json({
    results: idsOf(request).map((id) => ({ id, ...result })),
  } satisfies BatchAnswer);
