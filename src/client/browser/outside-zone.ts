interface Zones {
  Zone?: { root?: { run?: <T>(work: () => T) => T } };
}

/**
 * Runs the work outside of the zones of zone.js, with which Angular follows what an app does. In the app's zone, each
 * of our timers would make Angular check all its views, and a timer that is always waiting would keep the app from
 * ever becoming stable
 * (https://angular.dev/api/core/ApplicationRef#isStable).
 */
export const outsideZone = <T>(work: () => T): T => {
  const { root } = (globalThis as Zones).Zone ?? {};
  return root?.run ? root.run(work) : work();
};
