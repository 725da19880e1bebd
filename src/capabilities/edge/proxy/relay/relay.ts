import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import type { QuietLog } from '../../../../platform/telemetry/index.ts'
import { BodyCapture, ProviderAnswer } from '../call/bodies.ts'
import { answeredEnding } from '../call/call-record.ts'
import { isOfDeployment } from '../call/call-target.ts'
import type { ProxySettings } from '../contract.ts'
import { type Endpoint, formats } from '../formats.ts'
import { AnswerWriter } from './answer-writer.ts'
import { KeyMask } from './key-mask.ts'
import type { CallRelay, RelayedCall } from './relayed-call.ts'
import { type RawHeaders, type ResponseHeaders, withoutKey } from './response-headers.ts'
import { applyEdit, findUsageEdit } from './stream-options.ts'
import { type Upstream, type UpstreamPath, upstreamUrl } from './upstream.ts'
import { classifyUpstreamError } from './upstream-error.ts'

/** Services that all relays of a proxy share. */
export type RelayServices = {
  readonly settings: ProxySettings
  readonly clock: Clock
  readonly quietLog: QuietLog
  readonly readHeaders: (raw: RawHeaders) => ResponseHeaders
}

/** Takes the connection to the provider, and the headers of its answer. */
type OnUpgrade = (socket: Duplex, headers: ResponseHeaders) => void

/**
 * The provider's side of one call. It sends the request, passes the answer on as it comes and keeps
 * a bounded copy.
 */
export class Relay implements Dispatcher.DispatchHandler, CallRelay {
  readonly answer = new ProviderAnswer()
  readonly #call: RelayedCall
  readonly #upstream: Upstream
  readonly #services: RelayServices
  #controller: Dispatcher.DispatchController | undefined
  #writer: AnswerWriter | undefined
  #refusal: UsageRefusal | undefined
  #retried = false
  /** Whether the stream has had its last event, though not its end. */
  #hasLastEvent = false
  /** Set when the key of the provider is ours, which the client must not see. */
  readonly #mask: KeyMask | undefined

  /** Set for a socket: called when the provider switches to its protocol. */
  readonly #onUpgrade: OnUpgrade | undefined

  constructor(
    call: RelayedCall,
    upstream: Upstream,
    services: RelayServices,
    onUpgrade?: OnUpgrade,
  ) {
    this.#call = call
    this.#onUpgrade = onUpgrade
    this.#upstream = upstream
    this.#services = services
    const { own_key } = call.target
    if (own_key !== '') this.#mask = new KeyMask(own_key)
  }

  /** Sends the request; adds a request for usage unless the client made a choice. */
  start(): void {
    const { start_ms, body, endpoint } = this.#call
    const asks = formats[endpoint].asks_usage && start_ms >= this.#upstream.usageRefusedUntilMs
    const edit = asks ? findUsageEdit(body.whole) : undefined
    this.answer.isUsageOurs = edit !== undefined
    this.#dispatch(edit ? applyEdit(body.whole, edit) : body.whole)
  }

  abort(): void {
    this.#controller?.abort(new CallEnded('the call has ended'))
  }

  breakOff(fault: Problem): void {
    if (this.#writer) this.#writer.breakOff(fault)
    else this.#call.response.destroy()
  }

  #dispatch(body: Buffer): void {
    const { headers, request, endpoint, target } = this.#call
    const path = upstreamUrl(this.#pathOf(endpoint), target)
    const method = methods.find((one) => one === request.method) ?? 'POST'
    // A deletion without a body stays one: some servers refuse it with `Content-Length: 0`.
    const isBare = method === 'GET' || (method === 'DELETE' && body.length === 0)
    this.#upstream.pool.dispatch(
      {
        method,
        path,
        headers: headers.forwarded,
        body: isBare ? null : body,
        ...(this.#onUpgrade && { upgrade: 'websocket' }),
      },
      this,
    )
  }

  #pathOf(endpoint: Endpoint): UpstreamPath {
    const { paths, deployments } = this.#upstream
    if (isOfDeployment(this.#call.target.path)) return deployments
    return paths[endpoint] ?? noPath
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#call.hasEnded) throw new CallEnded('the call ended before it was sent')
    this.#controller = controller
  }

  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    _status: number,
    _headers: unknown,
    socket: Duplex,
  ): void {
    this.#call.detachRelay()
    this.#onUpgrade?.(socket, this.#headersOf(controller))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    message?: string,
  ): void {
    if (status < 200) return
    const headers = this.#headersOf(controller)
    this.answer.status_code = status
    if (status === 400 && this.answer.isUsageOurs) {
      this.#refusal = new UsageRefusal(headers, message)
      return
    }
    if (this.#retried && status < 400) this.#rememberRefusal()
    this.#begin(controller, headers, message)
  }

  #headersOf(controller: Dispatcher.DispatchController): ResponseHeaders {
    const raw = controller.rawHeaders
    const read = this.#services.readHeaders(Array.isArray(raw) ? raw : [])
    const { own_key } = this.#call.target
    return own_key === '' ? read : withoutKey(read, own_key)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#refusal) {
      this.#relay(chunk)
      return
    }
    this.#refusal.add(chunk)
    if (this.#refusal.tooLong) this.#passRefusal(controller, this.#refusal)
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#refusal?.namesUsage()) {
      this.#retry()
      return
    }
    if (this.#refusal) this.#passRefusal(controller, this.#refusal)
    if (this.#mask) this.#pass(this.#mask.end())
    this.#call.detachRelay()
    this.#finish(() => this.#writer?.end())
  }

  onResponseError(_controller: unknown, error: Error): void {
    const call = this.#call
    call.detachRelay()
    if (error instanceof CallEnded) return
    if (this.#hasLastEvent) {
      this.#finish(() => this.#writer?.end())
      return
    }
    if (call.hasEnded) return
    const { provider } = this.#upstream
    const sent = this.#controller !== undefined
    const { outcome, fault } = classifyUpstreamError(error, { provider, sent })
    this.#services.quietLog('a call to a provider failed', {
      provider,
      code: fault.code,
      reason: error.message,
    })
    if (!this.#writer || !call.response.headersSent) {
      call.fail(outcome, fault)
      return
    }
    const ending = {
      outcome,
      status_code: this.answer.status_code,
      error_type: fault.code,
      error_message: fault.message,
    }
    call.finish(ending, () => this.breakOff(fault))
  }

