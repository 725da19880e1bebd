import type { Outcome } from '../../../../model/observation.ts'
import { BodyCapture, noBytes, ProviderAnswer, RequestBody } from '../call/bodies.ts'
import type { Call } from '../call/call.ts'
import { clientGoneEnding, complete, redactKey, toExchangeFacts } from '../call/call-record.ts'
import type { CallServices } from '../call/call-services.ts'
import type { CallContext, RequestHeaders } from '../call/request-headers.ts'
import type { Ending, ProjectKey } from '../contract.ts'

/** The opening of a socket and its owner, which all its calls share. */
export type SocketOwner = {
  readonly services: CallServices
  readonly handshake: Call
  readonly key: ProjectKey
  readonly context: CallContext
  readonly provider: string
}

const dataStart = Buffer.from('data: ')
const eventEnd = Buffer.from('\n\n')

/** Bytes at the end of an answer in which its error is read. */
const error_bytes_max = 64 * 1024

/**
 * One call on a socket, from its `response.create` to its last event. It is recorded as a streamed call
 * of Responses: the message is the request, and each event is a line `data:` of the answer.
 */
export class SocketCall {
  /** Index in the list of calls in flight; only the list sets it. */
  slot = 0
  readonly headers: Pick<RequestHeaders, 'traceparent' | 'tracestate' | 'baggage' | 'agent'>
  readonly target = { model: '' }
  readonly body = new RequestBody()
  readonly answer = new ProviderAnswer()
  readonly start_ms: number
  readonly trace_id: string
  readonly parent_observation_id: string
  readonly observation_id: string
  readonly ingest_request_id: string
  /** The stream of the socket that the client named; empty without one. */
  readonly stream_id: string
  readonly #owner: SocketOwner
  readonly #onStop: () => void
  readonly #startedAtMs = performance.now()
  #hasEnded = false

  constructor(
    owner: SocketOwner,
    { payload, stream_id }: { payload: Buffer; stream_id: string },
    onStop: () => void,
  ) {
    const { services, handshake } = owner
    const { clock, ids, settings } = services
    this.#owner = owner
    this.#onStop = onStop
    this.stream_id = stream_id
    this.headers = handshake.headers
    this.start_ms = clock.now_ms()
    this.trace_id = handshake.parent?.trace_id ?? ids.uuid(this.start_ms)
    this.parent_observation_id = handshake.parent_observation_id
    this.observation_id = ids.observationId()
    this.ingest_request_id = ids.uuid(this.start_ms)
    this.body.count(payload)
    if (this.body.isCaptured(settings.capture_request_bytes_max)) this.body.keep(payload)
    this.body.complete()
    this.answer.content_type = 'text/event-stream'
    this.answer.body = new BodyCapture(settings.capture_response_bytes_max)
    services.bodyBytesInFlight += payload.length
    services.inFlight.add(this)
  }

  get hasEvents(): boolean {
    return this.answer.firstByteMs !== undefined
  }

  /** Ends the call because this process stops. */
  stop(): void {
    this.#onStop()
  }

  /** Does nothing: the session watches its client. */
  abandon(): void {
    this.#onStop()
  }

  isBlockedSince(): boolean {
    return false
  }

  beginEvent(): void {
    this.answer.firstByteMs ??= this.#elapsed_ms()
    this.answer.status_code = 200
    this.#add(dataStart)
  }

  /** Adds a part of an event. Line ends inside JSON are space, and would end the line of the record. */
  addToEvent(part: Buffer): void {
    this.#add(part.includes(0x0a) || part.includes(0x0d) ? withoutLineEnds(part) : part)
  }

  endEvent(): void {
    this.#add(eventEnd)
  }

  /** Ends the call after its last event. `written` is called once the record is in the journal. */
  finish(type: string, written: () => void): void {
    const status = type === 'error' ? this.#errorStatus() : 0
    this.end(
      status === 0
        ? complete(200)
        : {
            outcome: 'provider_error',
            status_code: status,
            error_type: String(status),
            error_message: '',
          },
      written,
    )
  }

  clientGone(): void {
    this.end(clientGoneEnding(this.hasEvents ? 200 : 0, this.body, this.answer))
  }

  /** Ends the call by a fault that is not the client's; the status is that of the answer so far. */
  cut(outcome: Outcome, fault: { status: number; code: string; message: string }): void {
    this.end({
      outcome,
      status_code: this.hasEvents ? 200 : fault.status,
      error_type: fault.code,
      error_message: fault.message,
    })
  }

  end(ending: Ending, written: () => void = () => undefined): void {
    if (this.#hasEnded) {
      written()
      return
    }
    this.#hasEnded = true
    const { services } = this.#owner
    services.inFlight.remove(this)
    services.bodyBytesInFlight -= this.body.bytes
    this.#report(ending, written)
    services.callEnded()
  }

  #add(bytes: Buffer): void {
    if (!this.#hasEnded) this.answer.body?.add(bytes)
  }

  #elapsed_ms(): number {
    return performance.now() - this.#startedAtMs
  }

  /** Returns the status of the error event that ends the answer; 0 without one. */
  #errorStatus(): number {
    const text = this.answer.body?.last(error_bytes_max).toString('utf8') ?? ''
    try {
      const event: unknown = JSON.parse(text.slice(text.lastIndexOf('data: {') + dataStart.length))
      const status = typeof event === 'object' && event && 'status' in event ? event.status : 0
      return typeof status === 'number' && status >= 400 && status < 600 ? status : 0
    } catch {
      return 0
    }
  }

  #report(ending: Ending, written: () => void): void {
    const { services, handshake, key, context, provider } = this.#owner
    const ended_ms = this.#elapsed_ms()
    const first_ms = this.answer.firstByteMs
    const endpoint = 'responses'
    services.meters.ended({
      endpoint,
      provider,
      outcome: ending.outcome,
      error_type: ending.error_type,
      duration_s: ended_ms / 1000,
      first_byte_s: first_ms === undefined ? null : first_ms / 1000,
    })
    const isRequestCaptured = this.body.isCaptured(services.settings.capture_request_bytes_max)
    const { answer } = this
    const facts = toExchangeFacts(this, {
      endpoint,
      key,
      context,
      provider,
      answer,
      isRequestCaptured,
      ending,
      ended_ms,
    })
    const response = redactKey(answer.body?.take() ?? noBytes, handshake.target.provider_key, {
      failed: ending.status_code >= 400,
      streamed: true,
    })
    const request = isRequestCaptured ? this.body.received() : noBytes
    services.recorder.record({ facts, request, response }, written)
  }
}

function withoutLineEnds(part: Buffer): Buffer {
  const copy = Buffer.from(part)
  for (let at = 0; at < copy.length; at += 1) {
    if (copy[at] === 0x0a || copy[at] === 0x0d) copy[at] = 0x20
  }
  return copy
}
