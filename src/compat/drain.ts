/**
 * Takes over the list in which a tool's snippet has its calls wait: makes those, in their order, and each that is pushed
 * from now on, by a part of the page that has kept the list.
 * @throws TypeError where it is no list.
 */
export const drain = <Call>(list: Call[], run: (call: Call) => void): void => {
  const waiting = list.splice(0);
  Object.assign(list, { push: run });
  waiting.forEach(run);
};
