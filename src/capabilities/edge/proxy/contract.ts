import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../../../kernel/problem.ts'
import type { KeyScope } from '../../../kernel/scopes.ts'
import type { Clock } from '../../../kernel/time.ts'
import type { Exchange, ExchangeFacts } from '../../../model/exchange.ts'
import type { Logger, Metrics } from '../../../platform/telemetry/index.ts'
import type { ProviderName } from './providers/registry.ts'
import type { ProxySettings } from './settings.ts'

/** What the proxy serves: `/v1/chat/completions` and the legacy `/v1/completions`. */
export type Endpoint = ExchangeFacts['endpoint']

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
