import { setTimeout as sleep } from 'node:timers/promises'
import { backOff } from '../../kernel/back-off.ts'
import { MessageTooLarge, type OutgoingMessage, QueueUnavailable } from './contract.ts'

const idPattern = /^[\x21-\x7e]{1,200}$/
const projectPattern = /^[A-Za-z0-9_-]{1,64}$/
const subjectPattern = /^[a-z][a-z0-9-]{0,31}\.[A-Za-z0-9_-]{1,64}$/

/**
 * Checks a message for all drivers. Throws MessageTooLarge, or TypeError for an invalid id or
 * subject. Both are permanent errors of the caller.
 */
export function assertMessage(message: OutgoingMessage, message_bytes_max: number): void {
  const { id, subject, data } = message
  if (!idPattern.test(id)) {
    throw new TypeError(`message id "${id}": expected 1 to 200 visible ASCII characters`)
  }
  if (!subjectPattern.test(subject)) {
    throw new TypeError(`message subject "${subject}": expected <kind>.<project_id>`)
  }
  if (data.length > message_bytes_max) {
    throw new MessageTooLarge(
      `the message has ${data.length} bytes, expected at most ${message_bytes_max}`,
    )
  }
}

/**
 * Checks the project of a filter for all drivers. Throws TypeError: in a filter of subjects, `*`
 * and `>` would match the messages of every project.
 */
export function assertProjectId(project_id: string | undefined): void {
  if (project_id === undefined || projectPattern.test(project_id)) return
  throw new TypeError(`project_id "${project_id.slice(0, 80)}": expected letters, digits, _ or -`)
}

/**
 * Bounds the payloads of publishes in progress, so that a stalled store cannot fill the memory.
 * Above the bound, publishes reject with QueueUnavailable, `busy`.
 */
export class PublishesInProgress {
  readonly #bytes_max: number
  readonly #running = new Set<Promise<unknown>>()
  #bytes = 0

  constructor(bytes_max: number) {
    this.#bytes_max = bytes_max
  }

  /** Runs a publish of `bytes` if the bound allows it. */
  async run(bytes: number, publish: () => Promise<void>): Promise<void> {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytes_max) {
      throw new QueueUnavailable(
        `publishes of ${this.#bytes} bytes are in progress, expected at most ${this.#bytes_max}`,
        { reason: 'busy' },
      )
    }
    this.#bytes += bytes
    const running = publish()
    this.#running.add(running)
    try {
      await running
    } finally {
      this.#bytes -= bytes
      this.#running.delete(running)
    }
  }

  /** Resolves when all current publishes have ended, successfully or not. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running)
  }
}

/** Maximum attempts of a publish, and the first delay between them, which doubles. */
export type RetryLimits = { attempts_max: number; delay_ms: number }

/**
 * Publishes with retries under the same id, so that the message is stored once. The delay doubles
 * with each attempt. Resolves with undefined once the message is durable, or with the last error.
 */
export async function publishWithRetries(
  publish: (message: OutgoingMessage) => Promise<void>,
  message: OutgoingMessage,
  { attempts_max, delay_ms }: RetryLimits,
): Promise<Error | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await publish(message)
      return undefined
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      if (attempt >= attempts_max || error instanceof MessageTooLarge) return failure
    }
    await sleep(backOff({ base_ms: delay_ms }, attempt), undefined, { ref: false })
  }
}

const maxDefaultFree = 16

/** A pool of equal buffers, because allocating a buffer costs more than filling it. */
export class FramePool {
  readonly frame_bytes: number
  readonly #free: Buffer[] = []
  readonly #free_max: number

  /** Keeps up to `free_max` unused buffers. */
  constructor(frame_bytes: number, free_max = maxDefaultFree) {
    this.frame_bytes = frame_bytes
    this.#free_max = free_max
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.frame_bytes)
  }

  give(buffer: Buffer): void {
    if (this.#free.length < this.#free_max) this.#free.push(buffer)
  }
}
