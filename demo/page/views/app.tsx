import { useEffect, useState } from 'preact/hooks';
import type { Demo } from '../demo.js';
import type { Director } from '../director.js';
import { Look } from './look.js';
import { Cards, Chips } from './scenes-view.js';
import { Stage } from './stage.js';
import { Try } from './try.js';

export interface ViewProps {
  demo: Demo;
  director: Director;
}

/** A countdown moves this often. */
const TICK_MS = 100;

/** Draws anew whenever something has happened, and while time is being counted. */
const useDemo = (demo: Demo): void => {
  const [, draw] = useState(0);
  useEffect(() => {
    const update = (): void => draw((n) => n + 1);
    const end = demo.subscribe(update);
    const timer = setInterval(() => {
      const isCounting = demo.status()?.nextAttempt !== undefined;
      if (isCounting && document.visibilityState === 'visible') update();
    }, TICK_MS);
    return () => {
      end();
      clearInterval(timer);
    };
  }, [demo]);
};

export const App = ({ demo, director }: ViewProps) => {
  useDemo(demo);
  const rows = `${demo.setup.service}/rows`;
  const isTour = !!director.playing()?.isTour;
  return (
    <>
      <a class="skip" href="#scenes">
        Skip to the scenes
      </a>
      <header class="top wrap">
        <div class="brand beside">
          <img src="/icon.svg" alt="" width="28" height="28" />
          <b>analytics-outbox</b>
        </div>
        <nav class="links wrap" aria-label="More">
          <a href={rows}>Rows</a>
          <a href="/docs/">Docs</a>
        </nav>
      </header>
      <main>
        <div class="claim">
          <h1>Break it. Nothing gets lost.</h1>
          <p class="soft small">
            The same clicks, sent twice: with a bare <code>fetch</code>, and with analytics-outbox.
            Counted in <a href={rows}>the server’s own rows</a>.
          </p>
          <button
            type="button"
            class={isTour ? '' : 'primary'}
            onClick={() => void (isTour ? director.stop() : director.tour())}
          >
            {isTour ? 'Stop' : 'Play all in 25 s'}
          </button>
        </div>
        <Cards demo={demo} director={director} />
        <Stage demo={demo} director={director} />
        <Chips demo={demo} director={director} />
        <div class="columns">
          <Try demo={demo} />
          <Look demo={demo} />
        </div>
      </main>
      <footer class="bottom">
        <nav class="links wrap" aria-label="Documents">
          <a href="/README.md">README</a>
          <a href="/docs/usage.md">Use</a>
          <a href="/docs/options.md">Options</a>
          <a href="/docs/server.md">Server</a>
          <a href="/docs/limits.md">Promise and limits</a>
        </nav>
        <button type="button" class="link" onClick={() => void demo.service.deleteOwn()}>
          Delete what this demo has stored
        </button>
      </footer>
    </>
  );
};
