import type { Ledger } from '../calls/ledger.js';
import type { Configure } from '../configure.js';
import type { ServiceClient } from '../database/service-client.js';
import { byId } from '../dom.js';
import type { Say } from './toast.js';

interface Effects {
  client: ServiceClient;
  configure: Configure;
  ledger: Ledger;
  /** Tells the other tabs. */
  onCleared: () => void;
  onChange: () => void;
  say: Say;
}

/** Heals the service, and starts over. */
export const bindServiceControls = (effects: Effects): void => {
  const { client, configure, ledger, onCleared, onChange, say } = effects;

  const heal = async (): Promise<string> => {
    await client.setFaults([]);
    // The tracker cannot know; it would look again after up to five minutes by itself.
    configure.resume();
    return 'The service is well again, and the tracker was given a new token: what waited is sent.';
  };

  const startOver = async (): Promise<string> => {
    await client.clear();
    ledger.forgetSettled({ everywhere: true });
    onCleared();
    return 'The database is empty. Records still on the way will arrive yet.';
  };

  const bind = (id: string, act: () => Promise<string>) => {
    byId(id).addEventListener('click', () => {
      act()
        .then(say, (error: Error) => say(`That did not work: ${error.message}.`))
        .finally(onChange);
    });
  };
  bind('heal', heal);
  bind('start-over', startOver);
};
