import { closeCodes, maxControlPayloadBytes, opcodes, unmask } from './frames.ts'

/** Reports of a reader. `end` is the offset in the chunk after the last byte of what was read. */
export type FrameSink = {
  /** A part of the payload of a data message, without its mask. */
  part(payload: Buffer): void
  message(end: number): void
  control(frame: ControlFrame, end: number): void
}

export type ControlFrame = {
  opcode: number
  payload: Buffer
  /** True when it came between the frames of a message. */
  isInMessage: boolean
}

/** Frames that break the protocol, or a message that is too long. */
export class FrameFault extends Error {
  override readonly name = 'FrameFault'
  /** Code for the close frame. */
  readonly close_code: number

  constructor(message: string, close_code: number = closeCodes.protocol_error) {
    super(message)
    this.close_code = close_code
  }
}

export type FrameReaderOptions = {
  /** Whether the sender is a client, whose frames are masked. */
  isMasked: boolean
  /** Maximum bytes of a data message. */
  message_bytes_max: number
}

/**
 * Reads the frames of one direction of a WebSocket, as the bytes come. It knows no extensions, which
 * the proxy does not offer to the provider.
 */
export class FrameReader {
  readonly #options: FrameReaderOptions
  readonly #sink: FrameSink
  readonly #header = Buffer.alloc(14)
  #headerBytes = 0
  #headerNeeded = 2
  #isInPayload = false
  #opcode = 0
  #isFinal = false
  #length = 0
  #left = 0
  #mask: Buffer | undefined
  #messageBytes = 0
  #isInMessage = false
  #control: Buffer[] = []

  constructor(options: FrameReaderOptions, sink: FrameSink) {
    this.#options = options
    this.#sink = sink
  }

  /** Bytes that the current frame lacks; 0 between frames and in a header. */
  get missing(): number {
    return this.#isInPayload ? this.#left : 0
  }

  /** True when no frame and no message has begun. */
  get isAtBoundary(): boolean {
    return this.#headerBytes === 0 && !this.#isInPayload && !this.#isInMessage
  }

  /** Reads the next bytes. Throws FrameFault; the reader can then not go on. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      at = this.#isInPayload ? this.#readPayload(chunk, at) : this.#readHeader(chunk, at)
    }
  }

  #readHeader(chunk: Buffer, start: number): number {
    let at = start
    while (at < chunk.length && this.#headerBytes < this.#headerNeeded) {
      this.#header[this.#headerBytes] = chunk[at] ?? 0
      this.#headerBytes += 1
      at += 1
      if (this.#headerBytes === 2) this.#headerNeeded = this.#headerLength()
    }
    if (this.#headerBytes === this.#headerNeeded) {
      this.#begin()
      if (this.#left === 0) this.#endFrame(at)
    }
    return at
  }

  #headerLength(): number {
    const [first = 0, second = 0] = this.#header
    if ((first & 0x70) !== 0) throw new FrameFault('a frame has an extension that was not agreed')
    if (second >= 0x80 !== this.#options.isMasked)
      throw new FrameFault('the mask of a frame is wrong')
    const short = second & 0x7f
    const extended = short === 126 ? 2 : short === 127 ? 8 : 0
    return 2 + extended + (this.#options.isMasked ? 4 : 0)
  }

  #begin(): void {
    const header = this.#header
    const [first = 0, second = 0] = header
    this.#opcode = first & 0x0f
    this.#isFinal = first >= 0x80
    const short = second & 0x7f
    if (short === 126) this.#length = header.readUInt16BE(2)
    else this.#length = short === 127 ? Number(header.readBigUInt64BE(2)) : short
    this.#left = this.#length
    const mask = header.subarray(this.#headerNeeded - 4, this.#headerNeeded)
    this.#mask = this.#options.isMasked ? Buffer.from(mask) : undefined
    this.#headerBytes = 0
    this.#headerNeeded = 2
    this.#isInPayload = true
    this.#check()
  }

  #check(): void {
    if (this.#isControl()) {
      const isKnown = this.#opcode <= opcodes.pong
      if (isKnown && this.#isFinal && this.#length <= maxControlPayloadBytes) return
      throw new FrameFault('a control frame is not valid')
    }
    const isNext = this.#opcode === opcodes.continuation
    if (this.#opcode > opcodes.binary || isNext !== this.#isInMessage) {
      throw new FrameFault('a frame does not continue its message')
    }
    this.#isInMessage = true
    this.#messageBytes += this.#length
    const { message_bytes_max } = this.#options
    if (this.#messageBytes > message_bytes_max) {
      const text = `the message is longer than ${message_bytes_max} bytes`
      throw new FrameFault(text, closeCodes.too_big)
    }
  }

  #isControl(): boolean {
    return this.#opcode >= opcodes.close
  }

  #readPayload(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    const bytes = chunk.subarray(at, end)
    const plain = this.#mask ? unmask(bytes, this.#mask, this.#length - this.#left) : bytes
    this.#left -= bytes.length
    if (this.#isControl()) this.#control.push(plain)
    else this.#sink.part(plain)
    if (this.#left === 0) this.#endFrame(end)
    return end
  }

  #endFrame(end: number): void {
    this.#isInPayload = false
    if (this.#isControl()) {
      const payload = Buffer.concat(this.#control)
      this.#control = []
      this.#sink.control({ opcode: this.#opcode, payload, isInMessage: this.#isInMessage }, end)
    } else if (this.#isFinal) {
      this.#isInMessage = false
      this.#messageBytes = 0
      this.#sink.message(end)
    }
  }
}

/** Runs a step that reads frames, and passes a fault of a frame to `onFault`. */
export function guarded(step: () => void, onFault: (fault: FrameFault) => void): void {
  try {
    step()
  } catch (error) {
    if (!(error instanceof FrameFault)) throw error
    onFault(error)
  }
}
