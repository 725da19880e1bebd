import type { ProviderName } from './script.ts'

/** Outcome of a request: a stalled one is `open` until the client leaves or the server stops. */
type SeenOutcome = 'open' | 'complete' | 'client_gone' | 'cut'

/** Phase in which a client left. */
type SeenPhase = 'request_body' | 'before_headers' | 'before_first_byte' | 'body'

/**
 * One request that the server received. Times are milliseconds since 1970, null when not reached.
 */
export type SeenRequest = {
  /** Number of the request, from 1, in order of arrival. */
  number: number
  method: string
  path: string
  provider: ProviderName | null
  /** Received names and values, in order, with duplicates. */
  headers: readonly (readonly [name: string, value: string])[]
  /** The body, cut to the kept size; `body_bytes` is its full size. */
  body: Buffer
  body_bytes: number
  /** Status of the answer; null before its headers. */
  status: number | null
  outcome: SeenOutcome
  /** Phase in which the client left before the end of the answer; null otherwise. */
  aborted: SeenPhase | null
  /** Bytes of the answer's body written to the socket. */
  bytes_written: number
  received_at_ms: number
  /** Time when the whole body had been received. */
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

  /** Records a new request; later facts are set on the returned record. */
  arrived(facts: Pick<SeenRequest, 'method' | 'path' | 'headers' | 'received_at_ms'>): SeenRequest {
    this.#total += 1
    const request: SeenRequest = {
      number: this.#total,
      ...facts,
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

  /** Records the end of a request; only the first end counts. */
  ended(request: SeenRequest, outcome: Exclude<SeenOutcome, 'open'>, at_ms: number): void {
    if (request.outcome !== 'open') return
    request.outcome = outcome
    request.ended_at_ms = at_ms
    if (outcome === 'cut') this.#cut += 1
    if (outcome !== 'client_gone') return
    this.#aborted += 1
    request.aborted = phaseOf(request)
  }

  /** Records that the server closed the open requests. */
  stopped(at_ms: number): void {
    for (const request of this.#requests) this.ended(request, 'cut', at_ms)
  }

  /** Returns a copy that later requests don't change. */
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
