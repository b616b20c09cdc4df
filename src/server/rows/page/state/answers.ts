import { ask } from './service.js';

/** What was counted by looking at rows is kept for a minute. */
const KEPT_MS = 60_000;
const MAX_KEPT = 20;

const kept = new Map<string, { at: number; answer: Promise<unknown> }>();
const listeners = new Set<() => void>();

/** Asks the service, unless it has answered within the last minute. */
export const askOnce = <Answer>(path: string): Promise<Answer> => {
  const known = kept.get(path);
  if (known && Date.now() - known.at < KEPT_MS) return known.answer as Promise<Answer>;
  const answer = ask<Answer>(path);
  answer.catch(() => kept.delete(path));
  kept.delete(path);
  kept.set(path, { at: Date.now(), answer });
  if (kept.size > MAX_KEPT) kept.delete([...kept.keys()][0]!);
  return answer;
};

/** Rows were erased, so what was counted is asked for again. */
export const forgetAnswers = (): void => {
  kept.clear();
  for (const listener of listeners) listener();
};

export const onForgotten = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
