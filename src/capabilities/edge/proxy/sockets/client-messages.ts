import { type ControlFrame, FrameReader, type FrameSink } from './frame-reader.ts'
import { opcodes } from './frames.ts'

/** A whole message of a client, or a control frame, to be forwarded as it came. */
export type ClientUnit = {
  raw: Buffer
  /** The text of a message, or undefined for a control frame. */
  payload: Buffer | undefined
  isClose: boolean
}

/** Joins the frames of a client to whole messages, so that none is forwarded before it is admitted. */
export class ClientMessages implements FrameSink {
  readonly #reader: FrameReader
  #chunk: Buffer = Buffer.alloc(0)
  #start = 0
  #held: Buffer[] = []
  #payload: Buffer[] = []
  #units: ClientUnit[] = []

  constructor(message_bytes_max: number) {
    this.#reader = new FrameReader({ isMasked: true, message_bytes_max }, this)
  }

  /** Returns what the next bytes complete. Throws FrameFault. */
  take(chunk: Buffer): ClientUnit[] {
    this.#units = []
    this.#chunk = chunk
    this.#start = 0
    this.#reader.push(chunk)
    if (this.#start < chunk.length) this.#held.push(chunk.subarray(this.#start))
    return this.#units
  }

  part(payload: Buffer): void {
    this.#payload.push(payload)
  }

  message(end: number): void {
    const payload = joined(this.#payload)
    this.#payload = []
    this.#units.push({ raw: this.#rawUntil(end), payload, isClose: false })
  }

  control({ opcode, isInMessage }: ControlFrame, end: number): void {
    const isClose = opcode === opcodes.close
    // Inside a message it goes on with the message; after a close frame nothing follows.
    if (isInMessage && !isClose) return
    this.#units.push({ raw: this.#rawUntil(end), payload: undefined, isClose })
  }

  #rawUntil(end: number): Buffer {
    const raw = joined([...this.#held, this.#chunk.subarray(this.#start, end)])
    this.#held = []
    this.#start = end
    return raw
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts
  return parts.length === 1 && only ? only : Buffer.concat(parts)
}
