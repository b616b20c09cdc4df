/**
 * What the tag's script has in the place of some modules of `web-vitals` (`rollup.config.mjs`): only the name and the
 * value of a metric become tags, each as the page is left, and nothing is measured of a page that is prerendered.
 */
interface Metric {
  name: string;
  value: number;
}

/** For ratings, ids and kinds of navigation. */
export const initMetric = (name: string, value = -1): Metric => ({ name, value });

/** Reports a metric as it is final, if it has changed since. */
export const bindReporter = (report: (metric: Metric) => void, metric: Metric) => {
  let last: number | undefined;
  return (isFinal?: boolean): void => {
    const { value } = metric;
    if (!isFinal || value < 0 || value === last) return;
    last = value;
    report(metric);
  };
};

/** For those that are found again by the options that they were made for. */
export const initUnique = <Made>(Class: new () => Made): Made => new Class();

export const whenActivated = (begin: () => void): void => begin();
