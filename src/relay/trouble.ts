import type { RelayError, Tell } from './hooks.js';

/** Reports a trouble once, and again only after it has healed. */
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
