/**
 * Gives the browser a POST to send whatever becomes of the page; a text goes as `text/plain`. False where
 * it takes none: too many bytes are waiting already, or the browser or an extension has no beacons.
 */
export const beacon = (url: string, body: string): boolean => {
  try {
    return navigator.sendBeacon(url, body);
  } catch {
    return false;
  }
};
