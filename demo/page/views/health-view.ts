import type { CountedRule } from '../../server/faults/fault-switch.js';
import type { Health } from '../database/watch-service.js';
import { byId, setAttribute, setText } from '../dom.js';

interface Seen {
  health: Health;
  faults: readonly CountedRule[];
}

const deed = ({ status, hang, reset, after }: CountedRule): string => {
  if (status !== undefined) return `answers ${status}`;
  if (hang) return 'hangs';
  if (reset) return after ? 'loses an answer' : 'resets connections';
  return 'is slow';
};

const faultWords = (rule: CountedRule): string => {
  if (rule.times === undefined) return rule.match ? `${deed(rule)} for one record` : deed(rule);
  const left = rule.times - rule.fired;
  return `${deed(rule)}, ${left} more ${left === 1 ? 'time' : 'times'}`;
};

const isActive = ({ times = Infinity, fired }: CountedRule): boolean => fired < times;

/** How the service is, and the button that heals it. */
export const createHealthView = () => {
  const place = byId('health');
  const text = byId('health-text');
  const heal = byId<HTMLButtonElement>('heal');

  const words = ({ health, faults }: Seen): [string, string] => {
    if (health === 'asking') return [health, 'asking …'];
    if (health === 'unreachable') return [health, 'cannot be reached'];
    const active = faults.filter(isActive);
    if (active.length === 0) return ['healthy', 'healthy'];
    return ['faulty', active.map(faultWords).join('; ')];
  };

  return (seen: Seen): void => {
    const [kind, said] = words(seen);
    setAttribute(place, 'data-health', kind);
    setText(text, said);
    // Nothing to heal where there is nothing to reach; but never take the focus from under a finger.
    if (document.activeElement !== heal)
      heal.disabled = kind === 'asking' || kind === 'unreachable';
  };
};
