import { openAuditTrail } from '../capabilities/audit/index.ts'
import { openFindingsRetention } from '../capabilities/detection/index.ts'
import type { SecondStore } from '../capabilities/ingest/index.ts'
import { type Chore, type JobHandler, startJobs } from '../capabilities/jobs/index.ts'
import {
  type ArchiveDeps,
  archiveHandler,
  defaultArchiveSettings,
  endSlicesChore,
  openArchiveStore,
  openRestoredStore,
  type RestoredStore,
  readErasedUsers,
  restoreHandler,
  tidyArchivesChore,
} from '../capabilities/lifecycle/archive/index.ts'
import {
  archiveScheduleHandler,
  dryRunHandler,
  erasureHandler,
  retentionChores,
  retentionHandler,
} from '../capabilities/lifecycle/retention/index.ts'
import { openClickHouseRunner, openPostgresRunner } from '../capabilities/query/index.ts'
import {
  type ErasureTarget,
  openHotRowWriter,
  openHotSource,
  openPostgresRetention,
  type RetentionTarget,
} from '../capabilities/storage/index.ts'
import {
  chooseByRouting,
  createHotWrites,
  createRoutingCache,
  hotWindowBackfill,
  hotWindowChores,
  hotWindowTrim,
  storeBenchmark,
} from '../capabilities/store-routing/index.ts'
import { type Blobs, openBlobs } from '../platform/blobs/index.ts'
import { ConfigError, type Settings } from '../platform/config/index.ts'
import { pollingWakes, type Wakes } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Jobs and chores of a capability. */
export type JobParts = {
  handlers: readonly JobHandler[]
  chores: readonly Chore[]
  /** Erases data of a user in the capability. */
  erasure?: ErasureTarget
  /** Deletes and erases the capability's data about observations. */
  retention?: RetentionTarget
}

type JobStores = Pick<Stores, 'db' | 'retention' | 'ledger'>

/** Runs jobs of all kinds until the role ends: those of retention, and those of `others`. */
export function openJobs(
  context: RoleContext,
  config: Settings<'job' | 'retention'>,
  {
    wakes = pollingWakes(),
    concurrency_max,
    ...stores
  }: JobStores & { wakes?: Wakes; concurrency_max?: number },
  others: readonly JobParts[],
): void {
  const { db } = stores
  const jobs = startJobs({
    ...context,
    db,
    wakes,
    audit: openAuditTrail(db),
    ...listJobs(context, config, stores, others),
    settings: {
      ...(concurrency_max !== undefined && { concurrency_max }),
      poll_ms: config.job_poll_ms,
      lease_ms: config.job_lease_ms,
    },
  })
  context.parts.defer(() => jobs.stop())
}

/** Returns the handlers and chores of a worker: those of retention, and those of `others`. */
export function listJobs(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics'>,
  config: Settings<'job' | 'retention'>,
  { db, retention, ledger }: JobStores,
  others: readonly JobParts[],
): Pick<JobParts, 'handlers' | 'chores'> {
  const targets = [
    openPostgresRetention({ db }),
    openFindingsRetention({ db }),
    ...others.flatMap((other) => other.retention ?? []),
  ]
  const erased = [...targets, ...others.flatMap(({ erasure }) => erasure ?? [])]
  const { retention_hour: hour, job_runs_days, ledger_days } = config
  return {
    handlers: [
      retentionHandler({ ...context, db, store: retention, targets }),
      dryRunHandler({ db, store: retention }),
      archiveScheduleHandler({ ...context, db, store: retention }),
      erasureHandler({ ...context, db, store: retention, targets: erased }),
      ...others.flatMap(({ handlers }) => handlers),
    ],
    chores: [
      ...retentionChores({ ...context, db, ledger, hour, job_runs_days, ledger_days }),
      ...others.flatMap(({ chores }) => chores),
    ],
  }
}

