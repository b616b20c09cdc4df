export { createService } from './server/create-service.js';
export { copyStore } from './server/store/copy-store.js';
export type * from './server/public-types.js';
export type { CopyOptions, CopyProgress } from './server/store/copy-store.js';
export type { Service } from './server/create-service.js';
export type { Health, ProjectHealth } from './server/health/health.js';
export type { Arriving } from './server/health/arriving.js';
export type { OutageNote } from './server/health/outages.js';
export type { RefusedHealth } from './server/health/refused-counter.js';
export type { Storing } from './server/store-sink.js';
export type { TargetDelay } from './server/exports/delays.js';
export type { PageFile, ReadToken, ServiceOptions, WriteToken } from './server/service-options.js';
export type { Refusal } from './server/refusal.js';
export type { PassOnOptions } from './server/exports/pass-on.js';
export type { SetupState, Step } from './server/setup.js';
export type * from './server/store/port.js';
export type {
  Erasure,
  PlaceSpan,
  PlaceSum,
  Progress,
  Source,
  TargetChanges,
  TargetDead,
  TargetLock,
  TargetState,
} from './server/store/progress.js';
export type {
  NextTry,
  Parked,
  ParkedRow,
  Step as ParkedStep,
  StoredRecord,
} from './server/store/parked.js';
export type { ErrorStatus } from './server/http/answers.js';
