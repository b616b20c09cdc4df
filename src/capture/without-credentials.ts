/** A text without the `user:password@` of addresses in it. */
export const withoutCredentials = (text: string): string =>
  // The pattern itself looks for no @, or it would read a long text without one again and again.
  text.replace(
    /(\/\/|:)([^\s/]*)/g,
    (_, start: string, rest: string) => start + rest.slice(rest.lastIndexOf('@') + 1),
  );
