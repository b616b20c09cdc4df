/**
 * Takes over the list in which a tool's snippet keeps its calls: makes these calls in their order, and from now on each
 * call that is pushed into it, since a part of the page may have kept the list.
 * @throws TypeError if it is not a list.
 */
export const drain = <Call>(list: Call[], run: (call: Call) => void): void => {
  const waiting = list.splice(0);
  Object.assign(list, { push: run });
  waiting.forEach(run);
};
