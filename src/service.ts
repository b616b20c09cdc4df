export { createService } from './server/create-service.js';
export { createConsumer } from './server/deliver/consumer.js';
export { copyStore } from './server/store/copy-store.js';
export type { CopyOptions, CopyProgress } from './server/store/copy-store.js';
export type { Service } from './server/create-service.js';
export type { ServerHealth } from './server/create-server.js';
export type { Consumer, ConsumerHealth, ConsumerOptions } from './server/deliver/consumer.js';
export type { Delivery, DeliverOptions, Deliverable } from './server/deliver/delivery.js';
export type { ServiceHealth } from './server/deliver/backoff.js';
export type { Undelivered } from './server/deliver/hand.js';
export type { StoreTarget } from './server/deliver/targets.js';
export type { Stored } from './server/store-sink.js';
export type { PageFile, ReadToken, ServiceOptions, WriteToken } from './server/service-options.js';
export type { ServerOptions } from './server/relay-options.js';
export type {
  Bound,
  Dropped,
  Hooks,
  OnError,
  OnMetric,
  OnRecovery,
  ServerError,
  ServerMetric,
} from './server/hooks.js';
export type { Incoming } from './server/incoming.js';
export type { Refusal } from './server/refusal.js';
export type { SetupState, Step } from './server/setup.js';
export type {
  Adopted,
  Count,
  Erased,
  Held,
  Hour,
  HourFilter,
  Hours,
  NewRefused,
  PlacelessRow,
  Profile,
  Refused,
  Resent,
  Row,
  RowFilter,
  Span,
  SplitRows,
  Store,
  Written,
} from './server/store/port.js';
export type {
  Erasure,
  PlaceSpan,
  PlaceSum,
  Progress,
  Source,
  TargetDead,
  TargetLock,
  TargetState,
} from './server/store/progress.js';
export type {
  GivenBack,
  Placed,
  Put,
  Putter,
  Queue,
  QueuedRecord,
  QueueSize,
  Taken,
} from './server/queue/ports.js';
export type { EventBody, IdentifyBody, RecordType } from './interface/bodies.js';
export type { AdmissionOptions, Rate, RateLimit } from './server/http/admission.js';
export type { ClientOptions } from './server/http/client.js';
export type { IgnoringOptions } from './server/ignoring.js';
export type { Origins } from './server/http/origin.js';
export type { ErrorStatus } from './server/http/answers.js';
export type { Names } from './server/records.js';
export type {
  Batch,
  BatchAnswer,
  BatchRecord,
  BatchResult,
  RelayOutcome,
} from './interface/wire.js';
