export {
  openInspector,
  type Inspector,
  type InspectorOptions,
} from './dev/inspector/open-inspector.js';
