import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { authorizer, type BootstrapSecrets } from '../capabilities/access/index.ts'
import { markDue } from '../capabilities/detection/index.ts'
import { settleRequests } from '../capabilities/edge/batches/index.ts'
import { otlpRoutes } from '../capabilities/edge/otlp/index.ts'
import { proxyRoutes } from '../capabilities/edge/proxy/index.ts'
import { signalMinutesChore } from '../capabilities/incidents/index.ts'
import { startIngest } from '../capabilities/ingest/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { openIdempotencyStore } from '../platform/relational/index.ts'
import { runInInstallation, runInScope } from '../platform/tenancy/index.ts'
import { openControl } from './api.ts'
import { openAudit, openServedTrail } from './audit.ts'
import { openCertification } from './certification.ts'
import {
  explainFolder,
  readOperatorKey,
  readSecretKey,
  startServers,
  takeDataFolder,
} from './data-folder.ts'
import { openDetection, openJudge } from './detection.ts'
import { openFeedback } from './feedback.ts'
import { openEvaluator, openFindingRules } from './incidents.ts'
import { openIntake } from './intake.ts'
import { openArchives, openHotWindows, openJobs } from './jobs.ts'
import { listen } from './listen.ts'
import { openConfiguredMailer, openNotifications } from './notifications.ts'
import { openOtlp, openProxy, openRecorder } from './proxy.ts'
import { openClusterQueue, openFileQueue, withFileSpool } from './queues.ts'
import { assertAddressesFree, type RoleContext, type Running, run } from './running.ts'
import { migrateStores } from './schema.ts'
import { openStores } from './stores.ts'
import { openVerification } from './verification.ts'
import {
  firstLoginFile,
  markSamplePending,
  readPendingSample,
  startSample,
  welcome,
} from './welcome.ts'
import { toIngestSettings } from './worker.ts'

/** Starts role `all`: every role except the operator in one process, on embedded servers. */
export function startAll(given: RoleConfig<'all'>, stop: AbortSignal): Promise<Running> {
  return run('all', given, stop, (context) =>
    runInInstallation('records and jobs of all projects', () => start(context, given)).catch(
      explainFolder(given.data_directory),
    ),
  )
}

async function start(context: RoleContext, given: RoleConfig<'all'>): Promise<void> {
  await takeDataFolder(context, given)
  await assertAddressesFree(given)
  const secret_key = await readSecretKey(given)
  const operator_key = await readOperatorKey(given)
  const config = { ...(await startServers(context, given)), secret_key, operator_key }
  const { db, store, records, ledger, ...stores } = openStores(context, config)
  const firstLogin = await migrateAndKeepLogin(context, config, stores)

  const queue = await openQueue(context, config)
  const { second, ...hotWindows } = openHotWindows(context, { ...stores, db })
  const archives = openArchives(context, config, { ...stores, db })
  const ingest = await startIngest({
    ...context,
    ...{ db, store, records, ledger, queue, second },
    settleRequests: (entries) => settleRequests(db, entries),
    markDue,
    settings: toIngestSettings(config),
  })
  context.parts.defer(() => ingest.stop())
  const judge = openJudge(context, config, { db })
  const mailer = openConfiguredMailer(context, config)
  const notifications = openNotifications(context, config, { db, mailer })
  const onFindings = openFindingRules(context, notifications)
  openDetection(context, config, { db, store, judge, onFindings })
  const { wakeSender } = notifications
  openEvaluator(context, config, { ...stores, db, ledger, queue, wakeSender })
  const minutes = { handlers: [], chores: [signalMinutesChore({ ...context, ...stores, db })] }
  const verification = openVerification(context, config, { db, store, records, onFindings })
  const feedback = openFeedback(context, { db })
  const certification = openCertification(context, config, { db, ledger, queue })
  const audit = openAudit(context, config, { db })
  const capabilities = [verification, feedback, certification, audit]
  const jobs = [hotWindows, archives, minutes, notifications, ...capabilities]
  openJobs(context, config, { ...stores, db, ledger }, jobs)

  // A queue in a local file needs no spool.
  const publisher =
    config.nats_url === undefined
      ? queue
      : await withFileSpool(context, config, { queue, role: 'all' })
  const intake = openIntake(context, config, { queue: publisher, db })
  const parts = { ...stores, db, store, records, ledger, queue, intake, judge, mailer, onFindings }
  const { access, routes } = openControl(context, config, { ...parts, publisher })
  const recorder = openRecorder(context, config, { queue: publisher, intake })
  const proxy = openProxy(context, config, { keys: access.keys, recorder })
  const trail = await openServedTrail(context, config, { db, role: 'all' })
  // The gRPC port is optional, because a Collector on a developer's machine often uses it.
  const otlp = await runInScope(undefined, () =>
    openOtlp(context, config, { keys: access.keys, intake, grpc_is_optional: true }),
  )
  // Each request sets its own scope.
  const port = await runInScope(undefined, () =>
    listen(context, config, {
      routes: [...proxyRoutes(proxy), ...otlpRoutes(otlp.receiver), ...routes],
      proxy,
      otlp,
      authorize: authorizer(access),
      audit: trail,
      idempotency: openIdempotencyStore(db),
    }),
  )
  // Print generated secrets only.
  const shown = config.bootstrap_project_key === undefined ? firstLogin : undefined
  const base_url = `http://${config.http_host}:${port}`
  const sample = await readPendingSample(config)
  context.whenReady.push(() => {
    const { data_directory } = config
    say(welcome({ base_url, data_directory, firstLogin: shown, has_sample: sample !== undefined }))
    if (sample === undefined) return
    const { project_key } = sample
    const sampleParts = { keys: access.keys, recorder, api_url: base_url, project_key, log: say }
    startSample(context, config, sampleParts)
  })
}

/** Migrates the stores. Writes the first login to a file of mode 0600, and returns it. */
async function migrateAndKeepLogin(
  context: RoleContext,
  config: RoleConfig<'all'>,
  stores: Pick<ReturnType<typeof openStores>, 'relational' | 'columnar'>,
): Promise<BootstrapSecrets | undefined> {
  let firstLogin: BootstrapSecrets | undefined
  await migrateStores(context, config, stores, async (secrets) => {
    const path = join(config.data_directory, firstLoginFile)
    await writeFile(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
    await markSamplePending(config)
    firstLogin = secrets
  })
  return firstLogin
}

function openQueue(context: RoleContext, config: RoleConfig<'all'>) {
  return config.nats_url === undefined
    ? openFileQueue(context, config)
    : openClusterQueue(context, config)
}

function say(text: string): void {
  process.stdout.write(text)
}
