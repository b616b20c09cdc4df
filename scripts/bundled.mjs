/** Packages whose code is in the built files. Their licenses go with them, and users need not install them. */
export const BUNDLED = ['nanoid', 'idb-keyval', 'preact', 'web-vitals'];
