import type { Configure } from '../configure.js';
import type { ServiceClient } from '../database/service-client.js';
import { byId } from '../dom.js';
import { tracker } from '../tracker.js';
import { healedWords } from './pause-words.js';
import type { Toast } from './toast.js';

interface Effects {
  client: ServiceClient;
  configure: Configure;
  /** Forgets the calls that have come to their end, in all tabs. */
  forgetSettled: () => void;
  now: () => number;
  onChange: () => void;
  toast: Toast;
}

/** Heals the service, and starts over. */
export const bindServiceControls = (effects: Effects): void => {
  const { client, configure, forgetSettled, onChange, toast, now } = effects;

  const heal = async (): Promise<string> => {
    await client.setFaults([]);
    // The tracker cannot know; it would look again after up to five minutes by itself.
    configure.apply();
    const status = tracker().status?.();
    return status
      ? healedWords(status, now(), status.waiting + status.inFlight)
      : 'The service is well again.';
  };

  const startOver = async (): Promise<string> => {
    await client.clear();
    forgetSettled();
    return 'The database is empty. Records still on the way will arrive yet.';
  };

  const bind = (id: string, act: () => Promise<string>) => {
    byId(id).addEventListener('click', () => {
      act()
        .then(toast.later(), (error: Error) => toast.fail(`That did not work: ${error.message}.`))
        .finally(onChange);
    });
  };
  bind('heal', heal);
  bind('start-over', startOver);
};
