import { eventually } from '../eventually.ts'
import type { World } from './world.ts'

/** Waits until all reads of content are sealed, and returns the ids of their requests. */
export async function storedReads({ db }: World): Promise<ReadonlySet<string>> {
  await eventually(
    'the reads of content are sealed',
    async () => (await db.selectFrom('audit_read_batches').select('id').execute()).length === 0,
    { timeout_ms: 20_000 },
  )
  const reads = await db.selectFrom('audit_reads').select('request_id').execute()
  return new Set(reads.map(({ request_id }) => request_id))
}
