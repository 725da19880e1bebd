import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../../../kernel/problem.ts'
import type { KeyScope } from '../../../kernel/scopes.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Exchange } from '../../../model/exchange.ts'
import type { Outcome } from '../../../model/observation.ts'
import type { TaskRule } from '../../../model/task-rules.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { Endpoint } from './formats.ts'
import type { ProviderName } from './providers.ts'
import type { ProvidersFile } from './providers-file/providers-file.ts'

/** The end of a call, as it is counted and recorded. */
export type Ending = {
  outcome: Outcome
  status_code: number
  /** A code of the error catalogue, or the provider's status; empty after a good answer. */
  error_type: string
  error_message: string
}

/** The owner and rights of a project key. Records carry its `environment`. */
export type ProjectKey = {
  readonly key_id: string
  readonly project_id: string
  readonly scopes: ReadonlySet<KeyScope>
  readonly environment?: string
  /** Rules for sessions and tasks that the project has switched off. */
  readonly task_rules_off?: readonly TaskRule[]
  /** Set when the key is a service account's. */
  readonly service_account_id?: string | null
  /** Set when the project is archived: calls are refused. */
  readonly is_archived?: true
}

/**
 * Looks up a key. Returns a known key without a promise, so that the hot path never waits. Returns
 * undefined for an unknown or revoked key. Throws or rejects with `store_unavailable` when the
 * lookup fails.
 */
export type ProjectKeys = {
  authenticate(key: string): ProjectKey | undefined | Promise<ProjectKey | undefined>
}

export type ExchangeRecorder = {
  /**
   * Accepts the record of a finished call. `written` is called exactly once, within this turn of the
   * event loop: when the record is in the journal, or will not be. Never throws.
   */
  record(exchange: Exchange, written: () => void): void
  /** Reads the policy of a project, so that it is known when a call of it ends. */
  prepare(project_id: string): void
}

export type ProxyDependencies = {
  keys: ProjectKeys
  recorder: ExchangeRecorder
  /** Base URLs that replace the providers' own, for instance `http://127.0.0.1:8000/v1`. */
  base_urls?: Partial<Record<ProviderName, string>>
  /** The providers of the providers file. */
  providers_file?: Pick<ProvidersFile, 'providers' | 'onChange'> | undefined
  /** Checks the addresses of those providers. Required with `providers_file`. */
  outbound?: Pick<Outbound, 'lookup'> | undefined
  settings: ProxySettings
  clock: Clock
  metrics: Metrics
  logger: Logger
}

export type CompletionProxy = {
  /**
   * Serves one request: calls the provider, answers the client, records the call. `authorised` is
   * called when the key is valid.
   */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    call: { endpoint: Endpoint; authorised?: () => void },
  ): void
  /**
   * Answers a request outside the routes of the proxy with an error in the shape that clients of
   * its path read.
   */
  refuse(request: IncomingMessage, response: ServerResponse, fault: Problem): void
  /** Answers a request that is not valid HTTP; for the server's `clientError` event. */
  onClientError(error: Error, socket: Socket): void
  /** Refuses new calls with `shutting_down`; resolves when no call is in flight. */
  drain(): Promise<void>
  /** Ends the calls in flight and closes the connections to the providers. */
  close(): Promise<void>
}

/** The limits of the proxy. The role sets some of them. */
export type ProxySettings = {
  /** Maximum bytes of a request body; a longer one is refused with 413. */
  body_bytes_max: number
  /** Maximum bytes of all request bodies held; beyond it calls are refused with 503. */
  body_bytes_inflight_max: number
  /** Maximum bytes of a recorded request body; a longer one is forwarded but not recorded. */
  capture_request_bytes_max: number
  /** Bytes recorded of the head of an answer; of the rest, the last 64 KiB are recorded. */
  capture_response_bytes_max: number
  connect_timeout_ms: number
  /**
   * Longest silence of a provider, before its headers or in its body, and of a client that reads.
   */
  idle_timeout_ms: number
  /** Maximum concurrent calls to one provider; beyond it calls are refused with 503. */
  upstream_connections_max: number
  /** How long an idle connection to a provider is kept, unless the provider sets a time itself. */
  upstream_keep_alive_ms: number
  /** Calls per minute and key; 0 means no limit. */
  requests_per_minute: number
  /** How long a provider that refused `stream_options` is not asked for usage again. */
  usage_refusal_kept_ms: number
}

const mebibyte_bytes = 1024 * 1024

/**
 * The defaults. Images in base64 make requests large. Reasoning models are silent for minutes. Many
 * providers close an idle connection after 60 s, so the proxy closes it before.
 */
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
