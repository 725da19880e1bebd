import { z } from 'zod'
import { kindNames } from './kinds.ts'

/** The version of the manifest's own shape; a reader refuses later ones. */
export const manifestVersion = 1

const count = z.int().nonnegative()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** A sum of row hashes, modulo 2^64. */
const checksum = z.string().regex(/^\d{1,20}$/)
const instant = z.string().max(40)

const archivedFile = z.strictObject({
  /** The blob, whole name. */
  name: z.string().max(700),
  kind: z.enum(kindNames),
  /** The UTC day of its rows. */
  day: z.iso.date(),
  part: z.int().positive(),
  rows: count,
  bytes: count,
  sha256,
  row_checksum: checksum,
  /** Nanoseconds since 1970. */
  min_time: z.string().regex(/^-?\d{1,20}$/),
  max_time: z.string().regex(/^-?\d{1,20}$/),
})

/** One file of an archive. */
export type ArchivedFile = z.infer<typeof archivedFile>

const archivedColumn = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
  /** Its type in ClickHouse. */
  type: z.string().max(200),
})

/** A column of the rows of an archive. */
export type ArchivedColumn = z.infer<typeof archivedColumn>

/** What an archive holds; written last, so that an archive with a manifest is whole. */
export const manifestSchema = z.strictObject({
  format: z.literal('looptrace-archive'),
  version: z.int().positive(),
  project_id: z.uuid(),
  run_id: z.uuid(),
  window: z.strictObject({ from: instant, to: instant }),
  where: z.unknown().optional(),
  reason: z.string().nullable(),
  /** Rows that were stored before this are in it, others are not. */
  stored_before: instant,
  created_at: instant,
  /** How a row's hash is made of its columns, in their order. */
  row_hash: z.literal('cityHash64'),
  kinds: z.array(
    z.strictObject({
      kind: z.enum(kindNames),
      columns: z.array(archivedColumn).min(1).max(1_000),
      rows: count,
      row_checksum: checksum,
    }),
  ),
  rows: count,
  bytes: count,
  files: z.array(archivedFile),
})
export type Manifest = z.infer<typeof manifestSchema>

/** The manifest can't be read, or says what this version can't restore. */
export class ManifestRefused extends Error {
  override readonly name = 'ManifestRefused'
}

/** Reads a manifest. Throws ManifestRefused. */
export function readManifest(bytes: Buffer): Manifest {
  const parsed = manifestSchema.safeParse(jsonOf(bytes))
  if (parsed.success && parsed.data.version <= manifestVersion) return parsed.data
  if (parsed.success) {
    const { version } = parsed.data
    throw new ManifestRefused(`the manifest is of version ${version}, expected ${manifestVersion}`)
  }
  const [issue] = parsed.error.issues
  throw new ManifestRefused(`the manifest: ${issue?.path.join('.')}: ${issue?.message}`)
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw new ManifestRefused('the manifest is no JSON', { cause })
  }
}

/** The sum of checksums, as checksums are summed. */
export function sumOfChecksums(checksums: readonly string[]): string {
  return String(checksums.reduce((sum, each) => BigInt.asUintN(64, sum + BigInt(each)), 0n))
}

/** Where a run keeps what it archives. */
export function archivePrefix(project_id: string, run_id: string): string {
  return `archives/${project_id}/${run_id}/`
}
