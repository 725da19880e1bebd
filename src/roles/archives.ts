import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Chore, JobHandler } from '../capabilities/jobs/index.ts'
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
import { type Blobs, openBlobs } from '../platform/blobs/index.ts'
import { ConfigError, type RoleConfig } from '../platform/config/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

type BlobsConfig = Pick<
  RoleConfig<'worker'>,
  | 'blobs_url'
  | 'blobs_s3_endpoint'
  | 'blobs_s3_region'
  | 'blobs_s3_access_key_id'
  | 'blobs_s3_secret_access_key'
  | 'blobs_s3_path_style'
  | 'blobs_s3_part_bytes'
  | 'blobs_s3_attempts_max'
  | 'blobs_s3_connect_timeout_ms'
  | 'blobs_s3_request_timeout_ms'
  | 'blobs_s3_connections_max'
>

/** The worker's part in archives: its jobs, and the end of what was restored. */
export function openArchives(
  context: RoleContext,
  config: BlobsConfig & Pick<RoleConfig<'worker'>, 'archive_settle_ms' | 'clickhouse_cluster'>,
  { db, columnar }: Pick<Stores, 'db' | 'columnar'>,
): { handlers: JobHandler[]; chores: Chore[]; erasure: RestoredStore['erasure'] } {
  const { clock } = context
  const blobs = openArchiveBlobs(context, config)
  const settings = { ...defaultArchiveSettings, settle_ms: config.archive_settle_ms }
  const restored = openRestoredStore({ columnar, cluster: config.clickhouse_cluster })
  const erasedUsers = (project_id: string) => readErasedUsers(db, project_id)
  const about = { db, blobs, clock, settings }
  return {
    handlers: [
      archiveHandler({ ...about, store: openArchiveStore({ columnar }) }),
      restoreHandler({ ...about, restored, erasedUsers }),
    ],
    chores: [endSlicesChore({ db, restored, clock }), tidyArchivesChore({ db, blobs })],
    erasure: restored.erasure,
  }
}

/** What an API needs to take orders for archives; it reads none itself. */
export function archiveDeps(
  { clock }: Pick<RoleContext, 'clock'>,
  config: Pick<RoleConfig<'api'>, 'blobs_url' | 'clickhouse_cluster'>,
  { db, columnar }: Pick<Stores, 'db' | 'columnar'>,
): ArchiveDeps {
  const restored = openRestoredStore({ columnar, cluster: config.clickhouse_cluster })
  return { db, clock, restored, is_configured: config.blobs_url !== undefined }
}

/** Opens the store of archives; undefined when the configuration names none. */
function openArchiveBlobs(context: RoleContext, config: BlobsConfig): Blobs | undefined {
  if (config.blobs_url === undefined) return undefined
  const blobs = openBlobs({
    url: config.blobs_url,
    endpoint: config.blobs_s3_endpoint,
    region: config.blobs_s3_region,
    credentials: credentialsOf(config),
    path_style: config.blobs_s3_path_style,
    part_bytes: config.blobs_s3_part_bytes,
    attempts_max: config.blobs_s3_attempts_max,
    connect_timeout_ms: config.blobs_s3_connect_timeout_ms,
    request_timeout_ms: config.blobs_s3_request_timeout_ms,
    connections_max: config.blobs_s3_connections_max,
  })
  context.parts.defer(() => blobs.close())
  return blobs
}

/** Where role `all` keeps archives unless it is told. */
export function blobsUrlOf(
  config: Pick<RoleConfig<'all'>, 'blobs_url' | 'data_directory'>,
): string {
  return config.blobs_url ?? String(pathToFileURL(resolve(join(config.data_directory, 'blobs'))))
}

function credentialsOf(config: BlobsConfig) {
  const { blobs_s3_access_key_id: access_key_id, blobs_s3_secret_access_key } = config
  if (access_key_id === undefined && blobs_s3_secret_access_key === undefined) return undefined
  if (access_key_id === undefined || blobs_s3_secret_access_key === undefined) {
    throw new ConfigError(
      'LOOPTRACE_BLOBS_S3_ACCESS_KEY_ID, LOOPTRACE_BLOBS_S3_SECRET_ACCESS_KEY: got one, expected both',
    )
  }
  return { access_key_id, secret_access_key: blobs_s3_secret_access_key }
}
