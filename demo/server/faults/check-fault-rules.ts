import { isObject } from '../../../src/interface/is-object';
import type { FaultMatch, FaultRule } from './fault-rule';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isStatus: Check = (value) =>
  isCount(value) && (value as number) >= 200 && (value as number) < 600;

const isHeaders: Check = (value) => {
  if (!isObject(value)) return false;
  const entries = Object.entries(value).filter(([, text]) => text !== null);
  if (!entries.every(([, text]) => isText(text))) return false;
  try {
    new Headers(entries as [string, string][]);
    return true;
  } catch {
    // A name or a value that HTTP does not allow.
    return false;
  }
};

// Tied to the types: a field added there must be added here.
const MATCH_FIELDS: Record<keyof FaultMatch, Check> = {
  path: isText,
  event: isText,
  user_id: isText,
  property: (value) => isText(value) || isObject(value),
};

const RULE_FIELDS: Record<keyof FaultRule, Check> = {
  match: (value) => findWrong(value, MATCH_FIELDS) === undefined,
  skip: isCount,
  times: isCount,
  status: isStatus,
  headers: isHeaders,
  body: () => true,
  delay: isCount,
  hang: isFlag,
  reset: isFlag,
  after: isFlag,
};

/** Says what is wrong with the rules: a test with a mistyped rule must not pass by chance. */
export function checkFaultRules(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'Expected an array of fault rules';
  for (const [index, rule] of value.entries()) {
    const wrong = findWrong(rule, RULE_FIELDS);
    if (wrong) return `Rule ${index}: ${wrong}`;
    if ('body' in rule && !('status' in rule)) return `Rule ${index}: \`body\` needs a \`status\``;
  }
  return undefined;
}

function findWrong(value: unknown, checks: Record<string, Check>): string | undefined {
  if (!isObject(value)) return 'expected an object';
  for (const [field, given] of Object.entries(value)) {
    if (!Object.hasOwn(checks, field)) return `\`${field}\` is unknown`;
    if (!checks[field]?.(given)) return `\`${field}\` is wrong`;
  }
  return undefined;
}
