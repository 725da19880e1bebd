import type { Readable } from 'node:stream'
import { Problem, problem } from '../../kernel/problem.ts'
import { sleep } from '../../kernel/time.ts'
import type { Broadcast, Listening } from '../../platform/queue/index.ts'
import type { Metrics } from '../../platform/telemetry/index.ts'
import { EventRing } from './event-ring.ts'
import { EventStream } from './event-stream.ts'
import { decodeChanges } from './pending-changes.ts'
import type { Topics } from './topics.ts'

/** Limits of the streams of a process. */
export type HubSettings = {
  streams_per_project_max: number
  streams_max: number
  /** Interval of the comments that keep idle connections open. */
  keep_alive_ms: number
  /** Interval at which the rights of each stream are checked again. */
  check_ms: number
  /** Time for which the events of a project are kept after its last stream, for clients that return. */
  linger_ms: number
  /** Maximum wait for clients to take the end of their streams. */
  close_ms_max: number
}

/** A browser tab has one stream, and each is an open connection. */
const defaultHubSettings: HubSettings = {
  streams_per_project_max: 100,
  streams_max: 2_000,
  keep_alive_ms: 15_000,
  check_ms: 60_000,
  linger_ms: 300_000,
  close_ms_max: 1_000,
}

/** Consecutive checks that a store failed to answer, after which a stream ends. */
const maxFailedChecks = 3

const retryAfterSeconds = 10

export type HubOptions = {
  broadcast: Broadcast
  metrics: Metrics
  settings?: Partial<HubSettings>
}

/** A stream to open. */
export type StreamRequest = {
  project_id: string
  topics: Topics
  last_event_id: string | undefined
  /** Throws the Problem that a new request would get when the caller has lost the rights. */
  checkRights: () => Promise<void>
}

/** The event streams of a process, by project. */
export class EventHub {
  readonly #broadcast: Broadcast
  readonly #settings: HubSettings
  readonly #meters: HubMeters
  readonly #channels = new Map<string, EventChannel>()
  readonly #lingering = new Map<string, NodeJS.Timeout>()
  readonly #keepAlive: NodeJS.Timeout
  #streams = 0
  #isClosed = false

