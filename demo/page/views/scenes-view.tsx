import { SCENES, type Scene } from '../scenes.js';
import type { ViewProps } from './app.js';

const SceneButton = ({ scene, demo, director }: ViewProps & { scene: Scene }) => {
  const { id, title, picture } = scene;
  const isPlayed = demo.clicks().some((click) => click.scene === id);
  const lost = demo.tally('without', id).lost;
  return (
    <li>
      <button
        type="button"
        class={picture ? 'scene' : 'chip'}
        data-scene={id}
        aria-pressed={director.playing()?.id === id}
        onClick={() => void director.play(scene)}
      >
        {picture && (
          <svg viewBox="0 0 32 24" aria-hidden="true">
            <path d={picture.well} />
            {picture.broken && <path class="broken" d={picture.broken} />}
          </svg>
        )}
        <b>{title}</b>
        {picture && (
          <small>
            {isPlayed ? (
              <>
                <span class={lost ? 'wrong' : 'soft'}>{lost} lost</span>
                <span class="soft"> · with: </span>
                <span class="ok">{demo.tally('with', id).lost}</span>
              </>
            ) : (
              'Play'
            )}
          </small>
        )}
      </button>
    </li>
  );
};

/** The scenes of the tour. */
export const Cards = (props: ViewProps) => (
  <section aria-labelledby="scenes">
    <h2 id="scenes" class="sr-only" tabIndex={-1}>
      Break it
    </h2>
    <ul class="cards">
      {SCENES.filter(({ group }) => group === 'tour').map((scene) => (
        <SceneButton key={scene.id} scene={scene} {...props} />
      ))}
    </ul>
  </section>
);

const GROUPS = ['server', 'network', 'browser', 'your mistake'] as const;

/** All other scenes, by whose fault it is. */
export const Chips = (props: ViewProps) => (
  <section class="more card" aria-labelledby="more">
    <h2 id="more">More ways to break it</h2>
    {GROUPS.map((wanted) => (
      <div key={wanted}>
        <h3 class="soft small">{wanted}</h3>
        <ul class="wrap">
          {SCENES.filter(({ group }) => group === wanted).map((scene) => (
            <SceneButton key={scene.id} scene={scene} {...props} />
          ))}
        </ul>
      </div>
    ))}
  </section>
);
