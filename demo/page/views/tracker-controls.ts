import type { Consent } from '../../../src/client/types.js';
import type { Configure } from '../configure.js';
import { byId } from '../dom.js';
import type { Setup } from '../setup.js';
import { tracker } from '../tracker.js';
import type { Say } from './toast.js';

interface Effects {
  setup: Setup;
  configure: Configure;
  say: Say;
}

const CONSENT_WORDS: Record<Consent, string> = {
  granted: 'Consent granted: records are stored and sent.',
  pending: 'Consent pending: records are held in memory, nothing is stored or sent.',
  denied: 'Consent denied: everything is forgotten, and further calls are dropped.',
};

export const bindTrackerControls = ({ setup, configure, say }: Effects) => {
  const flush = byId<HTMLButtonElement>('flush');
  const keys = byId<HTMLInputElement>('idempotency');
  const choices = [...document.querySelectorAll<HTMLInputElement>('#consent input')];

  for (const choice of choices) {
    choice.addEventListener('change', () => {
      const consent = choice.value as Consent;
      tracker().setConsent(consent);
      say(CONSENT_WORDS[consent]);
    });
  }

  flush.addEventListener('click', async () => {
    say('Flushing …');
    const { delivered, retried, rejected, waiting } = await tracker().flush();
    say(
      `Flushed: ${delivered} delivered, ${retried} to be tried again, ${rejected} rejected, ${waiting} waiting.`,
    );
  });

  keys.checked = configure.hasKeys();
  keys.addEventListener('change', () => {
    configure.useKeys(keys.checked);
    say(
      keys.checked
        ? 'Each request carries its record’s id as Idempotency-Key: the service stores a repeat once.'
        : 'Requests go without Idempotency-Key.',
    );
  });

  byId('resume').addEventListener('click', () => {
    configure.resume();
    say(
      setup.isRelay
        ? 'The tracker has new options, and goes on.'
        : 'The tracker has a new token, and goes on.',
    );
  });
  if (setup.isRelay) byId('resume').textContent = 'New options, go on';
  byId('tag-code').textContent = setup.tag;

  /** Consent may be changed by another tab, or remembered from an earlier visit. */
  return (consent: Consent | undefined): void => {
    for (const choice of choices) choice.checked = choice.value === consent;
  };
};
