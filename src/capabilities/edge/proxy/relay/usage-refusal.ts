import type { ResponseHeaders } from './response-headers.ts'

/** A longer answer is passed on unread: no provider refuses a field at such length. */
const refusal_bytes_max = 64 * 1024

/**
 * An answer of 400 to a call for whose usage we asked. It is held until it is known whether it
 * refuses just that; if not, the client gets it unchanged.
 */
export class UsageRefusal {
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
