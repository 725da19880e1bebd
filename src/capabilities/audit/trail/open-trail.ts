import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import type { AuditTrail } from '../../../platform/audit/index.ts'
import type { AccessTables, AuditTables, Kysely } from '../../../platform/relational/index.ts'
import { storeReads } from '../reads/store-reads.ts'
import { appendEntry, toAppendStatement } from './append.ts'

/** The database of the audit trail. */
export type AuditDb = Kysely<AccessTables & AuditTables>

const projects_max = 10_000

/** Opens the audit trail of a process. */
export function openAuditTrail(db: AuditDb): Omit<AuditTrail, 'keep'> {
  // A project never moves to another organization.
  const organizations = new BoundedCache<string, string>(projects_max)
  const storeRead = storeReads(db)
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
    storeRead,
  }
}
