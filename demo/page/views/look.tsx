import { useState } from 'preact/hooks';
import { clockTime } from '../../../src/show/times.js';
import type { Demo } from '../demo.js';
import { InspectorView } from './inspector-view.js';

/** What the stage does not say: codes, and the page's own queue. */
export const Look = ({ demo }: { demo: Demo }) => {
  const [isInspected, inspect] = useState(false);
  const log = demo.log();
  return (
    <section class="card folds" aria-label="Look closer">
      <details open>
        <summary>Log</summary>
        {!log.length && <p class="soft">Quiet so far.</p>}
        <ol class="log" tabIndex={0} aria-label="Log">
          {log.map(({ n, lane, code, words, times, at }) => (
            <li key={n}>
              <time class="soft" dateTime={new Date(at).toISOString()}>
                {clockTime(at)}
              </time>
              <b>{lane}</b>
              <code>{code}</code>
              <span>
                {words}
                {times > 1 && ` ×${times}`}
              </span>
            </li>
          ))}
        </ol>
      </details>
      <details onToggle={({ currentTarget }) => inspect(currentTarget.open)}>
        <summary>Inspector, as it opens on any page</summary>
        {isInspected && <InspectorView demo={demo} />}
      </details>
    </section>
  );
};
