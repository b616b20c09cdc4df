/** A text without the `user:password@` of addresses in it. */
export const withoutCredentials = (text: string): string =>
  // Part by part between slashes: a pattern that looks for the @ would read a long text again and again.
  text.replace(/(\/\/)?[^\s/]+/g, (part: string, slashes = '') => {
    const start = (slashes as string).length || part.indexOf(':') + 1;
    const end = part.lastIndexOf('@') + 1;
    return start && start < end ? part.slice(0, start) + part.slice(end) : part;
  });
