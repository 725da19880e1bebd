import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import type { Outcome } from '../../../../model/observation.ts'
import { discardRest } from '../../../../platform/http/index.ts'
import type { QuietLog } from '../../../../platform/telemetry/index.ts'
import type { Endpoint, ExchangeRecorder, ProjectKey, ProxySettings } from '../contract.ts'
import { type BodyCapture, endsStream, streamEnd_bytes } from '../relay/provider-answer.ts'
import type { Upstream } from '../relay/upstream.ts'
import type { CallIds } from './call-ids.ts'
import {
  complete,
  type Ending,
  endedWell,
  endingOf,
  factsOf,
  isEventStream,
  withoutKey,
} from './call-record.ts'
import type { ProxyMeters } from './meters.ts'
import { providerError } from './provider-error.ts'
import {
  type CallContext,
  noContext,
  parseTraceparent,
  type RequestHeaders,
} from './request-headers.ts'
import type { SlotList } from './slot-list.ts'

/** What all calls of a proxy share. */
export type CallServices = {
  readonly settings: ProxySettings
  readonly clock: Clock
  readonly recorder: ExchangeRecorder
  readonly meters: ProxyMeters
  readonly ids: CallIds
  readonly quietLog: QuietLog
  readonly inFlight: SlotList<Call>
  /** Bytes of request bodies that calls in flight hold. */
  bodyBytesInFlight: number
  /** Called after a call has left `inFlight`. */
  callEnded(): void
}

/** What a call can ask of the side that talks to its provider. */
export type ProviderSide = {
  /** Stops the call to the provider at once. */
  abort(): void
  /** Ends an answer that has begun with an error, as far as the client can be told. */
  breakOff(fault: Problem): void
}

const noBytes: Buffer = Buffer.alloc(0)

/**
 * One call, from the headers of its request to its record. Whatever happens, it is ended once,
 * when the client's answer is closed, and then counted and (with a valid key) recorded.
 */
