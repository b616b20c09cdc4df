import { attempt } from '../interface/attempt.js';
import type { OnRefused } from '../relay/front/refusals.js';
import type { Refusal } from './refusal.js';
import { detailsOf, type Details, type Refusals } from './refusals.js';
import type { Setup } from './setup.js';
import type { NewRefused } from './store/port.js';

interface Parts {
  setup: Pick<Setup, 'note'>;
  refusals: Refusals;
  clientWordOf: (request: Request) => Promise<string | undefined>;
}

/** Statuses that a relay of the same process refuses with. */
const REASONS: Readonly<Record<number, NewRefused['reason']>> = {
  403: 'origin',
  413: 'size',
  429: 'rate',
};

const reasonOf = (status: number, isRecord: boolean): NewRefused['reason'] => {
  if (isRecord && status === 403) return 'project';
  return REASONS[status] ?? (isRecord ? 'field' : 'body');
};

/** Returns the function that keeps what a relay of the same process refuses, so that people see it. */
export const createRefuseForRelay =
  ({ refusals, setup, clientWordOf }: Parts): OnRefused =>
  ({ request, status, message, record }) => {
    // Asked by somebody who looks around; no record is refused.
    if (status === 404 || status === 405) return;
    // A record is looked at when its page has been let in.
    if (record) setup.note('accepted');
    const tell = (client: string | undefined): void => {
      const { id, type, body } = record ?? {};
      // Undefined for one that is too deep to be written.
      const text = attempt(() => JSON.stringify(body));
      const details: Details = {
        ...(id !== undefined && { id }),
        ...((type === 'event' || type === 'identify') && { type }),
        ...detailsOf(body),
        ...(text !== undefined && { body: text }),
        ...(client !== undefined && { client }),
      };
      const refusal = { reason: reasonOf(status, !!record), status, message } as Refusal;
      refusals.tell(refusal, details, client);
    };
    void clientWordOf(request).then(tell, () => tell(undefined));
  };
