/** The visitor's browser asks sites not to share data (https://w3c.github.io/gpc/). */
export const isGpcOn = (): boolean =>
  !!(navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl;
