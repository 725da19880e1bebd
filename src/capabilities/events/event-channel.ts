import type { Broadcast, Listening } from '../../platform/queue/index.ts'
import { EventRing } from './event-ring.ts'
import type { EventStream } from './event-stream.ts'
import { decodeChanges } from './pending-changes.ts'

/** The events of a project in this process, and the streams that show them. */
export class EventChannel {
  readonly ring = new EventRing()
  readonly streams = new Set<EventStream>()
  readonly #listening: Listening

  constructor(broadcast: Broadcast, project_id: string) {
    this.#listening = broadcast.listen(project_id, {
      onMessage: (message) => this.#add(message),
      onGap: () => {
        this.ring.skip()
        this.#wake()
      },
    })
  }

  /** Resolves when changes arrive. Until then, a stream could miss some without a sign. */
  get ready(): Promise<void> {
    return this.#listening.ready
  }

  /** Stops listening. The ids of its events are then unknown. */
  stop(): void {
    this.#listening.stop()
  }

  #add(message: Uint8Array): void {
    for (const changes of decodeChanges(message) ?? []) this.ring.add(changes)
    this.#wake()
  }

  #wake(): void {
    for (const stream of this.streams) stream.wake()
  }
}
