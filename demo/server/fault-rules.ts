import { isObject } from '../../src/util/is-object.js';

/** Which requests a rule is for: all of those `/v1/*` gets, narrowed by each part given. */
interface FaultMatch {
  /** The whole path, such as `/v1/event`. */
  path?: string;
  /** The event name in the body. */
  event?: string;
  /** The user id in the body. */
  user_id?: string;
  /** A key that `properties` or `tags` has, or names and the values they must have there. */
  property?: string | Record<string, unknown>;
}

/** One way for the service to misbehave; the first rule that matches and has times left applies. */
export interface FaultRule {
  match?: FaultMatch;
  /** Lets the first `n` matching requests pass; later rules may still take those. @default 0 */
  skip?: number;
  /** How many requests it applies to. @default for ever */
  times?: number;
  /** Answers this (200 to 599) in place of handling the request. */
  status?: number;
  /** Headers to set on the answer; `null` takes one away, such as a CORS header. */
  headers?: Record<string, string | null>;
  /** The body to answer with `status`: a string as it is, anything else as JSON. */
  body?: unknown;
  /** Milliseconds to wait before handling. With `after`, between storing and answering. */
  delay?: number;
  /** Never answers. */
  hang?: boolean;
  /** Resets the connection. */
  reset?: boolean;
  /** Handles the request first, so that it is stored, and then does the rest. */
  after?: boolean;
}

/** A rule, and what became of it: the matching requests it saw, those it let pass included, and applied to. */
type CountedRule = FaultRule & { seen: number; fired: number };

/** What a rule looks at. The parsed body is `null` when it is not JSON. */
interface Subject {
  path: string;
  body: unknown;
}

const holds = (holder: Record<string, unknown>, wanted: string | Record<string, unknown>) =>
  typeof wanted === 'string'
    ? Object.hasOwn(holder, wanted)
    : Object.entries(wanted).every(
        ([name, value]) =>
          Object.hasOwn(holder, name) && JSON.stringify(holder[name]) === JSON.stringify(value),
      );

const matchesRule = (match: FaultMatch, { path, body }: Subject): boolean => {
  const fields = isObject(body) ? body : {};
  const { property } = match;
  if (match.path !== undefined && match.path !== path) return false;
  if (match.event !== undefined && match.event !== fields['event']) return false;
  if (match.user_id !== undefined && match.user_id !== fields['user_id']) return false;
  if (property === undefined) return true;
  return [fields['properties'], fields['tags']]
    .filter(isObject)
    .some((holder) => holds(holder, property));
};

/** Holds the rules and decides which one, if any, a request meets. */
export const createFaultSwitch = () => {
  let rules: CountedRule[] = [];
  return {
    set: (next: readonly FaultRule[]): void => {
      rules = next.map((rule) => ({ ...rule, seen: 0, fired: 0 }));
    },
    list: (): readonly CountedRule[] => rules,
    /** Counts the request as one of the rule that applies to it. */
    take: (subject: Subject): FaultRule | undefined => {
      for (const rule of rules) {
        if (rule.fired >= (rule.times ?? Infinity)) continue;
        if (!matchesRule(rule.match ?? {}, subject)) continue;
        rule.seen += 1;
        if (rule.seen <= (rule.skip ?? 0)) continue;
        rule.fired += 1;
        return rule;
      }
      return undefined;
    },
  };
};

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isStatus: Check = (value) => isCount(value) && Number(value) >= 200 && Number(value) < 600;
const isHeaders: Check = (value) => {
  if (!isObject(value)) return false;
  const entries = Object.entries(value).filter(([, text]) => text !== null);
  if (!entries.every(([, text]) => isText(text))) return false;
  try {
    new Headers(entries as [string, string][]);
    return true;
  } catch {
    return false; // a name or a value that HTTP does not allow
  }
};

// Tied to the types: a field added there must be added here.
const MATCH_FIELDS: Record<keyof FaultMatch, Check> = {
  ...{ path: isText, event: isText, user_id: isText },
  property: (value) => isText(value) || isObject(value),
};
const RULE_FIELDS: Record<keyof FaultRule, Check> = {
  match: (value) => findWrong(value, MATCH_FIELDS) === undefined,
  ...{ skip: isCount, times: isCount, delay: isCount, status: isStatus, headers: isHeaders },
  ...{ body: () => true, hang: isFlag, reset: isFlag, after: isFlag },
};

const findWrong = (value: unknown, checks: Record<string, Check>): string | undefined => {
  if (!isObject(value)) return 'expected an object';
  for (const [field, given] of Object.entries(value)) {
    if (!Object.hasOwn(checks, field)) return `\`${field}\` is unknown`;
    if (!checks[field]!(given)) return `\`${field}\` is wrong`;
  }
  return undefined;
};

/** Says what is wrong with the rules: a test with a mistyped rule must not pass by chance. */
export const checkFaultRules = (value: unknown): string | undefined => {
  if (!Array.isArray(value)) return 'Expected an array of fault rules';
  for (const [index, rule] of value.entries()) {
    const wrong = findWrong(rule, RULE_FIELDS);
    if (wrong) return `Rule ${index}: ${wrong}`;
    if ('body' in rule && !('status' in rule)) return `Rule ${index}: \`body\` needs a \`status\``;
  }
  return undefined;
};
