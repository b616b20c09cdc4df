/**
 * Smaller forms of some modules of `web-vitals`, which a tag's script has in their place (`rollup.config.mjs`). A tag reads
 * only the name and the value of a metric, and measures no page before it is shown.
 */
interface Metric {
  name: string;
  value: number;
}

/** A metric without the rating, the id and the kind of navigation that the package adds. */
export const initMetric = (name: string, value = -1): Metric => ({ name, value });

/** Reports a metric when it is final, unless its value is the one that was reported last. */
export const bindReporter = (report: (metric: Metric) => void, metric: Metric) => {
  let last: number | undefined;
  return (isFinal?: boolean): void => {
    const { value } = metric;
    if (!isFinal || value < 0 || value === last) return;
    last = value;
    report(metric);
  };
};

/** The package keeps one instance for each object of options, and a tag gives none. */
export const initUnique = <Made>(Class: new () => Made): Made => new Class();

/** Begins at once, since auto-capture itself waits until a prerendered page is shown. */
export const whenActivated = (begin: () => void): void => begin();
