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

/** What the service answers at a path, or the answer at the path before until it has come. */
export const useAnswer = <Answer>(path: string | undefined) => {
  const [{ of, answer, isFailed }, set] = useState<{
    of?: string;
    answer?: Answer;
    isFailed?: boolean;
  }>({});
  useEffect(() => {
    if (path === undefined) return;
    let isOver = false;
    const read = (): void =>
      void askOnce<Answer>(path).then(
        (next) => !isOver && set({ of: path, answer: next }),
        () => !isOver && set((last) => ({ ...last, isFailed: true })),
      );
    read();
    const stop = onForgotten(read);
    return () => {
      isOver = true;
      stop();
    };
  }, [path]);
  return { answer, isFailed, isNew: of === path };
};