  constructor({ broadcast, metrics, settings }: HubOptions) {
    this.#broadcast = broadcast
    this.#settings = { ...defaultHubSettings, ...settings }
    this.#meters = hubMeters(metrics, () => this.#streams)
    this.#keepAlive = setInterval(
      () => this.#each((stream) => stream.keepAlive()),
      this.#settings.keep_alive_ms,
    )
    this.#keepAlive.unref()
  }

  /**
   * Opens a stream. Throws `overloaded` when the project or the process has its maximum of streams,
   * and `shutting_down`.
   */
  open(request: StreamRequest): Readable {
    const { project_id, topics, last_event_id } = request
    this.#assertRoom(project_id)
    const channel = this.#channelOf(project_id)
    let check: NodeJS.Timeout | undefined
    const stream = new EventStream({
      ring: channel.ring,
      topics,
      last_event_id,
      onEvent: (event) => this.#meters.events.inc({ event }),
      onClosed: () => {
        clearTimeout(check)
        this.#remove(project_id, channel, stream)
      },
    })
    channel.streams.add(stream)
    this.#streams += 1
    void channel.ready.then(() => stream.begin())
    const rights = { failures: 0, reads: 0 }
    const next = () => {
      check = setTimeout(() => {
        void this.#check(stream, request, rights).then(() => {
          if (!stream.destroyed) next()
        })
      }, this.#settings.check_ms).unref()
    }
    next()
    return stream
  }

  /** Ends all streams with `bye`, and resolves when their clients have taken it, or after a while. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#keepAlive)
    for (const timer of this.#lingering.values()) clearTimeout(timer)
    this.#each((stream) => stream.sayBye({ reason: 'shutdown', reconnect: true }))
    const late = performance.now() + this.#settings.close_ms_max
    while (this.#streams > 0 && performance.now() < late) await sleep(closePollMs)
    this.#each((stream) => stream.destroy())
    for (const channel of this.#channels.values()) channel.stop()
    this.#channels.clear()
  }

  #assertRoom(project_id: string): void {
    if (this.#isClosed) {
      throw problem('shutting_down', { retry_after_s: 1 })
    }
    const { streams_max, streams_per_project_max } = this.#settings
    const own = this.#channels.get(project_id)?.streams.size ?? 0
    const isOver = own >= streams_per_project_max
    if (!isOver && this.#streams < streams_max) return
    this.#meters.refused.inc({ by: isOver ? 'project' : 'process' })
    const detail = isOver
      ? `Limit reached: event streams of a project in one process: ${streams_per_project_max}. Close one, or poll.`
      : `Limit reached: event streams of one process: ${streams_max}. Try again later, or poll.`
    throw problem('overloaded', { detail, retry_after_s: retryAfterSeconds })
  }

  #channelOf(project_id: string): EventChannel {
    clearTimeout(this.#lingering.get(project_id))
    this.#lingering.delete(project_id)
    const channel = this.#channels.get(project_id) ?? new EventChannel(this.#broadcast, project_id)
    this.#channels.set(project_id, channel)
    return channel
  }

  #remove(project_id: string, channel: EventChannel, stream: EventStream): void {
    if (!channel.streams.delete(stream)) return
    this.#streams -= 1
    if (channel.streams.size > 0 || this.#isClosed) return
    // At most one per opened stream and linger time, so the process limit bounds them too.
    if (this.#lingering.size >= this.#settings.streams_max)
      this.#drop([...this.#lingering.keys()][0])
    const timer = setTimeout(() => this.#drop(project_id), this.#settings.linger_ms).unref()
    this.#lingering.set(project_id, timer)
  }

  #drop(project_id: string | undefined): void {
    if (project_id === undefined) return
    clearTimeout(this.#lingering.get(project_id))
    this.#lingering.delete(project_id)
    this.#channels.get(project_id)?.stop()
    this.#channels.delete(project_id)
  }

  /** Ends a stream whose caller has lost the rights, or whose client has taken nothing since the last check. */
  async #check(stream: EventStream, { checkRights }: StreamRequest, rights: Rights): Promise<void> {
    if (stream.isBlocked && stream.reads === rights.reads) {
      stream.destroy()
      return
    }
    rights.reads = stream.reads
    try {
      await checkRights()
      rights.failures = 0
    } catch (error) {
      const fault = error instanceof Problem ? error : problem('internal_error', { cause: error })
      rights.failures += 1
      // A store that gives no answer says nothing about the rights.
      if (fault.status >= 500 && rights.failures < maxFailedChecks) return
      stream.sayBye({ reason: fault.code, reconnect: fault.status >= 500 })
    }
  }

  #each(work: (stream: EventStream) => void): void {
    for (const channel of this.#channels.values()) {
      for (const stream of [...channel.streams]) work(stream)
    }
  }
}

const closePollMs = 10

/** The state of the checks of a stream. */
type Rights = { failures: number; reads: number }

/** The events of a project in this process, and the streams that show them. */
class EventChannel {
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

type HubMeters = ReturnType<typeof hubMeters>

/** Registers the metrics of event streams; call once per process. */
function hubMeters(metrics: Metrics, countStreams: () => number) {
  metrics.gauge({
    name: 'looptrace_event_streams',
    help: 'Open event streams of browsers and scripts.',
    collect: (self) => self.set(countStreams()),
  })
  return {
    events: metrics.counter({
      name: 'looptrace_events_sent_total',
      help: 'Events sent on event streams: change, and reset for a client that has missed events.',
      labels: ['event'],
    }),
    refused: metrics.counter({
      name: 'looptrace_event_streams_refused_total',
      help: 'Event streams that were refused because a project or the process was over its limit.',
      labels: ['by'],
    }),
  }
}
