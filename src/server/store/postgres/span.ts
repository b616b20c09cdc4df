import type { Span } from '../port.js';

/** The conditions of one statement, with the values that they name. */
export const createConditions = () => {
  const values: unknown[] = [];
  const conditions: string[] = [];
  return {
    values,
    value: (value: unknown): string => `$${values.push(value)}`,
    add: (condition: string): void => void conditions.push(condition),
    get condition(): string {
      return conditions.join(' AND ') || 'true';
    },
  };
};

/** Which page of a feed to read, in SQL; `r` is its table. */
export const pageOf = (
  { after, before, limit, newest }: Span,
  conditions = createConditions(),
): { condition: string; order: string; values: unknown[] } => {
  const { value, add, values } = conditions;
  if (after !== undefined) add(`r.seq > ${value(after)}`);
  if (before !== undefined) add(`r.seq < ${value(before)}`);
  const { condition } = conditions;
  const order = `ORDER BY r.seq ${newest ? 'DESC' : 'ASC'} LIMIT ${value(limit)}`;
  return { condition, order, values };
};
