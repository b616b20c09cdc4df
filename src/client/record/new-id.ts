import { nanoid, urlAlphabet } from 'nanoid';

const LENGTH = 21;
const POOL = 16;

let pool = '';

/**
 * Makes an id without `crypto`, which some pages lack or have replaced. That is good enough here: an id is no secret.
 * It only has to differ from those of other pages, and browsers seed `Math.random` anew for each page with 64 bits
 * or more of the system's randomness.
 */
const simpleId = (length: number): string => {
  let id = '';
  while (id.length < length) id += urlAlphabet[Math.floor(Math.random() * urlAlphabet.length)];
  return id;
};

const makeIds = (length: number): string => {
  try {
    return nanoid(length);
  } catch {
    return simpleId(length); // `crypto` is missing, or a script has broken it
  }
};

/** Makes a nanoid. Several are made at a time: randomness costs as much for one as for many. */
export const newId = (): string => {
  pool ||= makeIds(LENGTH * POOL);
  const id = pool.slice(0, LENGTH);
  pool = pool.slice(LENGTH);
  return id;
};
