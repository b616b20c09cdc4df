import { createTell as create } from '../relay/hooks.js';

/** Numbers a service gives away. Labels are from small closed sets, never from the input. */
export type ServiceMetric =
  /** 1 a request. Labels: `route`, `status`. */
  | 'requests'
  /** 1 a record of the two operations or of a relay in the same process. Label: `outcome`. */
  | 'records'
  /** 1 a request or record that was refused. Labels: `reason`, and `kept`: whether it can be read later. */
  | 'refused'
  /** 1 a request refused because too much came. Label: `limit`, `client` or `network` (429), or `all` (503). */
  | 'rate_limited'
  /** Milliseconds a write took until it was durable. */
  | 'store_ms'
  /** 1 when the database begins to fail, 0 when it takes records again. */
  | 'trouble'
  /** Pages and tools that follow the rows now. */
  | 'followers'
  /** Rows and profiles that were deleted because of their age. */
  | 'expired';

/** Something that needs the operator. Holds no token and nothing of a body. */
export interface ServiceError {
  /**
   * `store`: the database does not work. `reading`: it did not answer one who reads; a search may take too long. These
   * two are told once until they are over. `hook`: a function that was passed in failed. `fault`: a fault of the service
   * itself.
   */
  kind: 'store' | 'reading' | 'hook' | 'fault';
  message: string;
}

export interface ServiceHooks {
  onMetric?:
    | ((name: ServiceMetric, value: number, labels?: Readonly<Record<string, string>>) => void)
    | undefined;
  onError?: ((error: ServiceError) => void) | undefined;
  /** Called when a trouble is over that `onError` has told of. */
  onRecovery?: ((recovery: { kind: ServiceError['kind']; lastedMs: number }) => void) | undefined;
}

export const createTell = (hooks: ServiceHooks) => create<ServiceMetric, ServiceError>(hooks);
export type Tell = ReturnType<typeof createTell>;
