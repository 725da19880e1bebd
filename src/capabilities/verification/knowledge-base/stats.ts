import { problem } from '../../../kernel/problem.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { KnowledgeLimits, KnowledgeTransaction } from './knowledge-base.ts'

/** Sizes of a project's knowledge base. */
export type KnowledgeStats = {
  documents: number
  chunks: number
  /** Sum of the lengths of the chunks, in terms. */
  terms: number
  /** Bytes of the kept versions. */
  bytes: number
  facts: number
}

/**
 * Adds to the sizes of a project, in the transaction of the change. The row's lock makes
 * concurrent changes wait, so it is the last lock that a transaction takes. Throws
 * `knowledge_base_full` when a size grows above its limit.
 */
export async function addToStats(
  transaction: KnowledgeTransaction,
  project_id: string,
  change: Partial<KnowledgeStats>,
  limits: KnowledgeLimits,
): Promise<void> {
  await transaction
    .insertInto('kb_stats')
    .values({ project_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { documents = 0, chunks = 0, terms = 0, bytes = 0, facts = 0 } = change
  const stats = await transaction
    .updateTable('kb_stats')
    .set({
      documents: sql`documents + ${documents}::bigint`,
      chunks: sql`chunks + ${chunks}::bigint`,
      terms: sql`terms + ${terms}::bigint`,
      bytes: sql`bytes + ${bytes}::bigint`,
      facts: sql`facts + ${facts}::bigint`,
    })
    .where('project_id', '=', project_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  refuseGrowth('passages', chunks, stats.chunks, limits.kb_project_chunks_max)
  refuseGrowth('bytes', bytes, stats.bytes, limits.kb_project_bytes_max)
  refuseGrowth('facts', facts, stats.facts, limits.kb_project_facts_max)
}

function refuseGrowth(what: string, added: number, size: number, size_max: number): void {
  if (added <= 0 || size <= size_max) return
  throw problem('knowledge_base_full', {
    detail: `The project would have ${size} ${what}, at most ${size_max}. Delete some first.`,
  })
}
