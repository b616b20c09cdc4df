import type { BatchResult } from '../../interface/wire.js';
import { answerJson, refuse } from './answers.js';

/** The result of one record, in the form of the service's answer. */
export const singleAnswer = (result: BatchResult): Response => {
  const { outcome, status, retry_after: wait = 1, unlisted, field } = result;
  switch (outcome) {
    case 'delivered':
    case 'accepted':
      return answerJson(200, { success: true, message: 'Passed on' });
    case 'rejected':
      if (status === 413) return refuse(413);
      return refuse(400, field ? { message: `Invalid request data: ${field}` } : {});
    case 'retry':
      return refuse(503, { waitMs: wait * 1_000 });
    case 'blocked':
      if (unlisted) return refuse(403, { message: `The relay does not list this ${unlisted}` });
      // The relay is set up wrongly, not the client. Given a 401, the client would ask for another token.
      return refuse(502);
  }
};
