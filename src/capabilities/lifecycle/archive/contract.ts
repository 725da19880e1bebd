import { z } from 'zod'
import type { Clock } from '../../../kernel/time.ts'
import type { ArchiveTables, JobTables, Kysely } from '../../../platform/relational/index.ts'
import { JobRefused, type JobValue } from '../../jobs/index.ts'
import { kindNames } from './kinds.ts'
import type { RestoredStore } from './restore/restored-store.ts'

/** Kinds of jobs, as stored. */
export const archiveJob = 'archive'
export const restoreJob = 'restore'

const instant = z.iso.datetime({ offset: true })

/** Parameters of an archive run, which retention requests too. */
const archiveParams = z.object({
  from: instant,
  to: instant,
  where: z.unknown().optional(),
  kinds: z.array(z.enum(kindNames)).min(1).optional(),
  reason: z.string().nullish(),
})
export type ArchiveParams = z.infer<typeof archiveParams>

/** Result of an archive run. Retention may delete rows that a verified archive has. */
export type ArchiveResult = {
  verified: true
  manifest: string
  manifest_sha256: string
  files: number
  rows: number
  bytes: number
  /** The archive has the rows that were stored before this instant. */
  stored_before: string
}

const archiveResult = z.object({
  verified: z.literal(true),
  manifest: z.string(),
  manifest_sha256: z.string(),
})

/** Parameters of a restore run. */
const restoreParams = z.object({
  archive_run_id: z.uuid(),
  slice_id: z.uuid(),
  manifest: z.string(),
  manifest_sha256: z.string(),
  from: instant.nullish(),
  to: instant.nullish(),
  kinds: z.array(z.enum(kindNames)).min(1).nullish(),
})
export type RestoreParams = z.infer<typeof restoreParams>

/** Reads the parameters of an archive job. Throws JobRefused. */
export function readArchiveParams(params: JobValue): ArchiveParams {
  return read(archiveParams, params)
}

/** Reads the parameters of a restore job. Throws JobRefused. */
export function readRestoreParams(params: JobValue): RestoreParams {
  return read(restoreParams, params)
}

/** Returns the manifest of a successful run; undefined for other results. */
export function manifestOf(result: JobValue | null) {
  return archiveResult.safeParse(result).data
}

function read<T>(schema: z.ZodType<T>, params: JobValue): T {
  const parsed = schema.safeParse(params)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new JobRefused(`the job's ${issue?.path.join('.')}: ${issue?.message}`)
}

/** Dependencies of the routes of archives and slices. */
export type ArchiveDeps = {
  db: Kysely<ArchiveTables & JobTables>
  clock: Clock
  /** Drops deleted slices. */
  restored: Pick<RestoredStore, 'dropSlice'>
  /** Whether a blob store is configured. Workers need the same configuration. */
  is_configured: boolean
}

/** Limits of archive runs. */
export type ArchiveSettings = {
  /**
   * Wait for rows that were on their way when a run began. It skips rows stored after its start.
   */
  settle_ms: number
  /** Most rows of one file. */
  file_rows_max: number
  /** Approximate memory that the rows of one file may take in the engine. The file is smaller. */
  file_bytes_max: number
  /** Largest file that is restored, because files are read into memory as a whole. */
  restored_file_bytes_max: number
}

export const defaultArchiveSettings: ArchiveSettings = {
  settle_ms: 30_000,
  file_rows_max: 100_000,
  file_bytes_max: 128 * 1024 * 1024,
  restored_file_bytes_max: 256 * 1024 * 1024,
}
