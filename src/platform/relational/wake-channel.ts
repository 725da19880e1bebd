import pg from 'pg'
import { backOff } from '../../kernel/back-off.ts'
import { Bell } from '../../kernel/bell.ts'
import { sleep } from '../../kernel/time.ts'
import type { Logger } from '../telemetry/index.ts'
import { isDirectSession } from './direct-session.ts'

/** The kinds of work that triggers of the schema announce (`announce_due`). */
export type WakeTopic =
  | 'audit_reads'
  | 'certifications'
  | 'detection'
  | 'feedback'
  | 'feedback_counts'
  | 'incidents'
  | 'jobs'
  | 'mutes'
  | 'notifications'
  | 'roll_ups'
  | 'rules'

/** Waits of a loop between two looks for work. */
export type Waker = {
  /**
   * Resolves when work of the topic is announced, or when the signal aborts; otherwise after
   * `poll_ms`, or after the slow poll while announcements are received. With `until_ms`, the time
   * from now until work is known to be due, not later than that.
   */
  wait(poll_ms: number, signal: AbortSignal, until_ms?: number): Promise<void>
  /** Ends the wait: this process has made work. */
  ring(): void
}

/** Announcements of work to a process. */
export type Wakes = {
  waker(topic: WakeTopic): Waker
}

/** A waker of a process without announcements: it polls. */
export function pollingWakes(): Wakes {
  return { waker: () => toWaker(new Bell(), () => 0) }
}

/** The announcements of a process, until it closes. */
export type WakeChannel = Wakes & {
  /** Whether announcements are received now. */
  isListening(): boolean
  close(): Promise<void>
}

/** Options of a channel. */
export type WakeChannelOptions = {
  /** As in `RelationalOptions`. */
  url: string
  logger: Logger
  /** Longest wait of a loop while announcements are received. */
  slow_poll_ms?: number
}

/** A loop looks this often even if nothing was announced: an announcement may be lost. */
const slow_poll_ms_default = 20_000

const channel = 'looptrace_due'
const reconnect = { base_ms: 250, max_ms: 10_000 }
const connect_ms_max = 5_000
/** Time between two checks that the connection still answers, and the wait for the answer. */
const check_ms = 60_000
const answer_ms_max = 10_000

/**
 * Opens a connection that receives announcements (LISTEN). Without a connection, and behind a pooler,
 * loops poll as often as without announcements. All loops look once after
 * each connect, because announcements before it were not received.
 */
export function openWakeChannel(options: WakeChannelOptions): WakeChannel {
  const { logger, slow_poll_ms = slow_poll_ms_default } = options
  const bells = new Map<string, Bell[]>()
  const closing = new AbortController()
  let isListening = false
  const connection = new Listener(options, {
    onConnected: () => {
      isListening = true
      for (const bell of [...bells.values()].flat()) bell.ring()
    },
    onLost: () => {
      isListening = false
      for (const bell of [...bells.values()].flat()) bell.ring()
    },
    onAnnounced: (payload) => {
      const [topic = '', delay_ms = '0'] = payload.split(' ')
      for (const bell of bells.get(topic) ?? []) bell.ringAfter(Number(delay_ms))
    },
  })
  const ended = connection.run(closing.signal).catch((error: unknown) => {
    logger.error({ err: error }, 'receiving announcements ended; polling instead')
  })
  return {
    isListening: () => isListening,
    waker: (topic) => {
      const bell = new Bell()
      bells.set(topic, [...(bells.get(topic) ?? []), bell])
      return toWaker(bell, () => (isListening ? slow_poll_ms : 0))
    },
    close: async () => {
      closing.abort()
      await ended
      for (const bell of [...bells.values()].flat()) bell.close()
    },
  }
}

function toWaker(bell: Bell, readSlowPoll: () => number): Waker {
  return {
    ring: () => bell.ring(),
    wait: (poll_ms, signal, until_ms = Number.POSITIVE_INFINITY) => {
      const longest_ms = Math.max(poll_ms, readSlowPoll())
      return bell.wait(Math.max(0, Math.min(longest_ms, until_ms)), signal)
    },
  }
}

type Events = {
  onConnected: () => void
  onLost: () => void
  onAnnounced: (payload: string) => void
}

/** Keeps one listening connection. */
class Listener {
  readonly #options: WakeChannelOptions
  readonly #events: Events

  constructor(options: WakeChannelOptions, events: Events) {
    this.#options = options
    this.#events = events
  }

  async run(closing: AbortSignal): Promise<void> {
    const { logger } = this.#options
    for (let failures = 0; !closing.aborted; failures += 1) {
      const client = this.#newClient()
      try {
        if (!(await this.#listen(client))) {
          logger.info('PostgreSQL is behind a pooler without sessions; polling for work')
          return
        }
        failures = 0
        this.#events.onConnected()
        await this.#untilLost(client, closing)
      } catch (error) {
        // The error may contain the client with its password, so only its message is logged.
        const reason = error instanceof Error ? error.message : String(error)
        if (!closing.aborted) logger.debug({ reason }, 'no connection for announcements; polling')
      } finally {
        this.#events.onLost()
        await client.end().catch(() => undefined)
      }
      await sleep(backOff(reconnect, failures + 1), closing)
    }
  }

  #newClient(): pg.Client {
    const client = new pg.Client({
      connectionString: this.#options.url,
      connectionTimeoutMillis: connect_ms_max,
      query_timeout: answer_ms_max,
      keepAlive: true,
      application_name: 'looptrace announcements',
    })
    // Without a handler, the process would exit. `end` follows.
    client.on('error', () => undefined)
    client.on('notification', ({ payload }) => this.#events.onAnnounced(payload ?? ''))
    return client
  }

  /** Returns false behind a pooler: a session of its own would be needed. */
  async #listen(client: pg.Client): Promise<boolean> {
    await client.connect()
    if (!(await isDirectSession(client))) return false
    await client.query(`listen ${channel}`)
    return true
  }

  /** Resolves when the connection is lost, or closing. */
  async #untilLost(client: pg.Client, closing: AbortSignal): Promise<void> {
    const lost = new AbortController()
    client.once('end', () => lost.abort())
    client.once('error', () => lost.abort())
    const over = AbortSignal.any([closing, lost.signal])
    while (!over.aborted) {
      await sleep(check_ms, over)
      // A connection whose other end is gone gives no error until something is sent.
      if (!over.aborted) await client.query('select 1')
    }
  }
}
