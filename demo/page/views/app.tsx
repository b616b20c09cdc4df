import { useEffect, useState } from 'preact/hooks';
import type { Demo } from '../demo.js';
import type { Director } from '../director.js';
import { ScenesView } from './scenes-view.js';
import { Proof } from './proof.js';
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
      const isCounting = demo.status()?.nextAttempt !== undefined || demo.tabs.state() !== 'open';
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
  const { isRelay, service } = demo.setup;
  return (
    <>
      <a class="skip" href="#scenes">
        Skip to the scenes
      </a>
      <header class="top">
        <div class="brand">
          <img src="/icon.svg" alt="" width="28" height="28" />
          <h1>analytics-outbox</h1>
        </div>
        <p class="lead">Break anything, and see where every call is.</p>
        <nav class="tabs" aria-label="Way to the service">
          <a href="/" aria-current={isRelay ? undefined : 'page'}>
            Direct
          </a>
          <a href="/relay" aria-current={isRelay ? 'page' : undefined}>
            Relay
          </a>
        </nav>
        <nav class="links" aria-label="More">
          <a href={`${service}/rows`}>Rows</a>
          <a href="/docs/">Docs</a>
        </nav>
      </header>
      <main>
        <Stage demo={demo} director={director} />
        <ScenesView demo={demo} director={director} />
        <div class="two">
          <Try demo={demo} />
          <Proof demo={demo} />
        </div>
      </main>
      <footer class="bottom">
        <nav class="links" aria-label="Documents">
          <a href="/README.md">README</a>
          <a href="/docs/usage.md">Use</a>
          <a href="/docs/options.md">Options</a>
          <a href="/docs/server.md">Server</a>
          <a href="/docs/limits.md">Promise and limits</a>
          <a href={`${service}/rows`}>All rows</a>
        </nav>
        <span>Strict Content Security Policy, Trusted Types</span>
      </footer>
    </>
  );
};
