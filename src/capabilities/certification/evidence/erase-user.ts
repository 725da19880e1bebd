import { randomUUID } from 'node:crypto'
import type { ErasureTarget } from '../../storage/index.ts'
import type { CertificationDb } from './contract.ts'

/**
 * Erases users from certifications. Cases of eval runs of a user get a random cluster. Evidence has
 * only salted digests. Without the salt it does not show whether a user or task is in it, and the
 * statement can still be computed again.
 */
export function openCertificationErasure({ db }: { db: CertificationDb }): ErasureTarget {
  return {
    eraseUser: async ({ project_id, user_id }) => {
      await db
        .updateTable('certification_eval_cases')
        .set({ cluster: `erased ${randomUUID()}` })
        .where('project_id', '=', project_id)
        .where('cluster', '=', user_id)
        .execute()
      await db
        .updateTable('certifications')
        .set({ evidence_salt: null })
        .where('project_id', '=', project_id)
        .where('evidence_salt', 'is not', null)
        .execute()
    },
  }
}
