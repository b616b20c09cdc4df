export { createSegment } from './compat/segment.js';
export { takeOverSegment } from './compat/take-over-segment.js';
export type {
  SegmentAnalytics,
  SegmentBind,
  SegmentCallback,
  SegmentRest,
} from './compat/segment.js';
export type { Target } from './compat/target.js';
