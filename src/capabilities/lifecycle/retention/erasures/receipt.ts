import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'

const count = z.int().nonnegative()

/** Kinds of erased data that remain. */
const remainderKinds = [
  'archives',
  'held_rows',
  'marked_rows',
  'replaced_files',
  'database_pages',
  'late_rows',
] as const

/** The receipt of an erasure. */
export const receiptSchema = record('ErasureReceipt', {
  counts: z.record(z.string(), count).describe('Records that were deleted, by kind.'),
  held_rows: count.describe('Records under a legal hold. Repeat the erasure after its release.'),
  purged: z
    .boolean()
    .describe(
      'True: the files of ClickHouse were rewritten without the rows, restored slices included. ' +
        '`remaining` lists data that is left elsewhere.',
    ),
  archives: z
    .array(z.uuid())
    .describe('Archive runs whose files may contain records; restores leave them out.'),
  remaining: z
    .array(
      record('ErasureRemainder', {
        what: z.enum(remainderKinds),
        detail: z.string().describe('Location of the data, and how it is removed.'),
        until: z.iso
          .datetime()
          .nullable()
          .describe('Approximate time of its removal. null: see `detail`.'),
      }),
    )
    .describe('Data that remains. Empty in receipts of earlier versions.'),
})

type Receipt = z.infer<typeof receiptSchema>

/** How long ClickHouse keeps files that it has replaced: `old_parts_lifetime`. */
const replacedFilesMs = 8 * 60_000

/** Facts for a receipt. */
type Erased = Pick<Receipt, 'counts' | 'held_rows' | 'purged' | 'archives'> & {
  /** Whether a purge rewrote files. */
  is_rewritten: boolean
  ended_at: Date
}

/** Builds the receipt of an erasure. */
export function buildReceipt({ is_rewritten, ended_at, ...erased }: Erased): Receipt {
  const { archives, held_rows, purged } = erased
  const remaining: Receipt['remaining'] = []
  const add = (
    what: (typeof remainderKinds)[number],
    detail: string,
    until: Date | null = null,
  ) => {
    remaining.push({ what, detail, until: until === null ? null : until.toISOString() })
  }
  if (archives.length > 0) {
    add(
      'archives',
      'Parquet files of the archive runs in `archives` contain the rows until you delete the files. Restores leave the rows out.',
    )
  }
  if (held_rows > 0) add('held_rows', 'Release the legal holds, then repeat the erasure.')
  if (!purged) add('marked_rows', 'ClickHouse drops deleted rows when it next merges their files.')
  if (is_rewritten) {
    const until = new Date(ended_at.getTime() + replacedFilesMs)
    add('replaced_files', 'ClickHouse deletes the files that the purge replaced.', until)
  }
  add('database_pages', 'PostgreSQL reuses the space of deleted rows after its next vacuum.')
  add(
    'late_rows',
    'Records in the queue, in a spool or among the dead letters are stored when they arrive; those of the erased traces are erased again for 30 days. Repeat the erasure for others.',
  )
  return { ...erased, remaining }
}

/** Reads a stored receipt; receipts of earlier versions have no `remaining`. */
export function readReceipt(stored: Record<string, unknown> | null): Receipt | null {
  return stored === null ? null : receiptSchema.parse({ remaining: [], ...stored })
}

/**
 * Returns the digest that a receipt has in place of a user's id: HMAC-SHA-256 with the project's
 * own key. With the key, it shows whether a known id was erased; the id can't be read from it.
 */
export function userDigest(key: Buffer, user_id: string): Buffer {
  return createHmac('sha256', key).update(user_id).digest()
}
