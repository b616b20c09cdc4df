/**
 * Whether a text is what code and templates print for a user who is not there: `undefined`, `None`, `(null)`, `<nil>`,
 * `[object Object]`, or white space. It would make one user of all these visitors.
 */
export const isNobody = (user: unknown): boolean =>
  typeof user === 'string' && /^\W?(undefined|null|nil|none|nan|object \w+)\W?$|^\s*$/i.test(user);
