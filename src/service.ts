export { createService } from './server/create-service.js';
export { copyStore } from './server/store/copy-store.js';
export type { CopyOptions, CopyProgress } from './server/store/copy-store.js';
export type { Service } from './server/create-service.js';
export type { PageFile, ServiceOptions, WriteToken } from './server/service-options.js';
export type { ServiceError, ServiceHooks, ServiceMetric } from './server/service-hooks.js';
export type { SetupState, Step } from './server/setup.js';
export type {
  Count,
  Held,
  Incoming,
  NewRefused,
  Profile,
  Refused,
  Resent,
  Row,
  RowFilter,
  Span,
  Store,
  Written,
} from './server/store/port.js';
export type { EventBody, IdentifyBody, RecordType } from './interface/bodies.js';
export type { AdmissionOptions, Rate, RateLimit } from './server/http/admission.js';
export type { ClientOptions } from './server/http/client.js';
export type { HooksOf } from './server/hooks.js';
export type { Verdict } from './interface/outcome.js';
export type { Batch, BatchRecord } from './interface/wire.js';
export type { Send, SendResult } from './server/deliver/upstream.js';
export type { Names } from './server/records.js';
export type { ClaimedRecord } from './server/records.js';
export type { OnRefused, Refusal } from './server/relay-refusals.js';
