import { http, passthrough } from 'msw';
import { setupWorker } from 'msw/browser';

export const start = ({ ours, isSet }) => {
  const handlers = isSet ? [http.post(`${ours}/*`, () => passthrough())] : [];
  const onUnhandledRequest = ({ url }, print) => url.startsWith(ours) && print.error();
  return setupWorker(...handlers).start({ quiet: true, onUnhandledRequest });
};
