/** The project that the demo page sends to and shows. */
export const DEMO_PROJECT = 'demo';
