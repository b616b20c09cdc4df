import type { RelayError, Tell } from './hooks.js';

/** Tells the operator of a trouble once, until it heals. */
export const createTrouble = (tell: Tell) => {
  let isTold = false;
  return {
    tell: (error: RelayError): void => {
      if (!isTold) tell.error(error);
      isTold = true;
    },
    healed: (): void => {
      isTold = false;
    },
  };
};
