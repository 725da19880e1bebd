import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  type TlsOptions,
} from '@nats-io/transport-node'
import { backOff } from '../../../kernel/back-off.ts'
import { sleep } from '../../../kernel/time.ts'
import { QueueUnavailable } from '../contract.ts'
import { type QueueLogger, queueJitter } from '../run-batch.ts'
import { type NatsCredentials, natsServers } from './nats-servers.ts'

/** Options of the connection to NATS. */
export type JetStreamConnectionOptions = {
  servers: readonly string[]
  credentials?: NatsCredentials
  tls?: TlsOptions
  /** Maximum time of an attempt to connect. Default 5 seconds. */
  connect_timeout_ms?: number
  logger: QueueLogger
}

const reconnect_ms_min = 250
const reconnect_ms_max = 5_000
/**
 * Delay between two preparations. A cluster that has lost a server elects leaders for some seconds, and
 * works at once after that.
 */
const prepareDelayMs = 250
/** Time in which a server has completely deleted a stream. */
const deleted_ms = 500

/**
 * The connection of a queue. It connects in the background, and reconnects for ever with a jittered
 * back-off. `connected` is called for each connection before it counts as up, and is retried until
 * it resolves.
 */
export class JetStreamConnection {
  readonly #options: JetStreamConnectionOptions
  readonly #onUp: (nc: NatsConnection) => Promise<void>
  readonly #onDown: (error: QueueUnavailable) => void
  readonly #closing = new AbortController()
  #nc: NatsConnection | undefined
  #up = false
  #session = new AbortController()
  #changed = Promise.withResolvers<void>()
  /** Counts changes of state. A change invalidates a preparation in progress. */
  #turns = 0
  #downSinceMs = performance.now()
  #preparing: Promise<void> | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(
    options: JetStreamConnectionOptions,
    listeners: {
      connected: (nc: NatsConnection) => Promise<void>
      disconnected: (error: QueueUnavailable) => void
    },
  ) {
    this.#options = options
    this.#onUp = listeners.connected
    this.#onDown = listeners.disconnected
  }

  /** Starts connecting. Resolves when connected, or after the timeout. */
  async start(): Promise<void> {
    const connectOptions = connectOptionsOf(this.#options, () => this.#reconnectDelayMs())
    this.#ended = this.#keepConnected(connectOptions)
    await this.untilUp(AbortSignal.timeout(connectTimeoutOf(this.#options)))
  }

  get isUp(): boolean {
    return this.#up
  }

  /** The connection and a signal for its end. Throws QueueUnavailable when it is down. */
  get session(): { nc: NatsConnection; over: AbortSignal } {
    if (this.#nc === undefined || !this.#up) throw this.#unavailable()
    return { nc: this.#nc, over: this.#session.signal }
  }

  /** Maximum payload of the server, with headers; undefined before the first connection. */
  get max_payload(): number | undefined {
    return this.#nc?.info?.max_payload
  }

  /** Resolves when the connection is up or the signal aborts. */
  async untilUp(signal: AbortSignal): Promise<void> {
    while (!this.#up && !signal.aborted) await this.#change(signal)
  }

  /**
   * Creates the streams again after one was found missing. Waits first: a stream that is created
   * while the server still deletes its predecessor never works (seen with nats-server 2.14.5: it is
   * listed, but acknowledges nothing).
   */
  prepareAgain(): void {
    if (this.#nc !== undefined) this.#prepare(this.#nc, deleted_ms)
  }

  /**
   * Counts as down until the streams answer again. Servers may be connected and have no leader for a
   * stream, and then acknowledge nothing.
   */
  suspect(): void {
    if (this.#nc === undefined || !this.#up) return
    this.#options.logger.warn({}, 'NATS is connected, but acknowledges nothing')
    this.#down()
    this.#prepare(this.#nc)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#down()
    await this.#nc?.close()
    await this.#ended
  }

  async #keepConnected(options: NodeConnectionOptions): Promise<void> {
    const { signal } = this.#closing
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const nc = await connect(options)
        attempt = 1
        await this.#use(nc)
      } catch (error) {
        if (attempt === 1) this.#options.logger.warn({ err: error }, 'connecting to NATS failed')
      }
      await sleep(reconnectDelayMs(attempt), signal)
    }
  }

  /** Follows a connection until it is closed. */
  async #use(nc: NatsConnection): Promise<void> {
    if (this.#closing.signal.aborted) return nc.close()
    this.#nc = nc
    this.#prepare(nc)
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        if (this.#up)
          this.#options.logger.warn({ server: status.server }, 'the connection to NATS was lost')
        this.#down()
      }
      if (status.type === 'reconnect') this.#prepare(nc)
      if (status.type === 'error') {
        this.#options.logger.warn({ err: status.error }, 'NATS reports an error')
      }
    }
    this.#down()
  }

  /** Prepares the streams with retries, then marks the connection as up. One run at a time. */
  #prepare(nc: NatsConnection, after_ms = 0): void {
    this.#turns += 1
    this.#preparing ??= sleep(after_ms, this.#closing.signal)
      .then(() => this.#prepareUntilDone(nc))
      .finally(() => {
        this.#preparing = undefined
      })
  }

  async #prepareUntilDone(nc: NatsConnection): Promise<void> {
    const { signal } = this.#closing
    for (let attempt = 1; !signal.aborted && !nc.isClosed(); attempt += 1) {
      const turns = this.#turns
      try {
        await this.#onUp(nc)
        if (turns !== this.#turns) continue
        this.#session.abort()
        this.#up = true
        this.#session = new AbortController()
        this.#notifyChange()
        this.#options.logger.info({ server: nc.getServer() }, 'connected to NATS')
        return
      } catch (error) {
        if (attempt === 1)
          this.#options.logger.error({ err: error }, 'preparing the streams failed')
      }
      await sleep(prepareDelayMs, signal)
    }
  }

  /** Returns a quarter of the downtime, within bounds and with jitter. */
  #reconnectDelayMs(): number {
    const away_ms = performance.now() - this.#downSinceMs
    const delay_ms = Math.min(reconnect_ms_max, Math.max(reconnect_ms_min, away_ms / 4))
    return Math.round(delay_ms * (1 - Math.random() / 4))
  }

  #down(): void {
    if (this.#up) this.#downSinceMs = performance.now()
    this.#turns += 1
    this.#up = false
    this.#session.abort()
    this.#notifyChange()
    this.#onDown(this.#unavailable())
  }

  #unavailable(): QueueUnavailable {
    if (!this.#closing.signal.aborted) return new QueueUnavailable('NATS is unavailable')
    return new QueueUnavailable('the queue is closed', { reason: 'closed' })
  }

  #notifyChange(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  async #change(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>()
    const resolve = () => aborted.resolve()
    signal.addEventListener('abort', resolve, { once: true })
    await Promise.race([this.#changed.promise, aborted.promise])
    signal.removeEventListener('abort', resolve)
  }
}

function connectTimeoutOf({ connect_timeout_ms = 5_000 }: JetStreamConnectionOptions): number {
  return connect_timeout_ms
}

function connectOptionsOf(
  options: JetStreamConnectionOptions,
  reconnectDelayHandler: () => number,
): NodeConnectionOptions {
  const servers = natsServers(options.servers)
  const credentials = options.credentials ?? servers.credentials
  const tls = options.tls ?? (servers.tls ? {} : undefined)
  return {
    servers: servers.addresses,
    name: 'looptrace',
    timeout: connectTimeoutOf(options),
    // Two missed answers close the connection.
    pingInterval: 10_000,
    maxPingOut: 2,
    reconnect: true,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
    reconnectDelayHandler,
    ...(tls && { tls }),
    ...(credentials && authenticationOf(credentials)),
  }
}

function authenticationOf(credentials: NatsCredentials): NodeConnectionOptions {
  switch (credentials.kind) {
    case 'token':
      return { token: credentials.token }
    case 'password':
      return { user: credentials.user, pass: credentials.password }
    case 'creds':
      return { authenticator: credsAuthenticator(Buffer.from(credentials.creds)) }
    case 'nkey':
      return { authenticator: nkeyAuthenticator(Buffer.from(credentials.seed)) }
  }
}

function reconnectDelayMs(attempt: number): number {
  const rule = { base_ms: reconnect_ms_min, max_ms: reconnect_ms_max, jitter: queueJitter }
  return backOff(rule, attempt)
}
