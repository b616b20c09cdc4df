import { useState } from 'preact/hooks';
import { FIRST_SCENES, SCENES, type Scene } from '../scenes.js';
import type { ViewProps } from './app.js';

/** Each scene a card, which says what it came to. */
export const ScenesView = ({ director }: ViewProps) => {
  const [isOpen, open] = useState(false);
  const { id } = director.playing();
  const card = (scene: Scene) => {
    const { tone, words } = director.result(scene.id);
    return (
      <li key={scene.id}>
        <button
          type="button"
          class={`card scene ${scene.id === id ? 'playing' : ''}`}
          data-scene={scene.id}
          onClick={() => void director.play(scene)}
        >
          <b>{scene.title}</b>
          <span>{scene.words}</span>
          <em class={tone}>{words}</em>
        </button>
      </li>
    );
  };
  const more = SCENES.length - FIRST_SCENES;
  return (
    <section aria-labelledby="scenes">
      <h2 id="scenes" class="sr-only" tabIndex={-1}>
        Scenes
      </h2>
      <ul class="scenes">
        {SCENES.slice(0, FIRST_SCENES).map(card)}
        <li>
          <button
            type="button"
            class="card scene more"
            aria-expanded={isOpen}
            onClick={() => open(!isOpen)}
          >
            <b>{isOpen ? 'Fewer' : 'More …'}</b>
            <span>Lost answer, hanging request, deleted database, wrong token</span>
            <em class="ready">{more} scenes</em>
          </button>
        </li>
        {isOpen && SCENES.slice(FIRST_SCENES).map(card)}
      </ul>
    </section>
  );
};
