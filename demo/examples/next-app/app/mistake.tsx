import { analytics } from '../tracking';

/**
 * What not to do: a server component runs on the server alone, where calls do nothing. It is here to show
 * that nothing breaks by it, neither in the build (on the checkout page) nor at a request (on an item's).
 */
export function Mistake() {
  analytics.event('Checked Out');
  return null;
}
