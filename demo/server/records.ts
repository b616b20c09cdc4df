/** A checked body of `POST /v1/identify`. */
export interface IdentifyBody {
  project: string;
  user_id: string;
  properties: Record<string, unknown>;
}

/** A checked body of `POST /v1/event`. */
export interface EventBody {
  project: string;
  channel: string;
  event: string;
  description?: string;
  icon?: string;
  notify?: boolean;
  tags?: Record<string, unknown>;
  user_id?: string;
  timestamp?: string;
}
