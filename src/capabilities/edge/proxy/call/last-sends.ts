import type { ServerResponse } from 'node:http'
import type { Endpoint } from '../formats.ts'
import type { ProviderAnswer } from './bodies.ts'

/** The last bytes of an answer, which wait until the record of their call is written. */
export class LastSends {
  readonly #response: ServerResponse
  #waiting: (() => void)[] = []
  #isWritten = false

  constructor(response: ServerResponse) {
    this.#response = response
  }

  add(send: () => void): void {
    this.#waiting.push(send)
    if (this.#isWritten) this.#sendAll()
  }

  /** Sends what waits: the record is in the journal, or will not be. */
  written(): void {
    this.#isWritten = true
    this.#sendAll()
  }

  #sendAll(): void {
    for (const send of this.#waiting.splice(0)) {
      if (!this.#response.destroyed && !this.#response.writableEnded) send()
    }
  }
}

/**
 * Length of `0\r\n\r\n`, which ends a chunked body. A client that has `[DONE]` may not wait for it.
 */
const lastChunkBytes = 5

/**
 * Returns true when the client left after the mark that ends a stream. Several client packages close
 * the connection then, before the end of the transfer itself.
 */
export function tookWholeStream(
  response: ServerResponse,
  answer: ProviderAnswer | undefined,
  endpoint: Endpoint,
): boolean {
  if (!answer?.isStream || response.writableLength > lastChunkBytes) return false
  return answer.hasStreamEnd(endpoint)
}
