import { useEffect, useState } from 'preact/hooks';
import { askOnce, onForgotten } from '../state/answers.js';
import type { Feed, FeedState } from '../state/feed.js';

export const useFeed = (feed: Feed): FeedState => {
  const [state, setState] = useState(feed.state);
  useEffect(() => {
    const update = (): void => setState(feed.state());
    update();
    return feed.subscribe(update);
  }, [feed]);
  return state;
};

/** The time, anew each second. */
export const useNow = (clock: () => number): number => {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    const timer = setInterval(() => setNow(clock()), 1000);
    return () => clearInterval(timer);
  }, [clock]);
  return now;
};

/**
 * What is read for a key, or the answer for the key before until it has come. Without a key nothing is read.
 * @param again calls its argument whenever the same is to be read once more, until what it returns is called
 */
export const useRead = <Answer>(
  read: () => Promise<Answer>,
  key: string | undefined,
  again: (read: () => void) => () => void,
) => {
  const [{ of, answer, isFailed }, set] = useState<{
    of?: string;
    answer?: Answer;
    isFailed?: boolean;
  }>({});
  useEffect(() => {
    if (key === undefined) return;
    let isOver = false;
    const readNow = (): void =>
      void read().then(
        (next) => !isOver && set({ of: key, answer: next }),
        () => !isOver && set((last) => ({ ...last, isFailed: true })),
      );
    readNow();
    const stop = again(readNow);
    return () => {
      isOver = true;
      stop();
    };
  }, [key]);
  return { answer, isFailed, isNew: of === key };
};

/** What the service answers at a path. */
export const useAnswer = <Answer>(path: string | undefined) =>
  useRead(() => askOnce<Answer>(path!), path, onForgotten);
