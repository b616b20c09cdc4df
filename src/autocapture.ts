export { autocapture } from './capture/autocapture.js';
export type {
  CapturedEvent,
  CaptureKind,
  CaptureOptions,
  Capturer,
  ClickLabels,
  DownloadLabels,
  ErrorLabels,
  Labels,
  OnMetric,
  PageViewLabels,
  TextLabels,
  VitalsLabels,
} from './capture/types.js';
