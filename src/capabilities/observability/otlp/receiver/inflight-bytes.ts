import { type Problem, problem } from '../../../../kernel/problem.ts'

/** The bytes of all requests that are held at one time, and their bound. */
export type InflightBytes = {
  /** True when so many more may be held; then they count as held. */
  take(bytes: number): boolean
  give(bytes: number): void
  readonly held_bytes: number
}

export function createInflightBytes(bytes_max: number): InflightBytes {
  let held = 0
  return {
    take(bytes) {
      if (held + bytes > bytes_max) return false
      held += bytes
      return true
    },
    give(bytes) {
      held -= bytes
    },
    get held_bytes() {
      return held
    },
  }
}

/** What one request holds. */
export class BodyBytes {
  readonly #inflight: InflightBytes
  #held = 0

  constructor(inflight: InflightBytes) {
    this.#inflight = inflight
  }

  /** Throws `overloaded` when there is no room; what was taken before stays taken. */
  take(bytes: number): void {
    if (!this.#inflight.take(bytes)) throw overloaded()
    this.#held += bytes
  }

  /** Gives everything back; once is enough. */
  release(): void {
    this.#inflight.give(this.#held)
    this.#held = 0
  }
}

/** The refusal of what there is no room for. */
export function overloaded(): Problem {
  const detail = 'too many export requests are in flight; send it again'
  return problem('overloaded', { detail, retry_after_s: 1 })
}

/** The refusal of a body that is, is declared to be, or unpacks to more than `bytes_max`. */
export function tooLarge(bytes_max: number): Problem {
  const detail = `the request is longer than ${bytes_max} bytes, packed or unpacked`
  return problem('body_too_large', { detail })
}
