import type { Dispatcher } from 'undici'
import type { Problem } from '../../../../kernel/problem.ts'
import type { Call } from '../call/call.ts'
import { isEventStream } from '../call/call-facts.ts'
import { providerError } from '../call/provider-error.ts'
import { ChunkedBody } from './chunked-body.ts'
import type { ResponseHeaders } from './response-headers.ts'
import { endsEvent, UsageChunkFilter } from './usage-chunk-filter.ts'

/**
 * Writes a provider's answer to the client as it comes, without the usage chunk that only we asked
 * for, and holds the provider back when the client is slow.
 */
export class AnswerWriter {
  readonly #call: Call
  readonly #controller: Dispatcher.DispatchController
  #body: ChunkedBody | undefined
  #filter: UsageChunkFilter | undefined
  /** True for an event stream that is not compressed: the client can be told what went wrong. */
  #streams = false
  #bytes = 0
  #content_length = -1
  /** The last bytes: of a stream those written last, else those that complete the answer. */
  #last: Buffer | undefined
  #listens = false

  constructor(call: Call, controller: Dispatcher.DispatchController) {
    this.#call = call
    this.#controller = controller
  }

  begin(headers: ResponseHeaders, message: string | undefined): void {
    const call = this.#call
    const head = headers.forwarded
    this.#content_length = headers.content_length
    this.#streams = isEventStream(headers.content_type) && isPlain(headers.content_encoding)
    if (this.#streams) {
      if (call.usageRequestedByUs && call.status_code < 300) this.#filter = new UsageChunkFilter()
      if (this.#content_length !== -1) dropContentLength(head)
      this.#content_length = -1
    }
    head.push('X-Trace-ID', call.trace_id, 'X-Ingest-Request-ID', call.ingest_request_id)
    if (headers.request_id === '') head.push('X-Request-ID', call.requestId)
    call.response.writeHead(call.status_code, message, head)
    this.#body = new ChunkedBody(call.response)
    if (this.#content_length === -1) setImmediate(() => this.#flushHead())
  }

  write(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes === this.#content_length) this.#last = chunk
    else if (this.#filter) this.#pass(this.#filter.push(chunk))
    else this.#pass(chunk)
  }

  /** The answer is whole; its last bytes and its end go out in one write. */
  end(): void {
    this.#call.blockedSince_ms = performance.now()
    this.#body?.end(this.#filter ? this.#filter.end() : this.#completing())
  }

  /**
   * The provider failed in the middle. A stream gets one error event and ends without `[DONE]`;
   * of any other answer the client can only see that it was cut.
   */
  breakOff(fault: Problem): void {
    if (!this.#streams) {
      this.#call.response.destroy()
      return
    }
    const separator = this.#last === undefined || endsEvent(this.#last) ? '' : '\n\n'
    this.#body?.end(Buffer.from(`${separator}data: ${providerError(fault)}\n\n`))
  }

  #completing(): Buffer | undefined {
    return this.#streams ? undefined : this.#last
  }

  #pass(bytes: Buffer | undefined): void {
    const { response, closed } = this.#call
    if (!bytes || closed) return
    if (this.#streams) this.#last = bytes
    if (this.#body?.write(bytes)) return
    this.#controller.pause()
    this.#call.blockedSince_ms = performance.now()
    if (this.#listens) return
    this.#listens = true
    response.on('drain', () => {
      this.#call.blockedSince_ms = 0
      this.#controller.resume()
    })
  }

  /** A provider that thinks before its first token has answered: the client is told so. */
  #flushHead(): void {
    const { closed, response, ending } = this.#call
    if (this.#bytes === 0 && !closed && !ending) response.flushHeaders()
  }
}

function isPlain(content_encoding: string): boolean {
  return content_encoding === '' || content_encoding.toLowerCase() === 'identity'
}

/** A stream may lose a chunk or gain an error event: it is sent chunked. */
function dropContentLength(head: string[]): void {
  for (let i = 0; i < head.length; i += 2) {
    if (head[i]?.toLowerCase() === 'content-length') {
      head.splice(i, 2)
      return
    }
  }
}
