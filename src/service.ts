export { createService } from './service/create-service.js';
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
export type { Rate, RateLimit } from './relay/front/rate-limit.js';
