/** The types that an app finds in the entries of the relay and of the service alike. */
export type { ServerHealth } from './create-server.js';
export type { ServiceHealth } from './deliver/backoff.js';
export type { Hooks, OnError, OnMetric, OnRecovery, ServerError, ServerMetric } from './hooks.js';
export type { Incoming } from './incoming.js';
export type { AdmissionOptions, Rate, RateLimit } from './http/admission.js';
export type { ClientOptions } from './http/client.js';
export type { IgnoringOptions } from './ignoring.js';
export type { Origins } from './http/origin.js';
export type { Names } from './records.js';
export type { ServerOptions } from './relay-options.js';
export type { EventBody, IdentifyBody, RecordType } from '../interface/bodies.js';
export type {
  Batch,
  BatchAnswer,
  BatchRecord,
  BatchResult,
  RelayOutcome,
} from '../interface/wire.js';
