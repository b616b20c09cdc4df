export { createSegment } from './compat/segment.js';
export { takeOverSegment } from './compat/take-over-segment.js';
export type { SegmentAnalytics, SegmentCallback, SegmentRest } from './compat/segment-types.js';
