/** The bounds of the proxy. Every one is a setting of the role; these are the defaults. */
export type ProxySettings = {
  /** A longer request body is refused with 413. */
  body_bytes_max: number
  /** Request bodies held at one time, over all calls; above, calls are refused with 503. */
  body_bytes_inflight_max: number
  /** A longer request body is passed on but not recorded. */
  capture_request_bytes_max: number
  /** The head of an answer that is recorded; of the rest, the last 64 KiB are. */
  capture_response_bytes_max: number
  connect_timeout_ms: number
  /** Longest silence of a provider, before its headers or in its body, and of a client that reads. */
  idle_timeout_ms: number
  /** Calls to one provider at one time; above, calls are refused with 503. */
  upstream_connections_max: number
  /** How long an idle connection to a provider is kept, unless the provider says. */
  upstream_keep_alive_ms: number
  /** Calls per minute of one key; 0 sets no limit. */
  requests_per_minute: number
  /** For how long a provider that refused `stream_options` is not asked for usage again. */
  usage_refusal_kept_ms: number
}

const mebibyte_bytes = 1024 * 1024

/** The defaults, with the reasons beside the settings of the role. */
export const defaultProxySettings: ProxySettings = {
  body_bytes_max: 20 * mebibyte_bytes,
  body_bytes_inflight_max: 256 * mebibyte_bytes,
  capture_request_bytes_max: 8 * mebibyte_bytes,
  capture_response_bytes_max: 4 * mebibyte_bytes,
  connect_timeout_ms: 10_000,
  idle_timeout_ms: 600_000,
  upstream_connections_max: 1_024,
  upstream_keep_alive_ms: 20_000,
  requests_per_minute: 0,
  usage_refusal_kept_ms: 600_000,
}