  #begin(
    controller: Dispatcher.DispatchController,
    headers: ResponseHeaders,
    message: string | undefined,
  ): void {
    const { answer } = this
    answer.content_type = headers.content_type
    answer.content_encoding = headers.content_encoding
    answer.request_id = headers.request_id
    answer.body = new BodyCapture(this.#services.settings.capture_response_bytes_max)
    this.#writer = new AnswerWriter(this.#call, answer, controller)
    const { own_key } = this.#call.target
    const hidesKey = own_key !== '' && message?.includes(own_key)
    this.#writer.begin(headers, hidesKey ? undefined : message)
  }

  #relay(chunk: Buffer): void {
    const { answer } = this
    if (answer.firstByteMs === undefined && answer.status_code < 300) {
      answer.firstByteMs = this.#call.elapsed_ms()
    }
    this.#pass(this.#mask ? this.#mask.push(chunk) : chunk)
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.answer.body?.add(bytes)
    // Clients stop reading at the last event of a stream: for them, it ends the answer.
    this.#hasLastEvent ||= this.answer.endsStreamWith(bytes, this.#call.endpoint)
    if (this.#hasLastEvent) {
      this.#finish(() => this.#writer?.write(bytes))
    } else this.#writer?.write(bytes)
  }

  #finish(send: () => void): void {
    this.#call.finish(answeredEnding(this.answer, this.#call.endpoint), send)
  }

  #passRefusal(controller: Dispatcher.DispatchController, refusal: UsageRefusal): void {
    this.#refusal = undefined
    this.#begin(controller, refusal.headers, refusal.message)
    for (const chunk of refusal.chunks) this.#relay(chunk)
  }

  /** Sends the request again, as the client wrote it. */
  #retry(): void {
    this.#refusal = undefined
    this.#retried = true
    this.#controller = undefined
    this.answer.isUsageOurs = false
    this.answer.status_code = 0
    if (!this.#call.hasEnded) this.#dispatch(this.#call.body.whole)
  }

  /** The provider accepts the call without our addition, so the addition was what it refused. */
  #rememberRefusal(): void {
    const { clock, settings } = this.#services
    this.#upstream.usageRefusedUntilMs = clock.now_ms() + settings.usage_refusal_kept_ms
  }
}

/** Methods of the routes of calls. */
const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const

/** Calls of formats that a provider does not speak are refused before. */
const noPath: UpstreamPath = { path: '', adds: 'nothing' }

/** Passed to undici to stop a call that has ended. */
class CallEnded extends Error {
  override readonly name = 'CallEnded'
}

/** A longer answer is passed on unread: no refusal of a field is that long. */
const refusal_bytes_max = 64 * 1024

/**
 * A status 400 for a call to which the proxy added a request for usage. It is held back until it is
 * clear whether it refuses that addition; if not, the client gets it unchanged.
 */
class UsageRefusal {
  readonly headers: ResponseHeaders
  readonly message: string | undefined
  readonly chunks: Buffer[] = []
  #bytes = 0

  constructor(headers: ResponseHeaders, message: string | undefined) {
    this.headers = headers
    this.message = message
  }

  add(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.#bytes += chunk.length
  }

  get tooLong(): boolean {
    return this.#bytes > refusal_bytes_max
  }

  /** Returns true when the answer names our addition. */
  namesUsage(): boolean {
    const body = Buffer.concat(this.chunks)
    return body.includes('stream_options') || body.includes('include_usage')
  }
}