/** Opens the worker's part of archives: their jobs, and the expiry of restored slices. */
export function openArchives(
  context: RoleContext,
  config: Settings<'blobs' | 'columnar'>,
  { db, columnar }: Pick<Stores, 'db' | 'columnar'>,
): { handlers: JobHandler[]; chores: Chore[]; erasure: RestoredStore['erasure'] } {
  const { clock } = context
  const blobs = openArchiveBlobs(context, config)
  const settings = { ...defaultArchiveSettings, settle_ms: config.archive_settle_ms }
  const restored = openRestoredStore({ columnar })
  const erasedUsers = (project_id: string) => readErasedUsers(db, project_id)
  const shared = { db, blobs, clock, settings }
  return {
    handlers: [
      archiveHandler({ ...shared, store: openArchiveStore({ columnar }) }),
      restoreHandler({ ...shared, restored, erasedUsers }),
    ],
    chores: [endSlicesChore({ db, restored, clock }), tidyArchivesChore({ db, blobs })],
    erasure: restored.erasure,
  }
}

/** Builds the dependencies of the archive routes. The API does not read archives itself. */
export function archiveDeps(
  { clock }: Pick<RoleContext, 'clock'>,
  config: Settings<'blobs' | 'columnar'>,
  { db, columnar }: Pick<Stores, 'db' | 'columnar'>,
): ArchiveDeps {
  const restored = openRestoredStore({ columnar })
  return { db, clock, restored, is_configured: config.blobs_url !== undefined }
}

/** Opens the store of archives. Returns undefined when none is configured. */
export function openArchiveBlobs(
  context: Pick<RoleContext, 'parts'>,
  config: Settings<'blobs'>,
): Blobs | undefined {
  const { blobs_url } = config
  return blobs_url === undefined ? undefined : openBlobsAt(context, { ...config, blobs_url })
}

/** One part of an upload is kept in memory. Limits are for each process. */
const bucketLimits = { part_bytes: 8 * 1024 * 1024, connect_timeout_ms: 5_000, connections_max: 8 }

/** Opens the files of a URL. Closed when the role ends. */
export function openBlobsAt(
  context: Pick<RoleContext, 'parts'>,
  config: Settings<'blobs'> & { blobs_url: string },
): Blobs {
  const blobs = openBlobs({
    url: config.blobs_url,
    endpoint: config.blobs_s3_endpoint,
    region: config.blobs_s3_region,
    credentials: readCredentials(config),
    path_style: config.blobs_s3_path_style,
    ...bucketLimits,
    attempts_max: config.blobs_s3_attempts_max,
    request_timeout_ms: config.blobs_s3_request_timeout_ms,
  })
  context.parts.defer(() => blobs.close())
  return blobs
}

function readCredentials(config: Settings<'blobs'>) {
  const { blobs_s3_access_key_id: access_key_id, blobs_s3_secret_access_key } = config
  if (access_key_id === undefined && blobs_s3_secret_access_key === undefined) return undefined
  if (access_key_id === undefined || blobs_s3_secret_access_key === undefined) {
    throw new ConfigError(
      'LOOPTRACE_BLOBS_S3_ACCESS_KEY_ID, LOOPTRACE_BLOBS_S3_SECRET_ACCESS_KEY: got one, set both',
    )
  }
  return { access_key_id, secret_access_key: blobs_s3_secret_access_key }
}

/**
 * Opens the worker's part of hot windows: the second write, and the jobs that fill and trim hot
 * windows and compare the stores.
 */
export function openHotWindows(
  { clock, logger, metrics }: RoleContext,
  { db, columnar, relational }: Pick<Stores, 'db' | 'columnar' | 'relational'>,
): { second: SecondStore; handlers: JobHandler[]; chores: Chore[] } {
  const writer = openHotRowWriter(db)
  const routings = createRoutingCache({ db, clock })
  return {
    second: createHotWrites({ db, writer, routings, clock, logger, metrics }),
    handlers: [
      hotWindowBackfill({ db, writer, source: openHotSource({ columnar }) }),
      hotWindowTrim({ db, clock }),
      storeBenchmark({
        runners: {
          clickhouse: openClickHouseRunner({ columnar, logger }),
          postgres: openPostgresRunner(relational),
        },
        chooseStore: chooseByRouting({ db, routings, clock }),
        db,
        clock,
      }),
    ],
    chores: hotWindowChores({ db, writer, clock }),
  }
}
