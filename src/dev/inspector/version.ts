/** The build puts the version of the package here. */
export const VERSION = '{{version}}';
