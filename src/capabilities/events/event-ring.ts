import { randomBytes } from 'node:crypto'
import type { Changes } from './pending-changes.ts'

/** Events of a project that a stream can replay. */
export const maxRingEvents = 1_000

/** Ids in these events, which bounds the memory of a project to some megabytes. */
const maxRingIds = 10_000

/** An event: the changes of one kind, at a position of the ring. */
export type RingEvent = Changes & { position: number }

/**
 * The latest events of a project in this process. Positions grow by one from event to event. A reader
 * keeps its position, and reads on from there or learns that it has missed events.
 */
export class EventRing {
  readonly #events = new Map<number, RingEvent>()
  readonly #name = randomBytes(6).toString('hex')
  #last = 0
  #ids = 0

  /** Position of the newest event; 0 before the first. */
  get last(): number {
    return this.#last
  }

  get size(): number {
    return this.#events.size
  }

  /** Adds an event, and drops the oldest ones above the bounds. */
  add(changes: Changes): void {
    this.#last += 1
    this.#events.set(this.#last, { ...changes, position: this.#last })
    this.#ids += changes.changed.length
    for (const [position, { changed }] of this.#events) {
      if (this.#events.size <= maxRingEvents && this.#ids <= maxRingIds) return
      this.#events.delete(position)
      this.#ids -= changed.length
    }
  }

  /** Notes that events were lost: every reader has missed some. */
  skip(): void {
    this.#events.clear()
    this.#ids = 0
    this.#last += 1
  }

  /**
   * Returns the event after a position; undefined after the newest one, and `missed` when it is no
   * longer in the ring.
   */
  next(position: number): RingEvent | 'missed' | undefined {
    if (position === this.#last) return undefined
    return this.#events.get(position + 1) ?? 'missed'
  }

  /** Returns the id of an event at a position, for `Last-Event-ID`. */
  idAt(position: number): string {
    return `${this.#name}-${position}`
  }

  /** Returns the position of an id; undefined for one of another ring, or of no event so far. */
  positionOf(id: string): number | undefined {
    const [name, digits = ''] = id.split('-')
    if (name !== this.#name || !/^\d{1,15}$/.test(digits)) return undefined
    const position = Number(digits)
    return position <= this.#last ? position : undefined
  }
}
