import { followPage } from './browser/page-life.js';
import type { DestinationConsent } from './consent.js';
import type { Context } from './context.js';
import type { Parts } from './parts.js';

/** The page looks this often for records that other pages have left. */
const LOOK_MS = 60_000;
/** It looks this soon after its start, too, since the page before it may still have been writing then. */
const SOON_MS = 5_000;

interface Effects {
  parts: Parts;
  start: () => void;
  consent: DestinationConsent;
  leave: () => void;
}

/** Lets storage and delivery follow the life of the page. Returns a function that ends this. */
export const followLife = ({ gateKey }: Context, effects: Effects): (() => void) => {
  const { parts, start, consent, leave } = effects;
  const { outbox, flusher } = parts;
  const lookAround = () => {
    outbox.look();
    flusher.pump();
  };
  const unfollow = followPage({
    onShown: start,
    onLeave: leave,
    onReturn: () => {
      consent.lookAgain();
      outbox.comeBack();
      flusher.comeBack();
    },
    onOnline: () => flusher.resume(),
    onStored: (key) => {
      consent.hear(key);
      if (key === gateKey) flusher.pump();
    },
  });
  const looks = [setTimeout(lookAround, SOON_MS), setInterval(lookAround, LOOK_MS)];
  return () => {
    unfollow();
    looks.forEach(clearTimeout);
  };
};
