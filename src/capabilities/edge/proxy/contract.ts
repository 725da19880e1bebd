import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../../../kernel/problem.ts'
import type { KeyScope } from '../../../kernel/scopes.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Exchange, ExchangeFacts } from '../../../model/exchange.ts'
import type { Outcome } from '../../../model/observation.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { ProviderName } from './providers.ts'

/** What the proxy serves: `/v1/chat/completions` and the legacy `/v1/completions`. */
export type Endpoint = ExchangeFacts['endpoint']

/** The end of a call, as it is counted and recorded. */
export type Ending = {
  outcome: Outcome
  status_code: number
  /** A code of the error catalogue, or the provider's status; empty after a good answer. */
  error_type: string
  error_message: string
}

/** What the proxy needs to know of an X-API-Key. `environment` goes into the records. */
export type ProjectKey = {
  readonly key_id: string
  readonly project_id: string
  readonly scopes: ReadonlySet<KeyScope>
  readonly environment?: string
}

/**
 * Looks a key up. A known answer comes at once, without a promise: the hot path then never waits.
 * `undefined` is a key that is wrong or revoked. Throws or rejects with `store_unavailable` when
 * it can't be known now.
 */
export type ProjectKeys = {
  authenticate(key: string): ProjectKey | undefined | Promise<ProjectKey | undefined>
}

/** Takes the record of a call that has ended. Never throws, never waits. */
export type ExchangeRecorder = { record(exchange: Exchange): void }

export type ProxyDependencies = {
  keys: ProjectKeys
  recorder: ExchangeRecorder
  /** Base URLs that replace a provider's own, for instance `http://127.0.0.1:8000/v1`. */
  base_urls?: Partial<Record<ProviderName, string>>
  settings: ProxySettings
  clock: Clock
  metrics: Metrics
  logger: Logger
}

export type CompletionProxy = {
  /** Serves one request; the answer, the provider call and the record are all its own. */
  handle(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): void
  /** Answers a request beside the routes of the proxy with an error in the providers' format. */
  refuse(request: IncomingMessage, response: ServerResponse, fault: Problem): void
  /** Answers a request that is no valid HTTP; for the server's `clientError` event. */
  onClientError(error: Error, socket: Socket): void
  /** From now on calls are refused with `shutting_down`; resolves when none is left in flight. */
  drain(): Promise<void>
  /** Ends what is still in flight and closes the connections to the providers. */
  close(): Promise<void>
}

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
