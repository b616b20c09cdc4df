export {
  openInspector,
  type Inspector,
  type InspectorOptions,
} from './dev/inspector/open-inspector.js';
export type { Tracked } from './dev/watched.js';
