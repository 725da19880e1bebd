import { z } from 'zod'
import { record } from '../../../../model/named-schemas.ts'

const count = z.int().nonnegative()

/** Kinds of erased data that remain. */
const whats = [
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
  held_rows: count.describe('Records that a legal hold keeps: ask again when it is released.'),
  purged: z
    .boolean()
    .describe(
      'True: the files of ClickHouse were rewritten without the rows, those of restored slices too. `remaining` has what is left elsewhere.',
    ),
  archives: z
    .array(z.uuid())
    .describe('Archive runs whose files may hold records; a restore leaves them out.'),
  remaining: z
    .array(
      record('ErasureRemainder', {
        what: z.enum(whats),
        detail: z.string().describe('The place of the data, and how it is removed.'),
        until: z.iso.datetime().nullable().describe('When it is gone, about. null: see `detail`.'),
      }),
    )
    .describe('Data that remains, and until when. Empty in receipts of earlier versions.'),
})

export type Receipt = z.infer<typeof receiptSchema>

/** How long ClickHouse keeps files that it has replaced: `old_parts_lifetime`. */
const replacedFiles_ms = 8 * 60_000

/** The facts that a receipt is made of. */
export type Erased = Pick<Receipt, 'counts' | 'held_rows' | 'purged' | 'archives'> & {
  /** Whether a purge rewrote files. */
  is_rewritten: boolean
  ended_at: Date
}

/** Writes the receipt of an erasure. */
export function receiptOf({ is_rewritten, ended_at, ...erased }: Erased): Receipt {
  const { archives, held_rows, purged } = erased
  const remaining: Receipt['remaining'] = []
  const add = (what: (typeof whats)[number], detail: string, until: Date | null = null) => {
    remaining.push({ what, detail, until: until === null ? null : until.toISOString() })
  }
  if (archives.length > 0) {
    add(
      'archives',
      'Parquet files of the archive runs in `archives` hold the rows until you delete the files. A restore leaves the rows out.',
    )
  }
  if (held_rows > 0) add('held_rows', 'Release the legal holds, then ask for the erasure again.')
  if (!purged) add('marked_rows', 'ClickHouse drops deleted rows when it next merges their files.')
  if (is_rewritten) {
    const until = new Date(ended_at.getTime() + replacedFiles_ms)
    add('replaced_files', 'ClickHouse deletes the files that the purge replaced.', until)
  }
  add('database_pages', 'PostgreSQL reuses the space of deleted rows after its next vacuum.')
  add(
    'late_rows',
    'Records that were in the queue, in a spool or with the dead letters are stored when they arrive. Ask for the erasure again then.',
  )
  return { ...erased, remaining }
}

/** Reads a stored receipt; those of earlier versions say nothing of what remains. */
export function readReceipt(stored: Record<string, unknown> | null): Receipt | null {
  return stored === null ? null : receiptSchema.parse({ remaining: [], ...stored })
}
