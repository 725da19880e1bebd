import { z } from 'zod'
import { JobRefused, type JobValue } from '../../jobs/index.ts'
import { kindNames } from './kinds.ts'

/** Kinds of jobs, as they are noted. */
export const archiveJob = 'archive'
export const restoreJob = 'restore'

const instant = z.iso.datetime({ offset: true })

/** What an archive run is to do; retention asks for one as well. */
const archiveParams = z.object({
  from: instant,
  to: instant,
  where: z.unknown().optional(),
  kinds: z.array(z.enum(kindNames)).min(1).optional(),
  reason: z.string().nullish(),
})
export type ArchiveParams = z.infer<typeof archiveParams>

/** What an archive run came to. Retention may delete what a verified one covers. */
export type ArchiveResult = {
  verified: true
  manifest: string
  manifest_sha256: string
  files: number
  rows: number
  bytes: number
  /** Rows that were stored before this are in it; later ones are not. */
  stored_before: string
}

const archiveResult = z.object({
  verified: z.literal(true),
  manifest: z.string(),
  manifest_sha256: z.string(),
})

/** What a restore run is to do. */
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

/** The parameters of an archive job. Throws JobRefused. */
export function readArchiveParams(params: JobValue): ArchiveParams {
  return read(archiveParams, params)
}

/** The parameters of a restore job. Throws JobRefused. */
export function readRestoreParams(params: JobValue): RestoreParams {
  return read(restoreParams, params)
}

/** The manifest of a run that succeeded; undefined when it has none. */
export function manifestOf(result: JobValue | null) {
  return archiveResult.safeParse(result).data
}

function read<T>(schema: z.ZodType<T>, params: JobValue): T {
  const parsed = schema.safeParse(params)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new JobRefused(`the job's ${issue?.path.join('.')}: ${issue?.message}`)
}
