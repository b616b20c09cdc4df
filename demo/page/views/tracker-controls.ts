import type { Consent } from '../../../src/client/types.js';
import type { Configure } from '../configure.js';
import { byId } from '../dom.js';
import type { Setup } from '../setup.js';
import { tracker } from '../tracker.js';
import type { Toast } from './toast.js';

interface Effects {
  setup: Setup;
  configure: Configure;
  toast: Toast;
}

const CONSENT_WORDS: Record<Consent, string> = {
  granted: 'Consent granted: records are stored and sent.',
  pending: 'Consent pending: records are held in memory, nothing is stored or sent.',
  denied: 'Consent denied: everything is forgotten, and further calls are dropped.',
};

export const bindTrackerControls = ({ setup, configure, toast }: Effects) => {
  const { say } = toast;
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
    const sayResult = toast.later();
    const { delivered, retried, rejected, waiting } = await tracker().flush();
    sayResult(
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

  byId('resume').addEventListener('click', async () => {
    configure.apply();
    const what = setup.isRelay ? 'new options' : 'a new token';
    say(`The tracker has ${what}, and goes on.`);
    const sayResult = toast.later();
    await tracker().flush();
    if (tracker().status?.().paused === 'setup') {
      sayResult(`The tracker has ${what}, and was refused again. What waits is kept.`);
    }
  });
  if (setup.isRelay) byId('resume').textContent = 'New options, go on';
  byId('tag-code').textContent = setup.tag;

  /** Consent may be changed by another tab, or remembered from an earlier visit. */
  return (consent: Consent | undefined): void => {
    for (const choice of choices) choice.checked = choice.value === consent;
  };
};
