/** Holds a module that stands in for another to the exports of that one. */
type StandsIn<Ours extends Real, Real> = Ours;

/** Does not compile if one of the client's modules gets an export that its stand-in does not have. */
export type Platform = [
  StandsIn<typeof import('./page.js'), typeof import('../../client/page.js')>,
  StandsIn<typeof import('./life.js'), typeof import('../../client/life.js')>,
  StandsIn<typeof import('./database.js'), typeof import('../../client/outbox/database.js')>,
];
