import { type ControlFrame, FrameReader, type FrameSink } from './frame-reader.ts'
import { opcodes } from './frames.ts'
import { MessageHead } from './message-head.ts'
import type { SocketCall } from './socket-call.ts'

/** Events after which a response has no others. */
const lastEvents: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'error',
])

type AnswerTapOptions = {
  /** The calls that run, the oldest first. */
  calls: readonly SocketCall[]
  /** Bytes of a message that are held while it is not clear whose it is. */
  held_bytes_max: number
  /** Called with a call and the type of its last event. */
  onLastEvent: (call: SocketCall, type: string) => void
  onClose: () => void
}

/** Reads the frames of a provider beside their way to the client, and adds each event to its call. */
export class AnswerTap implements FrameSink {
  readonly reader: FrameReader
  /** The offset in the last chunk after its last whole message; -1 without one. */
  boundary = -1
  readonly #options: AnswerTapOptions
  #head: MessageHead | undefined
  #call: SocketCall | undefined
  #held: Buffer[] | undefined
  #heldBytes = 0

  constructor(options: AnswerTapOptions) {
    this.#options = options
    const limits = { isMasked: false, message_bytes_max: Number.MAX_SAFE_INTEGER }
    this.reader = new FrameReader(limits, this)
  }

  /** Reads the next bytes. Throws FrameFault. */
  push(chunk: Buffer): void {
    this.boundary = this.reader.isAtBoundary ? 0 : -1
    this.reader.push(chunk)
  }

  part(payload: Buffer): void {
    this.#head ??= this.#begin()
    this.#head.push(payload)
    if (this.#held === undefined) this.#call?.addToEvent(payload)
    else this.#hold(this.#held, payload)
  }

  message(end: number): void {
    const { calls, onLastEvent } = this.#options
    this.boundary = end
    const head = this.#head
    if (head === undefined) return
    if (this.#held !== undefined) this.#release(this.#held, ownerOf(calls, head))
    const call = this.#call
    this.#head = undefined
    this.#call = undefined
    call?.endEvent()
    if (call !== undefined && lastEvents.has(head.type)) onLastEvent(call, head.type)
  }

  control({ opcode, isInMessage }: ControlFrame, end: number): void {
    if (opcode === opcodes.close) this.#options.onClose()
    else if (!isInMessage) this.boundary = end
  }

  #begin(): MessageHead {
    const { calls } = this.#options
    if (calls.length > 1) {
      this.#held = []
      this.#heldBytes = 0
    } else {
      this.#call = calls[0]
      this.#call?.beginEvent()
    }
    return new MessageHead({ wantsStream: calls.length > 1 && calls.some(hasStream) })
  }

  #hold(held: Buffer[], payload: Buffer): void {
    held.push(payload)
    this.#heldBytes += payload.length
    const { calls, held_bytes_max } = this.#options
    if (this.#heldBytes > held_bytes_max && this.#head) {
      this.#release(held, ownerOf(calls, this.#head))
    }
  }

  #release(held: readonly Buffer[], call: SocketCall | undefined): void {
    this.#held = undefined
    this.#call = call
    call?.beginEvent()
    for (const part of held) call?.addToEvent(part)
  }
}

function hasStream({ stream_id }: SocketCall): boolean {
  return stream_id !== ''
}

/**
 * Returns the call of an event: that of its stream. Calls without one run one after another; an error
 * before the first event of a call refuses that call.
 */
function ownerOf(calls: readonly SocketCall[], head: MessageHead): SocketCall | undefined {
  const ofStream = calls.filter(({ stream_id }) => stream_id === head.stream_id)
  const refused = head.type === 'error' ? ofStream.find(({ hasEvents }) => !hasEvents) : undefined
  return refused ?? ofStream[0] ?? calls[0]
}
