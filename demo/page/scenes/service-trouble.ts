import type { FaultRule } from '../../server/faults/fault-rule.js';
import { DEMO_ID } from '../calls/call.js';
import { someEvents } from './some-events.js';
import type { Scene, Stage } from './stage.js';

const TEN = 10;

/** The faults must be set before the first event is sent. */
const play = async (
  { caller, setFaults }: Stage,
  name: string,
  rule: FaultRule,
): Promise<unknown> => {
  await setFaults([rule]);
  return caller.events(someEvents(TEN, name));
};

/** Of the next ten events, the one in the middle. */
const middleOne = ({ caller }: Stage): NonNullable<FaultRule['match']> => ({
  property: { [DEMO_ID]: caller.nextId(TEN / 2) },
});

export const error: Scene = async (stage, number) => {
  const times = number('times');
  await play(stage, 'error', { status: 500, times });
  return `10 calls made; the service answers 500 to the next ${times}. Delivery backs off, then goes on.`;
};

export const limit: Scene = async (stage, number) => {
  const seconds = number('seconds');
  const headers = { 'Retry-After': String(seconds) };
  await play(stage, 'limit', { status: 429, times: 1, headers });
  return `10 calls made; one gets a 429. No request goes out for the next ${seconds} seconds.`;
};

export const hang: Scene = async (stage) => {
  await play(stage, 'hang', { match: middleOne(stage), hang: true, times: 1 });
  return '10 calls made; one request gets no answer, and is sent again after its timeout of 10 s.';
};

export const token: Scene = async (stage) => {
  await play(stage, 'token', { status: 401 });
  return '10 calls made; the service answers 401. They wait until you heal it.';
};

export const refuse: Scene = async (stage) => {
  const body = { code: 400, message: 'Invalid request data' };
  await play(stage, 'refuse', { match: middleOne(stage), status: 400, body });
  return '10 calls made; one is refused and dropped, nine pass.';
};

export const unplug: Scene = async (stage) => {
  await play(stage, 'unplug', { reset: true });
  return '10 calls made; every connection is reset. They wait until you heal it.';
};

export const slow: Scene = async ({ caller, setup, setFaults }) => {
  await setFaults([{ delay: 2_000, times: 5 }]);
  caller.events(someEvents(5, 'slow'));
  location.assign(setup.away);
  return 'Leaving …';
};

export const lostAnswer: Scene = async (stage) => {
  await play(stage, 'lost answer', { match: middleOne(stage), after: true, reset: true, times: 1 });
  return '10 calls made; one is stored, but its answer is lost, so it is sent again.';
};
