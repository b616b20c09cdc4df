/** Whether the page is on the machine of a developer, as far as its host's name tells. */
export const isLocalHost = (): boolean =>
  /^(localhost|127\.0\.0\.1|\[::1\]|.+\.(localhost|test|local))$/.test(location.hostname);
