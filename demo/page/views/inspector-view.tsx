import { useEffect, useRef, useState } from 'preact/hooks';
import type { Demo } from '../demo.js';
import type { TabWindow } from '../tab.js';

/** Loaded when it is asked for. */
const FILE = '/outbox-inspector.js';
/** Where the files of a page share what they know of its trackers. */
const SHARED = Symbol.for('analytics-outbox inspector');
type Shared = { watched: Set<unknown> } | undefined;

const sharedOf = (window: TabWindow | undefined): Shared =>
  (window as unknown as Record<symbol, Shared> | undefined)?.[SHARED];

/** The inspector, as it opens on any page, over the page in the frame. */
export const InspectorView = ({ demo }: { demo: Demo }) => {
  const place = useRef<HTMLDivElement>(null);
  const [problem, tell] = useState('');
  const page = demo.tabs.current()?.window;
  // The developers' file comes after the tag's.
  const isThere = !!sharedOf(page)?.watched.size;
  useEffect(() => {
    if (!page || !isThere) return undefined;
    // This page has no tracker of its own: the inspector is shown those of the frame.
    const get = () => sharedOf(page);
    Object.defineProperty(window, SHARED, { configurable: true, get });
    let isOver = false;
    let end = (): void => {};
    (import(FILE) as Promise<typeof import('../../../src/inspector.js')>)
      .then(({ openInspector }) => {
        if (isOver) return;
        const inspector = openInspector({ into: place.current! });
        end = inspector.close;
      })
      .catch(() => tell('The inspector could not be loaded.'));
    return () => {
      isOver = true;
      end();
    };
  }, [page, isThere]);
  return (
    <>
      {problem && <p class="wrong">{problem}</p>}
      {!isThere && <p class="soft">There is no page to look into.</p>}
      <div class="inspector" ref={place} />
    </>
  );
};
