export { createService } from './service/create-service.js';
export { copyStore } from './service/store/copy-store.js';
export type { CopyOptions, CopyProgress } from './service/store/copy-store.js';
export type { Service } from './service/create-service.js';
export type { PageFile, ServiceOptions, WriteToken } from './service/service-options.js';
export type { ServiceError, ServiceHooks, ServiceMetric } from './service/hooks.js';
export type { SetupState, Step } from './service/setup.js';
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
} from './service/store/port.js';
export type { EventBody, IdentifyBody, RecordType } from './interface/bodies.js';
export type { AdmissionOptions, Rate, RateLimit } from './relay/front/admission.js';
export type { ClientOptions } from './relay/front/client.js';
export type { HooksOf } from './relay/hooks.js';
export type { Verdict } from './interface/outcome.js';
export type { Batch, BatchRecord } from './interface/wire.js';
export type { Send, SendResult } from './relay/delivery/upstream.js';
export type { Names } from './relay/front/records.js';
export type { ClaimedRecord } from './relay/front/records.js';
export type { OnRefused, Refusal } from './relay/front/refusals.js';
