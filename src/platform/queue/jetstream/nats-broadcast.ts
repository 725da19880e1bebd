import type { NatsConnection, Subscription } from '@nats-io/transport-node'
import { sleep } from '../../../kernel/time.ts'
import type { Broadcast, BroadcastListener, Listening } from '../broadcast.ts'
import { assertProjectId } from '../publishing.ts'

/** Maximum wait for NATS to confirm that it delivers messages to a new listener. */
const confirm_ms_max = 2_000

type Entry = { listener: BroadcastListener; subscription: Subscription | undefined }

/**
 * A broadcast on subjects of core NATS, `<prefix>_live.<project>`, which no stream stores. Each project has
 * its own subject, so that a process gets messages of the projects that it listens to only.
 */
export class NatsBroadcast implements Broadcast {
  readonly #prefix: string
  readonly #isUp: () => boolean
  readonly #entries = new Map<string, Set<Entry>>()
  #nc: NatsConnection | undefined

  /** `isUp` returns whether the connection works. */
  constructor(prefix: string, isUp: () => boolean) {
    this.#prefix = prefix
    this.#isUp = isUp
  }

  /** Uses a new connection, or one that was interrupted: its client renews the subscriptions. */
  connected(nc: NatsConnection): void {
    const isNew = this.#nc !== nc
    this.#nc = nc
    for (const [project_id, entries] of this.#entries) {
      for (const entry of entries) {
        if (isNew) this.#subscribe(project_id, entry)
        entry.listener.onGap()
      }
    }
  }

  send(project_id: string, data: Uint8Array): boolean {
    if (this.#nc === undefined || !this.#isUp()) return false
    try {
      this.#nc.publish(this.#subjectOf(project_id), data)
      return true
    } catch {
      // The connection closed at this moment.
      return false
    }
  }

  listen(project_id: string, listener: BroadcastListener): Listening {
    const entry: Entry = { listener, subscription: undefined }
    const own = this.#entries.get(project_id) ?? new Set()
    this.#entries.set(project_id, own.add(entry))
    this.#subscribe(project_id, entry)
    return {
      ready: this.#confirm(),
      stop: () => {
        own.delete(entry)
        if (own.size === 0) this.#entries.delete(project_id)
        entry.subscription?.unsubscribe()
      },
    }
  }

  #subscribe(project_id: string, entry: Entry): void {
    if (this.#nc === undefined || this.#nc.isClosed()) return
    entry.subscription = this.#nc.subscribe(this.#subjectOf(project_id), {
      callback: (error, message) => {
        if (error === null) entry.listener.onMessage(message.data)
      },
    })
  }

  async #confirm(): Promise<void> {
    if (this.#nc === undefined || !this.#isUp()) return
    const late = new AbortController()
    const flushed = this.#nc.flush().catch(() => undefined)
    await Promise.race([flushed, sleep(confirm_ms_max, late.signal)])
    late.abort()
  }

  #subjectOf(project_id: string): string {
    assertProjectId(project_id)
    return `${this.#prefix}_live.${project_id}`
  }
}
