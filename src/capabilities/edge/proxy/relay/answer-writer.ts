import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Problem } from '../../../../kernel/problem.ts'
import type { ProviderAnswer } from '../call/bodies.ts'
import { formatErrorEvent } from '../call/provider-error.ts'
import type { RelayedCall } from './relayed-call.ts'
import type { ResponseHeaders } from './response-headers.ts'
import { endsEvent, UsageChunkFilter } from './usage-chunk-filter.ts'

/**
 * Writes a provider's answer to the client as it comes, without the usage chunk that only the proxy
 * asked for. Pauses the provider while the client is slow.
 */
export class AnswerWriter {
  readonly #call: RelayedCall
  readonly #answer: ProviderAnswer
  readonly #controller: Dispatcher.DispatchController
  #body: ChunkedBody | undefined
  #filter: UsageChunkFilter | undefined
  /** True for an uncompressed event stream, which can carry an error event. */
  #streams = false
  #bytes = 0
  #content_length = -1
  /** The last bytes: those written last of a stream, else those that complete the answer. */
  #last: Buffer | undefined
  #listens = false

  constructor(
    call: RelayedCall,
    answer: ProviderAnswer,
    controller: Dispatcher.DispatchController,
  ) {
    this.#call = call
    this.#answer = answer
    this.#controller = controller
  }

  begin(headers: ResponseHeaders, message: string | undefined): void {
    const { response } = this.#call
    const answer = this.#answer
    const head = headers.forwarded
    this.#content_length = headers.content_length
    this.#streams = answer.isStream && isPlain(headers.content_encoding)
    if (this.#streams) {
      if (answer.isUsageOurs && answer.status_code < 300) this.#filter = new UsageChunkFilter()
      if (this.#content_length !== -1) dropContentLength(head)
      this.#content_length = -1
    }
    this.#call.addIdHeaders(head, headers.request_id !== '')
    response.writeHead(answer.status_code, sendable(message), head)
    this.#body = new ChunkedBody(response)
    if (this.#content_length === -1) setImmediate(() => this.#flushHead())
  }

  write(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes === this.#content_length) this.#last = chunk
    else if (this.#filter) this.#pass(this.#filter.push(chunk))
    else this.#pass(chunk)
  }

  /** Ends a complete answer; its last bytes and its end go out in one write. */
  end(): void {
    this.#call.setBlocked(true)
    this.#body?.end(this.#filter ? this.#filter.end() : this.#completing())
  }

  /**
   * Ends an answer whose provider failed in the middle. A stream gets an error event and ends
   * without `[DONE]`; any other answer is cut.
   */
  breakOff(fault: Problem): void {
    if (!this.#streams) {
      this.#call.response.destroy()
      return
    }
    const separator = this.#last === undefined || endsEvent(this.#last) ? '' : '\n\n'
    const { endpoint, dialect } = this.#call
    this.#body?.end(Buffer.from(separator + formatErrorEvent(fault, endpoint, dialect)))
  }

  #completing(): Buffer | undefined {
    return this.#streams ? undefined : this.#last
  }

  #pass(bytes: Buffer | undefined): void {
    const { response, isClosed } = this.#call
    if (!bytes || isClosed) return
    if (this.#streams) this.#last = bytes
    if (this.#body?.write(bytes)) return
    this.#controller.pause()
    this.#call.setBlocked(true)
    if (this.#listens) return
    this.#listens = true
    response.on('drain', () => {
      this.#call.setBlocked(false)
      this.#controller.resume()
    })
  }

  /** Sends the head of an answer early, when its provider is still working on the first token. */
  #flushHead(): void {
    const { isClosed, response, hasEnded } = this.#call
    if (this.#bytes === 0 && !isClosed && !hasEnded) response.flushHeaders()
  }
}

/**
 * Returns the reason phrase of a provider if Node sends it: it is tabs and characters of Latin-1
 * without controls. Other bytes, which undici accepts, would fail the answer.
 */
function sendable(message: string | undefined): string | undefined {
  return message !== undefined && /^[\t\x20-\x7e\x80-\xff]*$/.test(message) ? message : undefined
}

function isPlain(content_encoding: string): boolean {
  return content_encoding === '' || content_encoding.toLowerCase() === 'identity'
}

/** Removes Content-Length: a stream may lose a chunk or gain an error event, so it is chunked. */
function dropContentLength(head: string[]): void {
  for (let i = 0; i < head.length; i += 2) {
    if (head[i]?.toLowerCase() === 'content-length') {
      head.splice(i, 2)
      return
    }
  }
}

/** A longer piece is written beside its frame instead of being copied into it. */
const copied_bytes_max = 16 * 1024
const lineEnd = Buffer.from('\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/**
 * Writes the body of an answer whose head was written. It frames chunks itself, each in one piece,
 * because node:http passes four pieces a chunk to the socket. That costs more than all other work
 * of a streamed chunk.
 */
class ChunkedBody {
  readonly #response: ServerResponse
  readonly #framed: boolean

  constructor(response: ServerResponse) {
    this.#response = response
    this.#framed = response.chunkedEncoding
    if (this.#framed) response.chunkedEncoding = false
  }

  /** Returns false when the client is slower than the provider. */
  write(bytes: Buffer): boolean {
    if (!this.#framed) return this.#response.write(bytes)
    if (bytes.length === 0) return true
    if (bytes.length <= copied_bytes_max) return this.#response.write(frameChunk(bytes, false))
    this.#response.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
    this.#response.write(bytes)
    return this.#response.write(lineEnd)
  }

  end(bytes: Buffer | undefined): void {
    if (!this.#framed) {
      if (bytes) this.#endWhole(bytes)
      else this.#response.end()
    } else if (bytes && bytes.length > 0) this.#response.end(frameChunk(bytes, true))
    else this.#response.end(lastChunk)
  }

  /** node:http sends Latin-1 text in one piece with the head, but a buffer separately. */
  #endWhole(bytes: Buffer): void {
    if (bytes.length > copied_bytes_max) this.#response.end(bytes)
    else this.#response.end(bytes.toString('latin1'), 'latin1')
  }
}

/** Frames bytes as one chunk (RFC 9112, 7.1), followed by the last chunk if `isLast`. */
function frameChunk(bytes: Buffer, isLast: boolean): Buffer {
  const size = bytes.length.toString(16)
  const from = size.length + 2
  const until = from + bytes.length
  const chunk = Buffer.allocUnsafe(until + (isLast ? 7 : 2))
  chunk.write(size, 0, 'latin1')
  chunk[from - 2] = 0x0d
  chunk[from - 1] = 0x0a
  chunk.set(bytes, from)
  chunk[until] = 0x0d
  chunk[until + 1] = 0x0a
  if (isLast) chunk.set(lastChunk, until + 2)
  return chunk
}
