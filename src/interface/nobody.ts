/**
 * Texts that code and templates print for a user who is not there: `undefined`, `None`, `(null)`, `<nil>`,
 * `[object Object]`, or white space. They would make one user of all these visitors.
 */
export const NOBODY = /^\W?(undefined|null|nil|none|nan|object \w+)\W?$|^\s*$/i;
