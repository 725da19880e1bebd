import { z } from 'zod'
import { kindNames } from './kinds.ts'

/** Version of the manifest's format; readers refuse later ones. */
export const manifestVersion = 1

const count = z.int().nonnegative()
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** A sum of row hashes, modulo 2^64. */
const checksum = z.string().regex(/^\d{1,20}$/)
const instant = z.string().max(40)

const archivedFile = z.strictObject({
  /** Full name of the blob. */
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

/** Contents of an archive; written last, so that an archive with a manifest is complete. */
const manifestSchema = z.strictObject({
  format: z.literal('looptrace-archive'),
  version: z.int().positive(),
  project_id: z.uuid(),
  run_id: z.uuid(),
  window: z.strictObject({ from: instant, to: instant }),
  where: z.unknown().optional(),
  reason: z.string().nullable(),
  /** The archive has the rows that were stored before this instant, and no others. */
  stored_before: instant,
  created_at: instant,
  /** Hash function of the row hashes, over all columns in order. */
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

/** The manifest can't be read, or is of a version that can't be restored. */
export class ManifestRefused extends Error {
  override readonly name = 'ManifestRefused'
}

/** Reads a manifest. Throws ManifestRefused. */
export function readManifest(bytes: Buffer): Manifest {
  const parsed = manifestSchema.safeParse(jsonOf(bytes))
  if (parsed.success && parsed.data.version <= manifestVersion) return parsed.data
  if (parsed.success) {
    const { version } = parsed.data
    throw new ManifestRefused(`the manifest has version ${version}, expected ${manifestVersion}`)
  }
  const [issue] = parsed.error.issues
  throw new ManifestRefused(`the manifest: ${issue?.path.join('.')}: ${issue?.message}`)
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw new ManifestRefused('the manifest is not valid JSON', { cause })
  }
}

/** Sums up checksums, modulo 2^64. */
export function sumOfChecksums(checksums: readonly string[]): string {
  return String(checksums.reduce((sum, each) => BigInt.asUintN(64, sum + BigInt(each)), 0n))
}

/** Returns the prefix of the names of a run's files. */
export function archivePrefix(project_id: string, run_id: string): string {
  return `archives/${project_id}/${run_id}/`
}

/** Name of the column with the row's hash in an archive's files. */
export const rowHashColumn = 'row_hash'

/**
 * Returns SQL for the hash of a row over these columns. A null would make the whole hash null, so
 * nullable columns are hashed as a null flag and a value.
 */
export function rowHash(columns: readonly ArchivedColumn[]): string {
  const parts = columns.map(({ name, type }) =>
    type.startsWith('Nullable(')
      ? `isNull(${quoteColumn(name)}), ifNull(toString(${quoteColumn(name)}), '')`
      : quoteColumn(name),
  )
  return `cityHash64(${parts.join(', ')})`
}

/**
 * Quotes the name of a column for SQL. Throws TypeError for a name that none of our columns has.
 */
export function quoteColumn(name: string): string {
  if (/^[a-z][a-z0-9_]*$/.test(name)) return `\`${name}\``
  throw new TypeError(`got the column ${JSON.stringify(name.slice(0, 80))}, expected a plain name`)
}
