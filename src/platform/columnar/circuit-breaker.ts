import { sleep } from '../../kernel/time.ts'
import type { Logger, Metrics } from '../telemetry/index.ts'
import { ColumnarUnavailable } from './contract.ts'

/** When a breaker asks the server, and when it opens. */
export type BreakerLimits = {
  /** Age of a read without an answer at which the server is asked. */
  suspect_ms: number
  /** Consecutive unanswered probes that open the breaker. */
  silent_probes_max: number
  /** Wait between two probes of an open breaker. */
  rest_ms: number
}

const defaultBreakerLimits: BreakerLimits = {
  suspect_ms: 2_000,
  silent_probes_max: 3,
  rest_ms: 1_000,
}

/** `silent`: no answer in time. `failed`: the connection broke, which a read would notice at once. */
export type ProbeResult = 'answered' | 'silent' | 'failed'

type BreakerOptions = {
  logger: Logger
  /** Without them, nothing is measured. */
  meters?: ReturnType<typeof columnarMeters>
  /** Asks the server something small, over a new connection. Never rejects. */
  probe: () => Promise<ProbeResult>
  limits?: BreakerLimits | undefined
}

export type CircuitBreaker = {
  /** Whether reads are refused. */
  readonly isOpen: boolean
  /** Runs a read. Rejects with ColumnarUnavailable, without running it, while the breaker is open. */
  run<T>(read: () => Promise<T>): Promise<T>
  /** Ends the probes. */
  stop(): Promise<void>
}

/**
 * Opens a breaker for the reads of a server. A read that waits long only makes it ask the server, so slow
 * reads and full connection pools never open it: a server that answers a probe is not hung.
 */
export function openCircuitBreaker(options: BreakerOptions): CircuitBreaker {
  const { probe, meters, logger, limits = defaultBreakerLimits } = options
  const stopped = new AbortController()
  let probing: Promise<void> | undefined
  let isOpen = false
  let silentProbes = 0
  const change = (open: boolean) => {
    if (isOpen === open) return
    isOpen = open
    meters?.answers.set(open ? 0 : 1)
    if (open) logger.warn('ClickHouse does not answer; reads are refused until it does')
    else logger.info('ClickHouse answers again; reads are accepted')
  }
  const probeUntilAnswered = async () => {
    silentProbes = 0
    while (!stopped.signal.aborted) {
      const result = await probe()
      if (result === 'answered') return change(false)
      if (isOpen) await sleep(limits.rest_ms, stopped.signal)
      else if (result === 'failed') return
      else silentProbes += 1
      if (silentProbes >= limits.silent_probes_max) change(true)
    }
  }
  const suspect = () => {
    probing ??= probeUntilAnswered().finally(() => {
      probing = undefined
    })
  }
  return {
    get isOpen() {
      return isOpen
    },
    async run(read) {
      if (isOpen) {
        meters?.refused.inc()
        throw new ColumnarUnavailable('ClickHouse does not answer', { isSent: false })
      }
      const timer = setTimeout(suspect, limits.suspect_ms)
      try {
        const answer = await read()
        silentProbes = 0
        return answer
      } finally {
        clearTimeout(timer)
      }
    },
    stop: async () => {
      stopped.abort()
      await probing
    },
  }
}

/** Registers the metrics; once per process. */
export function columnarMeters(metrics: Metrics) {
  const answers = metrics.gauge({
    name: 'looptrace_clickhouse_answers',
    help: 'Whether ClickHouse answers: 0 while reads are refused because it left probes unanswered, else 1. Only a slow read causes a probe, so the value is 1 before the first read, and for a server that answers probes and hangs in reads.',
  })
  answers.set(1)
  const refused = metrics.counter({
    name: 'looptrace_clickhouse_reads_refused_total',
    help: 'Reads that were refused because ClickHouse does not answer.',
  })
  return { answers, refused }
}
