import { markDue } from '../capabilities/detection/index.ts'
import { createRowReader } from '../capabilities/edge/otlp/index.ts'
import { ingestMeters, repairProject, shownCounts } from '../capabilities/ingest/index.ts'
import { openLateErasure } from '../capabilities/lifecycle/retention/index.ts'
import { createPricing } from '../capabilities/records/pricing/index.ts'
import { openClickHouseRepairStore } from '../capabilities/storage/index.ts'
import { NoAnswer } from '../cli/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { runInInstallation } from '../platform/tenancy/index.ts'
import { runAudited } from './audited-command.ts'
import { startServers, takeDataFolder } from './data-folder.ts'
import { openHotWindows } from './jobs.ts'
import { oneShotContext, print, type RoleContext } from './running.ts'
import { openStores, type Stores } from './stores.ts'
import { toIngestSettings } from './worker.ts'

type Config = RoleConfig<'all'>

/** The records to repair: times in nanoseconds since 1970. */
export type RepairAsked = {
  project_id: string | undefined
  from: bigint | undefined
  to: bigint | undefined
  is_applied: boolean
}

/**
 * Repairs the stored records of a project, or of all, and prints the counts of each. With embedded
 * servers the service must be stopped, because it locks the data folder. Exit status 1 when no project
 * has the id.
 */
export async function repair(
  config: Config,
  asked: RepairAsked,
  stop: AbortSignal,
): Promise<number> {
  await using parts = new AsyncDisposableStack()
  const context = { ...oneShotContext('repair', config, parts), stop }
  const stores = openStores(context, await withServers(context, config))
  await runInInstallation('checks of the stores', () => assertReady(context))
  const projects = await projectsOf(stores, asked)
  if (projects.length === 0 && asked.project_id !== undefined) {
    print({ project_id: asked.project_id, error: 'no project has this id' })
    return 1
  }
  if (asked.is_applied) await record(context, stores, asked)
  const ports = openPorts(context, config, stores)
  for (const project_id of projects) {
    const counts = await repairProject(ports, { ...asked, project_id, signal: stop })
    print({ project_id, is_applied: asked.is_applied, ...shownCounts(counts) })
  }
  return 0
}

/** Starts the embedded servers for the stores that are not configured. */
async function withServers(context: RoleContext, config: Config): Promise<Config> {
  if (config.postgres_url !== undefined && config.clickhouse_url !== undefined) return config
  await takeDataFolder(context, config)
  return startServers(context, config)
}

/** Throws NoAnswer while a store is unavailable or not migrated. */
async function assertReady({ checks }: RoleContext): Promise<void> {
  for (const { name, check } of checks) {
    const reason = await check().catch((error: unknown) => String(error))
    if (reason !== null) throw new NoAnswer(`${name}: ${reason}`)
  }
}

function projectsOf({ db }: Stores, { project_id }: RepairAsked): Promise<string[]> {
  return runInInstallation('a repair of all projects', async () => {
    const all = db.selectFrom('projects').select('id').orderBy('id')
    const asked = project_id === undefined ? all : all.where('id', '=', project_id)
    return (await asked.execute()).map(({ id }) => id)
  })
}

/** Recorded before the first change, so that a killed repair is recorded too. */
async function record(
  { clock }: RoleContext,
  { db }: Stores,
  { project_id }: RepairAsked,
): Promise<void> {
  await runAudited(
    { clock, db },
    {
      name: 'repair',
      resource_type: 'projects',
      resource_id: project_id ?? null,
      work: async () => undefined,
      outcomeOf: () => ({ outcome: 'succeeded' }),
    },
  )
}

function openPorts(context: RoleContext, config: Config, stores: Stores) {
  const { db, store, columnar } = stores
  const { second } = openHotWindows(context, stores)
  return {
    db,
    store,
    markDue,
    large_from: toIngestSettings(config).large_rollup_from,
    meters: ingestMeters(context.metrics),
    setSecondOwners: second.setOwners,
    eraseSecondRows: second.eraseRows,
    markStale: second.markStale,
    erased: openLateErasure({ db }),
    rows: openClickHouseRepairStore({ columnar }),
    readAgain: createRowReader({ pricing: createPricing(config.cost_source) }),
  }
}
