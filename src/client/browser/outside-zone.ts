interface Zones {
  Zone?: { root?: { run?: <T>(work: () => T) => T } };
}

/**
 * Runs something outside of the zones of zone.js, with which Angular follows what an app does. In the app's
 * zone each timer of ours would have Angular check all its views, and one that waits, for a service that
 * fails or for what other pages leave, would keep the app from ever becoming stable
 * (https://angular.dev/api/core/ApplicationRef#isStable).
 */
export const outsideZone = <T>(work: () => T): T => {
  const { root } = (globalThis as Zones).Zone ?? {};
  return root?.run ? root.run(work) : work();
};
