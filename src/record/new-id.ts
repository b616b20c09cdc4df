import { nanoid } from 'nanoid';

const LENGTH = 21;
const POOL = 16;

let pool = '';

/** A nanoid. They are made some at a time: asking the browser for randomness is dear, little or much. */
export const newId = (): string => {
  pool ||= nanoid(LENGTH * POOL);
  const id = pool.slice(0, LENGTH);
  pool = pool.slice(LENGTH);
  return id;
};
