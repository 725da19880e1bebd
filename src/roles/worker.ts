import {
  type ContextJudge,
  markDue,
  markKnownDue,
  type OnFindings,
} from '../capabilities/detection/index.ts'
import { settleRequests } from '../capabilities/edge/batches/index.ts'
import { signalMinutesChore } from '../capabilities/incidents/index.ts'
import {
  defaultIngestSettings,
  type IngestSettings,
  recentTracesChore,
  startIngest,
} from '../capabilities/ingest/index.ts'
import { leftLedgerChore } from '../capabilities/ledger/index.ts'
import { openLateErasure } from '../capabilities/lifecycle/retention/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { Mailer } from '../platform/mail/index.ts'
import type { BroadcastingQueue } from '../platform/queue/index.ts'
import type { Wakes } from '../platform/relational/index.ts'
import { openAudit } from './audit.ts'
import { openCertification } from './certification.ts'
import { openDetection, openJudge } from './detection.ts'
import { openAnnouncer } from './events.ts'
import { openFeedback } from './feedback.ts'
import { openEvaluator, openFindingRules } from './incidents.ts'
import { type JobParts, openArchives, openHotWindows, openJobs } from './jobs.ts'
import { openConfiguredMailer, openNotifications } from './notifications.ts'
import { openWakes } from './postgres.ts'
import { openClusterQueue } from './queues.ts'
import { type RoleContext, type Running, run } from './running.ts'
import { openStores, type Stores } from './stores.ts'
import { openVerification } from './verification.ts'

/** Starts role `worker`: stores records of the queue, runs detection and jobs. */
export function startWorker(config: RoleConfig<'worker'>, stop: AbortSignal): Promise<Running> {
  return run('worker', config, stop, (context) => start(context, config))
}

async function start(context: RoleContext, config: RoleConfig<'worker'>): Promise<void> {
  const stores = openStores(context, config)
  const queue = await openClusterQueue(context, config)
  const { jobs, wakes } = await openWork(context, config, { ...stores, queue })
  openJobs(context, config, { ...stores, wakes }, jobs)
}

/** The jobs of a worker, and the parts that the routes of role `all` share with it. */
type Work = {
  /** Jobs and chores of all capabilities, not started. */
  jobs: JobParts[]
  judge: ContextJudge | undefined
  mailer: Mailer
  onFindings: OnFindings
  wakes: Wakes
}

/**
 * Starts ingest, detection, the evaluator of incidents and the sender of notifications, until the
 * role ends. They bring the scopes of their statements: outside of one, a statement is refused.
 */
export async function openWork(
  context: RoleContext,
  config: RoleConfig<'worker'>,
  stores: Stores & { queue: BroadcastingQueue },
): Promise<Work> {
  const { db, store, records, ledger, queue } = stores
  const wakes = openWakes(context, config)
  openAnnouncer(context, { ...stores, broadcast: queue.broadcast })
  const { second, ...hotWindows } = openHotWindows(context, stores)
  const archives = openArchives(context, config, stores)
  const ingest = await startIngest({
    ...context,
    db,
    store,
    records,
    ledger,
    queue,
    second,
    erased: openLateErasure({ db }),
    settleRequests: (entries) => settleRequests(db, entries),
    markDue,
    markKnownDue,
    wakes,
    settings: toIngestSettings(config),
  })
  context.parts.defer(() => ingest.stop())
  const judge = openJudge(context, config, stores)
  const mailer = openConfiguredMailer(context, config)
  const notifications = openNotifications(context, config, { ...stores, mailer, wakes })
  const onFindings = openFindingRules(context, notifications)
  openDetection(context, config, { ...stores, judge, onFindings, wakes })
  const { wakeSender } = notifications
  openEvaluator(context, { ...stores, wakeSender, wakes })
  const minutes = { handlers: [], chores: [signalMinutesChore({ ...context, ...stores })] }
  const verification = openVerification(context, config, { ...stores, onFindings })
  const feedback = openFeedback(context, stores)
  const certification = openCertification(context, config, stores)
  const audit = openAudit(context, config, stores)
  const capabilities = [verification, feedback, certification, audit]
  const traces = {
    handlers: [],
    chores: [recentTracesChore({ db }), leftLedgerChore({ db, queue })],
  }
  const jobs = [hotWindows, archives, minutes, traces, notifications, ...capabilities]
  return { jobs, judge, mailer, onFindings, wakes }
}

/** Returns the settings of the ingest consumer. */
export function toIngestSettings(config: RoleConfig<'worker'>): IngestSettings {
  return {
    ...defaultIngestSettings,
    batch_bytes_max: config.ingest_batch_bytes_max,
    batch_wait_ms: config.ingest_batch_wait_ms,
    ack_wait_ms: config.ingest_ack_wait_ms,
    cost_source: config.cost_source,
  }
}
