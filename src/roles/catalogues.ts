import type { Access } from '../capabilities/access/index.ts'
import { journalGauge, refusalSpoolGauge } from '../capabilities/audit/index.ts'
import { type OtlpReceiver, otlpRoutes } from '../capabilities/edge/otlp/index.ts'
import { type CompletionProxy, proxyRoutes } from '../capabilities/edge/proxy/index.ts'
import { startIngest } from '../capabilities/ingest/index.ts'
import { sleep, systemClock } from '../kernel/time.ts'
import { apiAnswerCounter, createOperatorMetrics } from '../operator/index.ts'
import { columnarMeters } from '../platform/columnar/index.ts'
import { loadConfig, type RoleConfig, version } from '../platform/config/index.ts'
import {
  createHttpServer,
  frontPageRoute,
  openapiRoute,
  type RawRoute,
  type Route,
} from '../platform/http/index.ts'
import { absentJournal } from '../platform/journal/index.ts'
import { createLogger, createMetrics, type Metrics } from '../platform/telemetry/index.ts'
import { openAuditStreams } from './audit-streams.ts'
import { controlRoutes } from './control-routes.ts'
import { restartCounter } from './data-folder.ts'
import { openDetection, openJudge } from './detection.ts'
import { openAnnouncer, openEventHub } from './events.ts'
import { openFeedback } from './feedback.ts'
import { noSender, openEvaluator, openFindingRules } from './incidents.ts'
import { openIntake } from './intake.ts'
import { openHotWindows, openJobs } from './jobs.ts'
import { connectionLimits } from './listen.ts'
import { openConfiguredMailer, openNotifications } from './notifications.ts'
import { openOtlp, openProxy, openRecorder } from './proxy.ts'
import { openQueryRuns } from './queries.ts'
import { spoolCounter, watchQueue, watchSpool } from './queues.ts'
import type { RoleContext } from './running.ts'
import { openVerification } from './verification.ts'
import { toIngestSettings } from './worker.ts'

/**
 * Returns every route of every role with absent dependencies, for the reference pages and the tests
 * of routes. The routes cannot be served.
 */
export function routeCatalogue(): (Route | RawRoute)[] {
  const absent: object = new Proxy({}, { get: () => absent })
  const routes: (Route | RawRoute)[] = [
    ...proxyRoutes(absent as CompletionProxy),
    ...otlpRoutes(absent as OtlpReceiver),
    ...controlRoutes(absent as Access, absent as Parameters<typeof controlRoutes>[1]),
  ]
  routes.push(
    openapiRoute(() => routes, version),
    frontPageRoute(() => routes, version),
  )
  return routes
}

/** A registered metric. */
type RegisteredMetric = {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  labels: readonly string[]
  help: string
}

/**
 * Returns every metric of every role, sorted by name. The openers of the roles register them with
 * absent dependencies: nothing is read, and no port is opened.
 */
export async function metricCatalogue(): Promise<RegisteredMetric[]> {
  const found: RegisteredMetric[] = []
  await using parts = new AsyncDisposableStack()
  const context: RoleContext = {
    logger: createLogger({ role: 'metrics', level: 'silent' }),
    metrics: recordMetrics(createMetrics(), found),
    clock: systemClock,
    parts,
    checks: [],
    whenReady: [],
    stop: new AbortController().signal,
    ports: {},
    fail: () => undefined,
  }
  await openAll(context, { ...loadConfig('all', {}), otlp_grpc_port: undefined })
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

async function openAll(context: RoleContext, config: RoleConfig<'all'>): Promise<void> {
  const { metrics, parts } = context
  const intake = openIntake(context, config, { queue: absent, db: absent })
  const recorder = openRecorder(context, config, { queue: absent, intake, journal: absentJournal })
  const proxy = openProxy(context, config, { keys: absent, recorder })
  parts.defer(() => proxy.close())
  await openOtlp(context, config, { keys: absent, intake })
  const server = await createHttpServer({
    ...context,
    routes: [],
    authorize: absent,
    audit: absent,
    idempotency: absent,
    ...connectionLimits,
    rate_per_minute_max: config.http_rate_per_minute_max,
  })
  parts.defer(() => server.close())
  const stores = { db: absent, store: absent, records: absent, ledger: absent, queue: absent }
  const ingest = await startIngest({
    ...context,
    ...stores,
    markDue: absent,
    erased: absent,
    settings: toIngestSettings(config),
  })
  parts.defer(() => ingest.stop())
  const onFindings = openFindingRules(context, noSender)
  openDetection(context, config, {
    ...stores,
    onFindings,
    judge: openJudge(context, config, stores),
  })
  openVerification(context, config, { ...stores, onFindings })
  openFeedback(context, { db: absent })
  openEvaluator(context, { ...stores, relational: absent, columnar: absent, ...noSender })
  const forJobs = { db: absent, retention: absent, ledger: absent }
  openJobs(context, config, { ...forJobs, concurrency_max: 0 }, [])
  openHotWindows(context, { db: absent, columnar: absent, relational: absent })
  openQueryRuns(context, config, {
    columnar: absent,
    relational: absent,
    reads: absent,
    db: absent,
    chooseStore: absent,
    onServed: absent,
  })
  const mailer = openConfiguredMailer(context, config)
  openNotifications(context, config, { db: absent, relational: absent, columnar: absent, mailer })
  const audit_stream_otlp_url = 'http://unused.invalid/'
  openAuditStreams(context, { ...config, audit_stream_otlp_url }, { db: absent })
  refusalSpoolGauge(metrics)
  journalGauge(metrics)
  apiAnswerCounter(metrics)
  createOperatorMetrics(metrics, { clock: systemClock, sleep, random: () => 0 })
  openAnnouncer(context, { relational: absent, broadcast: absent })
  const events = openEventHub(context, absent)
  parts.defer(() => events.close())
  watchQueue(context, absent)
  spoolCounter(metrics)
  watchSpool(metrics, absent)
  columnarMeters(metrics)
  restartCounter(metrics, 'postgres')
  restartCounter(metrics, 'clickhouse')
}

/** A placeholder for any dependency. Its properties and results are placeholders too. */
const absent = new Proxy(() => absent, {
  get: (_, name) => (name === 'then' ? undefined : absent),
  apply: () => absent,
}) as never

/** Wraps `metrics`, and records the registered metrics. */
function recordMetrics(metrics: Metrics, found: RegisteredMetric[]): Metrics {
  const note = (
    type: RegisteredMetric['type'],
    definition: Omit<RegisteredMetric, 'type' | 'labels'>,
  ) => {
    const { name, help } = definition
    const labels = 'labels' in definition ? (definition.labels as readonly string[]) : []
    found.push({ name, type, labels, help })
  }
  return {
    counter: (definition) => {
      note('counter', definition)
      return metrics.counter(definition)
    },
    gauge: (definition) => {
      note('gauge', definition)
      return metrics.gauge(definition)
    },
    histogram: (definition) => {
      note('histogram', definition)
      return metrics.histogram(definition)
    },
    expose: () => metrics.expose(),
  }
}
