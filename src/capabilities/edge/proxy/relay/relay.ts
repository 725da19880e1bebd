import type { Dispatcher } from 'undici'
import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Outcome } from '../../../../model/observation.ts'
import type { Call, ProviderSide } from '../call/call.ts'
import { AnswerWriter, type RawHeaders, type ResponseHeaders } from './answer-writer.ts'
import { BodyCapture } from './provider-answer.ts'
import { editedBody, usageEdit } from './stream-options.ts'
import type { Upstream } from './upstream.ts'

/**
 * The provider's side of one call: sends the request, hands the answer on as it comes and keeps a
 * bounded copy of it.
 */
export class Relay implements Dispatcher.DispatchHandler, ProviderSide {
  readonly #call: Call
  readonly #upstream: Upstream
  readonly #readHeaders: (raw: RawHeaders) => ResponseHeaders
  #controller: Dispatcher.DispatchController | undefined
  #answer: AnswerWriter | undefined
  #refusal: UsageRefusal | undefined
  #retried = false

  constructor(call: Call, upstream: Upstream, readHeaders: (raw: RawHeaders) => ResponseHeaders) {
    this.#call = call
    this.#upstream = upstream
    this.#readHeaders = readHeaders
  }

  /** Sends the request, asking for usage where the client made no choice. */
  start(): void {
    const call = this.#call
    call.provider = this
    const refused = call.start_ms < this.#upstream.usageRefusedUntil_ms
    const edit = refused ? undefined : usageEdit(call.requestBody)
    call.usageRequestedByUs = edit !== undefined
    this.#dispatch(edit ? editedBody(call.requestBody, edit) : call.requestBody)
  }

  abort(): void {
    this.#controller?.abort(new CallEnded('the call has ended'))
  }

  breakOff(fault: Problem): void {
    if (this.#answer) this.#answer.breakOff(fault)
    else this.#call.response.destroy()
  }

  #dispatch(body: Buffer): void {
    const { headers, request, endpoint } = this.#call
    const url = request.url ?? ''
    const query = url.indexOf('?')
    const path = this.#upstream.paths[endpoint]
    this.#upstream.pool.dispatch(
      {
        method: 'POST',
        path: query === -1 ? path : path + url.slice(query),
        headers: headers.forwarded,
        body,
      },
      this,
    )
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#call.ending) throw new CallEnded('the call ended before it was sent')
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    message?: string,
  ): void {
    if (status < 200) return
    const raw = controller.rawHeaders
    const headers = this.#readHeaders(Array.isArray(raw) ? raw : [])
    this.#call.status_code = status
    if (status === 400 && this.#call.usageRequestedByUs) {
      this.#refusal = new UsageRefusal(headers, message)
      return
    }
    if (this.#retried && status < 400) this.#rememberRefusal()
    this.#begin(controller, headers, message)
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
    const { status_code } = this.#call
    const failed = status_code >= 400
    this.#call.provider = undefined
    this.#call.settle({
      outcome: failed ? 'provider_error' : 'complete',
      status_code,
      error_type: failed ? String(status_code) : '',
      error_message: '',
    })
    this.#answer?.end()
  }

  onResponseError(_controller: unknown, error: Error): void {
    const call = this.#call
    call.provider = undefined
    if (call.ending || error instanceof CallEnded) return
    const { provider } = this.#upstream
    const sent = this.#controller !== undefined
    const { outcome, fault } = upstreamFault(error, { provider, sent })
    call.services.quietLog('a call to a provider failed', {
      provider,
      code: fault.code,
      reason: error.message,
    })
    if (!this.#answer || !call.response.headersSent) {
      call.fail(outcome, fault)
      return
    }
    call.settle({
      outcome,
      status_code: call.status_code,
      error_type: fault.code,
      error_message: fault.message,
    })
    this.#answer.breakOff(fault)
  }

  #begin(
    controller: Dispatcher.DispatchController,
    headers: ResponseHeaders,
    message: string | undefined,
  ): void {
    const call = this.#call
    call.response_type = headers.content_type
    call.response_encoding = headers.content_encoding
    call.provider_request_id = headers.request_id
    call.capture = new BodyCapture(call.services.settings.capture_response_bytes_max)
    this.#answer = new AnswerWriter(call, controller)
    this.#answer.begin(headers, message)
  }

  #relay(chunk: Buffer): void {
    const call = this.#call
    if (call.firstToken_ms === undefined && call.status_code < 300) {
      call.firstToken_ms = call.elapsed_ms()
    }
    call.capture?.add(chunk)
    this.#answer?.write(chunk)
  }

  #passRefusal(controller: Dispatcher.DispatchController, refusal: UsageRefusal): void {
    this.#refusal = undefined
    this.#begin(controller, refusal.headers, refusal.message)
    for (const chunk of refusal.chunks) this.#relay(chunk)
  }

  /** Sends the request once more, as the client wrote it. */
  #retry(): void {
    this.#refusal = undefined
    this.#retried = true
    this.#controller = undefined
    this.#call.usageRequestedByUs = false
    this.#call.status_code = 0
    if (!this.#call.ending) this.#dispatch(this.#call.requestBody)
  }

  /** The provider takes the call without our addition, so that was what it refused. */
  #rememberRefusal(): void {
    const { clock, settings } = this.#call.services
    this.#upstream.usageRefusedUntil_ms = clock.now_ms() + settings.usage_refusal_kept_ms
  }
}

/** Thrown to undici to stop a call whose client has its answer or is gone. */
class CallEnded extends Error {
  override readonly name = 'CallEnded'
}

/** A longer answer is passed on unread: no provider refuses a field at such length. */
const refusal_bytes_max = 64 * 1024

/**
 * An answer of 400 to a call for whose usage we asked. It is held until it is known whether it
 * refuses just that; if not, the client gets it unchanged.
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

  /** True when the answer names what we added. */
  namesUsage(): boolean {
    const body = Buffer.concat(this.chunks)
    return body.includes('stream_options') || body.includes('include_usage')
  }
}

const timeoutCodes: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

/** What an error of undici means for the client and for the record. */
function upstreamFault(
  error: Error,
  call: { provider: string; sent: boolean },
): { outcome: Outcome; fault: Problem } {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const { provider, sent } = call
  const about = (detail: string) => ({ detail: `the provider ${provider} ${detail}`, cause: error })
  if (timeoutCodes.has(code)) {
    const detail = sent ? 'was silent for too long' : 'took too long to connect to'
    return { outcome: 'timeout', fault: problem('provider_timeout', about(detail)) }
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    const detail = `the request can not be passed on: ${error.message}`
    return { outcome: 'refused', fault: problem('invalid_request', { detail, cause: error }) }
  }
  if (!sent) {
    return {
      outcome: 'upstream_cut',
      fault: problem('provider_unreachable', about('can not be reached')),
    }
  }
  const detail = code.startsWith('HPE_')
    ? 'sent what is no HTTP'
    : 'closed the connection before the answer was whole'
  return { outcome: 'upstream_cut', fault: problem('provider_cut', about(detail)) }
}
