/**
 * Gives the browser a POST to send, whatever becomes of the page. A text goes as `text/plain`. Returns false if the
 * browser does not take it: too many bytes wait already, or the browser or an extension does not allow beacons.
 */
export const beacon = (url: string, body: string): boolean => {
  try {
    return navigator.sendBeacon(url, body);
  } catch {
    return false;
  }
};