export class Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: Endpoint
  readonly headers: RequestHeaders
  readonly services: CallServices
  readonly trace_id: string
  readonly parent_observation_id: string
  readonly observation_id: string
  readonly start_ms: number
  readonly #startedAt_ms: number
  #requestId = ''
  #ingestRequestId = ''

  key: ProjectKey | undefined
  upstream: Upstream | undefined
  context: CallContext = noContext
  /** What came of the body so far; joined in `requestBody` when that is all. */
  bodyChunks: Buffer[] = []
  requestBody: Buffer = noBytes
  requestBytes = 0
  requestComplete = false
  usageRequestedByUs = false

  /** The provider's answer, as far as it came. */
  status_code = 0
  response_type = ''
  response_encoding = ''
  provider_request_id = ''
  capture: BodyCapture | undefined
  firstToken_ms: number | undefined
  /** Since when the client has not taken what was written for it; 0 when it takes it. */
  blockedSince_ms = 0
  /** The call to the provider, while there is one. */
  provider: ProviderSide | undefined

  ending: Ending | undefined
  #endedAt_ms = 0
  closed = false
  /** Its place among the calls in flight. */
  slot = 0

  constructor(
    services: CallServices,
    endpoint: Endpoint,
    exchange: { request: IncomingMessage; response: ServerResponse; headers: RequestHeaders },
  ) {
    this.services = services
    this.endpoint = endpoint
    this.request = exchange.request
    this.response = exchange.response
    this.headers = exchange.headers
    this.start_ms = services.clock.now_ms()
    this.#startedAt_ms = performance.now()
    const { traceparent } = this.headers
    const parent = traceparent === '' ? undefined : parseTraceparent(traceparent)
    this.trace_id = parent?.trace_id ?? services.ids.uuid(this.start_ms)
    this.parent_observation_id = parent?.parent_observation_id ?? ''
    this.observation_id = services.ids.observationId()
    services.inFlight.add(this)
    this.response.on('close', () => this.#close())
  }

  /** Milliseconds since the call began, with fractions. */
  elapsed_ms(): number {
    return performance.now() - this.#startedAt_ms
  }

  /** Our own id of this call, made when it is needed first. */
  get requestId(): string {
    if (this.#requestId === '') this.#requestId = this.services.ids.uuid(this.start_ms)
    return this.#requestId
  }

  /** The id under which the ledger knows this call, if it is recorded; made when needed first. */
  get ingest_request_id(): string {
    if (this.#ingestRequestId === '') {
      this.#ingestRequestId = this.services.ids.uuid(this.start_ms)
    }
    return this.#ingestRequestId
  }

  /** Says how the call ended; what is said first counts. */
  settle(ending: Ending): void {
    if (this.ending) return
    this.ending = ending
    this.#endedAt_ms = this.elapsed_ms()
  }

  /** Answers with an error of ours before anything went to a provider. */
  refuse(fault: Problem, headers: readonly string[] = []): void {
    this.settle(endingOf('refused', fault))
    const close = fault.code === 'shutting_down' || this.#restIsLarge()
    this.#sendError(fault, close ? [...headers, 'Connection', 'close'] : headers)
    if (close) discardRest(this.request, this.response, this.services.settings.body_bytes_max)
    else this.response.end()
  }

  /** Answers with an error of ours after the provider was called, when no head was sent yet. */
  fail(outcome: Outcome, fault: Problem): void {
    this.settle(endingOf(outcome, fault))
    this.#sendError(fault, ['x-should-retry', 'false'])
    this.response.end()
  }

  /** Ends the call because its client does not take the answer. */
  abandon(): void {
    this.response.destroy()
  }

  /** Ends the call because this process stops. */
  stop(): void {
    const { provider } = this
    const fault = problem('shutting_down', { retry_after_s: 1 })
    const began = this.response.headersSent
    this.settle({
      ...endingOf('upstream_cut', fault),
      ...(began && { status_code: this.status_code }),
    })
    provider?.abort()
    if (!began) {
      this.#sendError(fault, ['Connection', 'close'])
      this.response.end()
    } else if (provider) provider.breakOff(fault)
    else this.response.destroy()
  }

  #sendError(fault: Problem, headers: readonly string[]): void {
    this.status_code = fault.status
    const body = Buffer.from(providerError(fault))
    this.response.writeHead(fault.status, [
      'Content-Type',
      'application/json; charset=utf-8',
      'Content-Length',
      String(body.length),
      'X-Trace-ID',
      this.trace_id,
      'X-Request-ID',
      this.requestId,
      ...(this.key === undefined ? [] : ['X-Ingest-Request-ID', this.ingest_request_id]),
      ...(fault.retry_after_s === undefined ? [] : ['Retry-After', String(fault.retry_after_s)]),
      ...headers,
    ])
    this.response.write(body)
  }

  /** A small rest of a body is read by node:http itself, so that the connection can be kept. */
  #restIsLarge(): boolean {
    if (this.request.complete) return false
    const { content_length } = this.headers
    if (content_length === -1) return this.request.headers['transfer-encoding'] !== undefined
    return content_length > discardedByNode_bytes_max
  }

  #close(): void {
    if (this.closed) return
    this.closed = true
    const { writableFinished } = this.response
    const delivered = writableFinished || this.#tookWholeStream()
    if (delivered && !writableFinished) this.settle(complete(this.status_code))
    if (!this.ending || (!delivered && endedWell(this.ending))) this.#clientGone()
    this.provider?.abort()
    this.services.inFlight.remove(this)
    this.services.bodyBytesInFlight -= this.requestBytes
    if (this.upstream) this.upstream.inFlight -= 1
    this.#report()
    this.services.callEnded()
  }

  /**
   * True when the client left after the mark that ends a stream: several packages close the
   * connection then, without the end of the transfer itself.
   */
  #tookWholeStream(): boolean {
    const left_bytes = this.response.writableLength
    if (!isEventStream(this.response_type) || left_bytes > lastChunk_bytes) return false
    return this.capture !== undefined && endsStream(this.capture.last(streamEnd_bytes))
  }

  #clientGone(): void {
    const before = this.status_code === 0 || !this.response.headersSent
    this.ending = {
      outcome: 'client_gone',
      status_code: before ? 499 : this.status_code,
      error_type: 'client_gone',
      error_message: `the client closed the connection ${this.#phase()}`,
    }
    this.#endedAt_ms = this.elapsed_ms()
  }

  #phase(): string {
    if (!this.requestComplete) return 'while it sent the body'
    return this.capture === undefined || this.capture.bytes === 0
      ? 'before the first byte of the answer'
      : 'in the middle of the answer'
  }

  #report(): void {
    const ending = this.ending ?? endingOf('refused', problem('internal_error'))
    const first = this.firstToken_ms
    this.services.meters.ended({
      endpoint: this.endpoint,
      provider: this.upstream?.provider ?? '',
      outcome: ending.outcome,
      error_type: ending.error_type,
      duration_s: this.#endedAt_ms / 1000,
      first_byte_s: first === undefined || !this.streamed ? null : first / 1000,
    })
    if (!this.key) return
    const facts = factsOf(this, this.key, { ...ending, ended_ms: this.#endedAt_ms })
    const request = this.requestIsCaptured ? this.#receivedBody() : noBytes
    const response = withoutKey(this.capture?.take() ?? noBytes, this.headers.authorization, {
      failed: this.status_code >= 400,
      streamed: facts.streamed,
    })
    this.services.recorder.record({ facts, request, response })
  }

  /** True when the provider answered with a stream of events. */
  get streamed(): boolean {
    return isEventStream(this.response_type)
  }

  /** False when the body was not read, or is longer than what is recorded. */
  get requestIsCaptured(): boolean {
    if (this.requestBytes > this.services.settings.capture_request_bytes_max) return false
    return this.requestComplete || this.requestBytes > 0
  }

  #receivedBody(): Buffer {
    return this.requestComplete ? this.requestBody : Buffer.concat(this.bodyChunks)
  }
}

/** `0\r\n\r\n`, which ends a chunked body: a client that has the mark may not wait for it. */
const lastChunk_bytes = 5

/** Up to so many bytes that nobody wants are read, so that the connection can be used again. */
const discardedByNode_bytes_max = 64 * 1024
