import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Outcome } from '../../../../model/observation.ts'
import { discardRest } from '../../../../platform/http/index.ts'
import type { Ending, ProjectKey } from '../contract.ts'
import type { Dialect, Endpoint } from '../formats.ts'
import type { CallRelay, RelayedCall } from '../relay/relayed-call.ts'
import { enterUpstream, leaveUpstream, type Upstream } from '../relay/upstream.ts'
import { hasLargeRest, type ProviderAnswer, RequestBody } from './bodies.ts'
import { clientGoneEnding, complete, endingFrom, hasAnswer, unknownEnding } from './call-record.ts'
import type { CallServices } from './call-services.ts'
import { type CallTarget, toTarget } from './call-target.ts'
import { LastSends, tookWholeStream } from './last-sends.ts'
import { writeProviderError } from './provider-error.ts'
import { type CallContext, noContext, type RequestHeaders } from './request-headers.ts'
import { toExchange } from './to-exchange.ts'
import { parseTraceparent, type TraceParent } from './trace-context.ts'

/**
 * One call, from the headers of its request to its record. It ends exactly once, when the response
 * to the client closes. It is then counted and, with a valid key, recorded.
 */
export class Call implements RelayedCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: Endpoint
  readonly dialect: Dialect
  /** True for the opening of a socket, whose calls have records of their own. */
  readonly isSocket: boolean
  readonly headers: RequestHeaders
  readonly services: CallServices
  readonly target: CallTarget
  readonly trace_id: string
  readonly parent: TraceParent | undefined
  readonly parent_observation_id: string
  readonly observation_id: string
  readonly start_ms: number
  readonly body = new RequestBody()
  /** Index in the list of calls in flight; only the list sets it. */
  slot = 0
  readonly #startedAtMs: number
  #requestId = ''
  #ingestRequestId = ''
  #key: ProjectKey | undefined
  #upstream: Upstream | undefined
  #context = noContext
  /** The relay, while it talks to the provider. */
  #relay: CallRelay | undefined
  #answer: ProviderAnswer | undefined
  /** The status of an error of Looptrace; 0 when none was sent. */
  #errorStatus = 0
  /** Instant since which the client lags behind; 0 when it does not. */
  #blockedSinceMs = 0
  #ending: Ending | undefined
  #endedAtMs = 0
  #isClosed = false
  #isHandedOver = false
  /** Whether the record was made, which is final. */
  #isRecorded = false
  readonly #lastSends: LastSends

  constructor(
    services: CallServices,
    { endpoint, dialect }: { endpoint: Endpoint; dialect: Dialect },
    exchange: { request: IncomingMessage; response: ServerResponse; headers: RequestHeaders },
  ) {
    this.services = services
    this.endpoint = endpoint
    this.dialect = dialect
    this.isSocket = endpoint === 'responses' && exchange.request.method === 'GET'
    this.request = exchange.request
    this.response = exchange.response
    this.#lastSends = new LastSends(exchange.response)
    this.headers = exchange.headers
    this.target = toTarget(exchange.request.url)
    this.start_ms = services.clock.now_ms()
    this.#startedAtMs = performance.now()
    const { traceparent } = this.headers
    const parent = traceparent === '' ? undefined : parseTraceparent(traceparent)
    this.parent = parent
    this.trace_id = parent?.trace_id ?? services.ids.uuid(this.start_ms)
    this.parent_observation_id = parent?.parent_observation_id ?? ''
    this.observation_id = services.ids.observationId()
    services.inFlight.add(this)
    this.response.on('close', () => this.#close())
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The id of this call in the ledger, made on first use. */
  get ingest_request_id(): string {
    if (this.#ingestRequestId === '') {
      this.#ingestRequestId = this.services.ids.uuid(this.start_ms)
    }
    return this.#ingestRequestId
  }

  setKey(key: ProjectKey): void {
    this.#key = key
    this.services.recorder.prepare(key.project_id)
  }

  setContext(context: CallContext): void {
    this.#context = context
  }

  /** The context that the headers name. */
  get context(): CallContext {
    return this.#context
  }

  /** Returns the connection to the client, whose socket has opened. The call ends. */
  handOver(): Socket | null {
    const { socket } = this.response
    if (socket !== null) this.response.detachSocket(socket)
    this.#isHandedOver = true
    this.settle(complete(101))
    this.#close()
    return socket
  }

  /** Counts the call as one of the provider's until it closes. */
  setUpstream(upstream: Upstream): void {
    this.#upstream = upstream
    enterUpstream(upstream)
  }

  attachRelay(relay: CallRelay): void {
    this.#relay = relay
    this.#answer = relay.answer
  }

  detachRelay(): void {
    this.#relay = undefined
  }

  elapsed_ms(): number {
    return performance.now() - this.#startedAtMs
  }

  addIdHeaders(head: string[], hasRequestId: boolean): void {
    head.push('X-Trace-ID', this.trace_id, 'X-Ingest-Request-ID', this.ingest_request_id)
    if (!hasRequestId) head.push('X-Request-ID', this.#ownRequestId())
  }

  setBlocked(isBlocked: boolean): void {
    this.#blockedSinceMs = isBlocked ? performance.now() : 0
  }

  /** Returns true when the client has lagged behind since before this instant (monotonic clock). */
  isBlockedSince(before_ms: number): boolean {
    return this.#blockedSinceMs !== 0 && this.#blockedSinceMs < before_ms
  }

  settle(ending: Ending): void {
    if (this.#ending) return
    this.#ending = ending
    this.#endedAtMs = this.elapsed_ms()
  }

  finish(ending: Ending, send: () => void): void {
    this.settle(ending)
    if (!this.#isRecorded && this.response.writableNeedDrain) {
      // Whether a client that lags behind takes the answer is only known when it has caught up.
      this.response.once('drain', () => this.finish(ending, send))
      return
    }
    this.#lastSends.add(send)
    if (!this.#isRecorded) this.#record()
  }

  /** Answers with an error of Looptrace before the provider was called. */
  refuse(fault: Problem, headers: readonly string[] = []): void {
    this.#errorStatus = fault.status
    this.finish(endingFrom('refused', fault), () => this.#sendRefusal(fault, headers))
  }

  #sendRefusal(fault: Problem, headers: readonly string[]): void {
    const isStopping = fault.code === 'shutting_down'
    const close = isStopping || hasLargeRest(this.request, this.headers.content_length)
    this.#sendError(fault, close ? [...headers, 'Connection', 'close'] : headers)
    if (close) discardRest(this.request, this.response, this.services.settings.body_bytes_max)
    else this.response.end()
  }

  fail(outcome: Outcome, fault: Problem): void {
    this.#errorStatus = fault.status
    this.finish(endingFrom(outcome, fault), () => {
      this.#sendError(fault, ['x-should-retry', 'false'])
      this.response.end()
    })
  }

  /** Ends the call because its client does not read the answer. */
  abandon(): void {
    this.response.destroy()
  }

  /** Ends the call because this process stops. */
  stop(): void {
    const relay = this.#relay
    const fault = problem('shutting_down', { retry_after_s: 1 })
    const began = this.response.headersSent
    this.settle({
      ...endingFrom('upstream_cut', fault),
      ...(began && { status_code: this.#statusCode() }),
    })
    relay?.abort()
    if (!began) {
      this.#sendError(fault, ['Connection', 'close'])
      this.response.end()
    } else if (relay) relay.breakOff(fault)
    else this.response.destroy()
  }

  #sendError(fault: Problem, more: readonly string[]): void {
    this.#errorStatus = fault.status
    const ids = ['X-Trace-ID', this.trace_id, 'X-Request-ID', this.#ownRequestId()]
    if (this.#key !== undefined) ids.push('X-Ingest-Request-ID', this.ingest_request_id)
    writeProviderError(this.response, { fault, dialect: this.dialect }, { ids, more })
  }

  #ownRequestId(): string {
    if (this.#requestId === '') this.#requestId = this.services.ids.uuid(this.start_ms)
    return this.#requestId
  }

  /** Status sent to the client, or about to be; 0 before there is one. */
  #statusCode(): number {
    return this.#errorStatus === 0 ? (this.#answer?.status_code ?? 0) : this.#errorStatus
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isRecorded) this.#settleAtClose()
    this.#relay?.abort()
    this.services.inFlight.remove(this)
    this.services.bodyBytesInFlight -= this.body.bytes
    if (this.#upstream) leaveUpstream(this.#upstream)
    this.#count()
    if (!this.#isRecorded) this.#record()
    this.services.callEnded()
  }

  #settleAtClose(): void {
    const { writableFinished } = this.response
    const delivered =
      writableFinished || tookWholeStream(this.response, this.#answer, this.endpoint)
    if (delivered && !writableFinished) this.settle(complete(this.#statusCode()))
    if (!this.#ending || (!delivered && hasAnswer(this.#ending))) this.#clientGone()
  }

  #clientGone(): void {
    const status_code = this.response.headersSent ? this.#statusCode() : 0
    this.#ending = clientGoneEnding(status_code, this.body, this.#answer)
    this.#endedAtMs = this.elapsed_ms()
  }

  #count(): void {
    if (this.#isHandedOver) return
    const { outcome, error_type } = this.#ending ?? unknownEnding
    const first_ms = this.#answer?.isStream ? this.#answer.firstByteMs : undefined
    this.services.meters.ended({
      endpoint: this.endpoint,
      provider: this.#upstream?.provider ?? '',
      outcome,
      error_type,
      duration_s: this.#endedAtMs / 1000,
      first_byte_s: first_ms === undefined ? null : first_ms / 1000,
    })
  }

  /** Records the call, then sends the last bytes of its answer. */
  #record(): void {
    this.#isRecorded = true
    const key = this.#isHandedOver || this.isSocket ? undefined : this.#key
    const exchange =
      key &&
      toExchange(this, {
        key,
        context: this.#context,
        provider: this.#upstream?.provider ?? '',
        answer: this.#answer,
        ending: this.#ending ?? unknownEnding,
        ended_ms: this.#endedAtMs,
        status_code: this.#statusCode(),
        request_bytes_max: this.services.settings.capture_request_bytes_max,
      })
    if (exchange === undefined) this.#lastSends.written()
    else this.services.recorder.record(exchange, () => this.#lastSends.written())
  }
}
