import type { Status } from '../../src/client/types.js';
import type { Tally } from './clicks.js';
import type { TabState } from './tabs.js';

/** What was called, and what has not come: `160 called · 0 lost · 58 lost without`. */
export const sentenceOf = (calls: number, withIt: Tally, without: Tally): string =>
  `${calls} called · ${withIt.lost} lost · ${without.lost} lost without`;

/** What became of the clicks that are not lost. */
export const restOf = ({ stored, waiting, twice, dropped, unknown }: Tally): string =>
  [
    `${stored + twice} stored`,
    waiting && `${waiting} on the way`,
    twice && `${twice} of them twice`,
    dropped && `${dropped} dropped`,
    unknown && `${unknown} unknown`,
  ]
    .filter(Boolean)
    .join(' · ');

interface Look {
  tab: TabState;
  status: Status | undefined;
  /** Whether the page reaches the server of the demo; undefined before it has tried. */
  isReached: boolean | undefined;
}

/** What keeps clicks from the service although no scene is on; undefined if nothing does. */
export const obstacleOf = ({ tab, status, isReached }: Look): string | undefined => {
  if (isReached === false) return 'The demo has ended: run npm start again.';
  if (tab === 'left') return 'The page is left. Its outbox stays on the disk.';
  if (status?.consent === 'denied') return 'Consent is denied: clicks are dropped.';
  if (status?.consent === 'pending') return 'Consent is pending: clicks are kept in memory.';
  if (status?.paused) return 'Nothing can be sent. Clicks wait in the outbox.';
  return undefined;
};
