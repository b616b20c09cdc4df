import { createFlusher } from '../../src/client/delivery/flusher.js';
import { createGate } from '../../src/client/delivery/gate.js';
import type { Sender } from '../../src/client/delivery/sender.js';
import type { DeliveryError, Outcome, Token } from '../../src/client/types.js';
import { createPage } from './create-page.js';
import { createFakeSender } from './fake-sender.js';
import type { FakeShelf } from './fake-shelf.js';

interface Choices {
  limits?: Parameters<typeof createPage>[1];
  token?: () => Token;
  concurrency?: number;
  isOwnOrigin?: boolean;
}

/** A page with everything between its outbox and a scripted service. */
export const createDelivery = (shelf: FakeShelf, choices: Choices = {}) => {
  const { fake, sender } = createFakeSender(choices.token ?? (() => 'tok'));
  return { ...createDeliveryBy(sender, shelf, choices), service: fake };
};

/** The same with a sender of one's own. */
export const createDeliveryBy = (sender: Sender, shelf: FakeShelf, choices: Choices = {}) => {
  const { limits, concurrency = 6, isOwnOrigin = false } = choices;
  const page = createPage(shelf, limits, () => flusher.pump());
  const errors: DeliveryError[] = [];
  const outcomes: [id: string, outcome: Outcome][] = [];
  /** What was handed off as the page was left. */
  const handoffs: string[] = [];
  const world = { isOnline: true, isHidden: false };
  const gate = createGate({
    load: () => shelf.get('gate'),
    save: (value) => shelf.set('gate', value),
    now: Date.now,
    random: () => 0.5,
  });
  const flusher = createFlusher({
    outbox: page.outbox,
    sender,
    gate,
    mayRun: () => page.journal.kind() !== 'none',
    concurrency: () => concurrency,
    isOwnOrigin,
    now: Date.now,
    random: () => 0.5,
    isOnline: () => world.isOnline,
    isHidden: () => world.isHidden,
    knowsRepeats: () => !!limits?.resends,
    onSent: ({ id }, handoff) => {
      if (handoff) handoffs.push(id);
    },
    onOutcome: ({ id }, outcome) => outcomes.push([id, outcome]),
    onError: (error) => errors.push(error),
  });
  /** As when consent is withdrawn. */
  const stop = () => {
    page.journal.close();
    flusher.halt();
  };
  return { page, gate, flusher, errors, outcomes, handoffs, world, stop };
};
