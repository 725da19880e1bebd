import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { authorizer, type BootstrapSecrets } from '../capabilities/access/index.ts'
import { consolePage } from '../capabilities/console/index.ts'
import { otlpRoutes } from '../capabilities/edge/otlp/index.ts'
import { proxyRoutes } from '../capabilities/edge/proxy/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { openIdempotencyStore } from '../platform/relational/index.ts'
import { runInInstallation } from '../platform/tenancy/index.ts'
import { controlWork, openControl } from './api.ts'
import { openServedTrail } from './audit.ts'
import {
  explainFolder,
  readOperatorKey,
  readSecretKey,
  startServers,
  takeDataFolder,
} from './data-folder.ts'
import { openEventHub } from './events.ts'
import { openIntake } from './intake.ts'
import { openJobs } from './jobs.ts'
import { listen } from './listen.ts'
import { openOtlp, openProxy, openRecorder } from './proxy.ts'
import { openCallJournal, openClusterQueue, openFileQueue, withFileSpool } from './queues.ts'
import { assertAddressesFree, type RoleContext, type Running, run } from './running.ts'
import { migrateStores } from './schema.ts'
import { forPeople, openStores } from './stores.ts'
import {
  consoleUrl,
  firstLoginFile,
  markSamplePending,
  readFirstLogin,
  readPendingSample,
  startSample,
  welcome,
} from './welcome.ts'
import { openWork } from './worker.ts'

/** Starts role `all`: every role except the operator in one process, on embedded servers. */
export function startAll(given: RoleConfig<'all'>, stop: AbortSignal): Promise<Running> {
  return run('all', given, stop, (context) =>
    start(context, given).catch(explainFolder(given.data_directory)),
  )
}

async function start(context: RoleContext, given: RoleConfig<'all'>): Promise<void> {
  await takeDataFolder(context, given)
  await assertAddressesFree(given)
  const secret_key = await readSecretKey(given)
  const operator_key = await readOperatorKey(given)
  const config = { ...(await startServers(context, given)), secret_key, operator_key }
  const opened = openStores(context, config)
  const firstLogin = await runInInstallation('the migrations, and the first login', () =>
    migrateAndKeepLogin(context, config, opened),
  )
  const stores = { ...opened, queue: await openQueue(context, config) }
  const { jobs, wakes, ...work } = await openWork(context, config, stores)
  openJobs(context, config, { ...stores, wakes }, jobs)

  // A queue in a local file needs no spool.
  const { db, queue } = stores
  const publisher =
    config.nats_url === undefined
      ? queue
      : await withFileSpool(context, config, { queue, db, role: 'all' })
  const intake = openIntake(context, config, { queue: publisher, db })
  const events = openEventHub(context, queue.broadcast)
  const { access, routes, trail } = await runInInstallation(controlWork, async () => ({
    ...openControl(context, config, { ...forPeople(stores), ...work, intake, events, publisher }),
    trail: await openServedTrail(context, config, { db, role: 'all' }),
  }))
  const journal = await openCallJournal(context, config, 'all')
  const recorder = openRecorder(context, config, { queue: publisher, intake, journal })
  const proxy = openProxy(context, config, { keys: access.keys, recorder })
  // On a developer's machine, a Collector often uses the port.
  const otlp = await openOtlp(context, config, {
    keys: access.keys,
    intake,
    grpc_is_optional: true,
  })
  const port = await listen(context, config, {
    routes: [...proxyRoutes(proxy), ...otlpRoutes(otlp.receiver), ...routes],
    console: consolePage(),
    proxy,
    otlp,
    events,
    authorize: authorizer(access),
    audit: trail,
    idempotency: openIdempotencyStore(db),
  })
  // Print generated secrets only.
  const shown = config.bootstrap_project_key === undefined ? firstLogin : undefined
  const base_url = `http://${config.http_host}:${port}`
  const terminalLogin = process.stdout.isTTY ? await readFirstLogin(config) : undefined
  const sample = await readPendingSample(config)
  context.whenReady.push(() => {
    const { data_directory } = config
    const console_url = consoleUrl(base_url, shown ?? terminalLogin, access.first_links)
    const has_sample = sample !== undefined
    say(welcome({ base_url, console_url, data_directory, firstLogin: shown, has_sample }))
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
