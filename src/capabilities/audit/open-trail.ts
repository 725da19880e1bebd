import { BoundedCache } from '../../kernel/bounded-cache.ts'
import type { AuditTrail } from '../../platform/audit/index.ts'
import type { ReadJournal } from './reads/read-journal.ts'
import { toUnsealed } from './reads/unsealed-reads.ts'
import { type AuditDb, appendEntry, toAppendStatement } from './trail/append.ts'
import { chainOf } from './trail/chain-id.ts'

const projects_max = 10_000

/** Opens the audit trail of a process. It needs a journal to answer reads of content to people. */
export function openAuditTrail(
  db: AuditDb,
  journal?: Pick<ReadJournal, 'append'>,
): Omit<AuditTrail, 'keep'> {
  // A project never moves to another organization.
  const organizations = new BoundedCache<string, string>(projects_max)
  return {
    findOrganization: async (project_id) => {
      const known = organizations.get(project_id)
      if (known !== undefined) return known
      const row = await db
        .selectFrom('projects')
        .select('organization_id')
        .where('id', '=', project_id)
        .executeTakeFirst()
      if (row !== undefined) organizations.set(project_id, row.organization_id)
      return row?.organization_id
    },
    toStatement: (entry) => toAppendStatement(entry),
    append: async (entry) => {
      await appendEntry(db, entry)
    },
    storeRead: (entry) => {
      if (journal === undefined) throw new Error('this process has no journal of reads')
      journal.append(chainOf(entry.organization_id), toUnsealed(entry))
    },
  }
}
