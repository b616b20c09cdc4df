export { runDemo } from './run-demo.js';
export { startDemo } from './start-demo.js';
export type { DemoOptions, RunningDemo } from './start-demo.js';
