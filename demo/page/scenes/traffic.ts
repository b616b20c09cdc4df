import { someEvents } from './some-events.js';
import type { Scene } from './stage.js';

export const burst: Scene = ({ caller }) => {
  caller.events(someEvents(50, 'burst'));
  return '50 events called. They are delivered six at a time.';
};

export const leave: Scene = ({ caller }) => {
  caller.events(someEvents(20, 'leave'));
  location.assign('/away');
  return 'Leaving …';
};
