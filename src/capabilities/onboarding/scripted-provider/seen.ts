import type { ProviderName } from './script.ts'

/** How a request ended: `stalled` ones are `open` until the client leaves or the server stops. */
type SeenOutcome = 'open' | 'complete' | 'client_gone' | 'cut'

/** Where a client was when it left. */
type SeenPhase = 'request_body' | 'before_headers' | 'before_first_byte' | 'body'

/** One request as the server saw it. Times are milliseconds since 1970, null when not reached. */
export type SeenRequest = {
  /** From 1 on, in order of arrival. */
  number: number
  method: string
  path: string
  provider: ProviderName | null
  /** Names and values as they came, in order, duplicates kept. */
  headers: readonly (readonly [name: string, value: string])[]
  /** The body, up to the kept size; `body_bytes` counts all of it. */
  body: Buffer
  body_bytes: number
  /** Status of the answer; null before its headers. */
  status: number | null
  outcome: SeenOutcome
  /** Set when the client went away before the answer's end. */
  aborted: SeenPhase | null
  /** Bytes of the answer's body handed to the socket. */
  bytes_written: number
  received_at_ms: number
  /** When the whole body had come. */
  body_at_ms: number | null
  headers_at_ms: number | null
  first_byte_at_ms: number | null
  ended_at_ms: number | null
}

/** Totals since the start, and the last requests, oldest first. */
export type Seen = { total: number; aborted: number; cut: number; requests: SeenRequest[] }

/** Keeps the last requests in a ring of `requests_max`, and counts all. */
export class SeenLog {
  readonly #requests_max: number
  readonly #requests: SeenRequest[] = []
  #total = 0
  #aborted = 0
  #cut = 0

  constructor(options: { requests_max: number }) {
    this.#requests_max = options.requests_max
  }

  /** Notes a request that just arrived; what is learned later is set on the answer. */
  arrived(about: Pick<SeenRequest, 'method' | 'path' | 'headers' | 'received_at_ms'>): SeenRequest {
    this.#total += 1
    const request: SeenRequest = {
      number: this.#total,
      ...about,
      provider: null,
      body: Buffer.alloc(0),
      body_bytes: 0,
      status: null,
      outcome: 'open',
      aborted: null,
      bytes_written: 0,
      body_at_ms: null,
      headers_at_ms: null,
      first_byte_at_ms: null,
      ended_at_ms: null,
    }
    this.#requests.push(request)
    if (this.#requests.length > this.#requests_max) this.#requests.shift()
    return request
  }

  /** Notes the end of a request; the first end counts. */
  ended(request: SeenRequest, outcome: Exclude<SeenOutcome, 'open'>, at_ms: number): void {
    if (request.outcome !== 'open') return
    request.outcome = outcome
    request.ended_at_ms = at_ms
    if (outcome === 'cut') this.#cut += 1
    if (outcome !== 'client_gone') return
    this.#aborted += 1
    request.aborted = phaseOf(request)
  }

  /** Notes that the server closed what was still open. */
  stopped(at_ms: number): void {
    for (const request of this.#requests) this.ended(request, 'cut', at_ms)
  }

  /** A copy that later requests don't change. */
  seen(): Seen {
    const requests = this.#requests.map((request) => ({ ...request }))
    return { total: this.#total, aborted: this.#aborted, cut: this.#cut, requests }
  }
}

function phaseOf(request: SeenRequest): SeenPhase {
  if (request.first_byte_at_ms !== null) return 'body'
  if (request.headers_at_ms !== null) return 'before_first_byte'
  return request.body_at_ms === null ? 'request_body' : 'before_headers'
}
