import { type Problem, problem } from '../../../../kernel/problem.ts'
import { tooLarge } from './inflight-bytes.ts'

/** In front of a message: one byte that says whether it is packed, four with its length. */
const prefix_bytes = 5

/**
 * Follows the body of a unary call, which is one message in its frame (Length-Prefixed-Message of
 * gRPC over HTTP/2), and refuses it as soon as it can't be just that.
 */
export class MessageFrame {
  readonly #bytes_max: number
  readonly #prefix = Buffer.alloc(prefix_bytes)
  #seen_bytes = 0

  /** A message of more than `bytes_max` is refused once its length has come. */
  constructor(bytes_max: number) {
    this.#bytes_max = bytes_max
  }

  get isPacked(): boolean {
    return this.#prefix[0] === 1
  }

  /** Looks at the next piece. Throws `invalid_request` or `body_too_large`. */
  inspect(piece: Buffer): void {
    if (this.#seen_bytes < prefix_bytes) piece.copy(this.#prefix, this.#seen_bytes)
    this.#seen_bytes += piece.length
    const [flag = 0] = this.#prefix
    if (flag > 1) throw notOneMessage(`its first byte is ${flag}, expected 0 or 1`)
    if (this.#seen_bytes < prefix_bytes) return
    const length = this.#prefix.readUInt32BE(1)
    if (length > this.#bytes_max) throw tooLarge(this.#bytes_max)
    if (this.#seen_bytes > prefix_bytes + length) throw notOneMessage('more came after it')
  }

  /** The message in the body that was inspected. Throws `invalid_request` when it was cut off. */
  messageIn(body: Buffer): Buffer {
    const length = this.#prefix.readUInt32BE(1)
    if (body.length !== prefix_bytes + length) throw notOneMessage('it is cut off')
    return body.subarray(prefix_bytes)
  }
}

/** Puts an answer into its frame. */
export function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(prefix_bytes + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, prefix_bytes)
  return frame
}

/** The longest body with a message of `message_bytes`. */
export function framedBytes(message_bytes: number): number {
  return prefix_bytes + message_bytes
}

function notOneMessage(reason: string): Problem {
  return problem('invalid_request', { detail: `the call must hold one message: ${reason}` })
}
