import { useEffect, useState } from 'preact/hooks';
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
