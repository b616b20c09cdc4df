import { isObject } from '../../../src/interface/is-object';
import type { FaultMatch } from './fault-rule';

/** What a rule looks at. */
export interface Subject {
  path: string;
  /** The parsed body, or `null` when it is not JSON. */
  body: unknown;
}

export function matchesRule(match: FaultMatch, { path, body }: Subject): boolean {
  const fields = isObject(body) ? body : {};
  if (match.path !== undefined && match.path !== path) return false;
  if (match.event !== undefined && match.event !== fields['event']) return false;
  if (match.user_id !== undefined && match.user_id !== fields['user_id']) return false;
  return match.property === undefined || hasProperty(fields, match.property);
}

function hasProperty(
  fields: Record<string, unknown>,
  wanted: NonNullable<FaultMatch['property']>,
): boolean {
  return [fields['properties'], fields['tags']]
    .filter(isObject)
    .some((holder) =>
      typeof wanted === 'string'
        ? Object.hasOwn(holder, wanted)
        : Object.entries(wanted).every(
            ([name, value]) =>
              Object.hasOwn(holder, name) && JSON.stringify(holder[name]) === JSON.stringify(value),
          ),
    );
}
