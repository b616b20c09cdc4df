import { someEvents } from './some-events.js';
import type { Scene } from './stage.js';

export const burst: Scene = ({ caller, setup }) => {
  caller.events(someEvents(50, 'burst'));
  return setup.isRelay
    ? '50 calls made. They are delivered in one request.'
    : '50 calls made. They are delivered six at a time.';
};

export const leave: Scene = ({ caller, setup }) => {
  caller.events(someEvents(20, 'leave'));
  location.assign(setup.away);
  return 'Leaving …';
};
