import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { checkId, type KnowledgeDeps } from '../knowledge-base.ts'
import { deleteFact } from './store.ts'

/** DELETE /api/v1/verification/facts/{fact_id}: deletes a fact. */
export function removeFact({ db, limits }: KnowledgeDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v1/verification/facts/{fact_id}',
    id: 'deleteFact',
    summary: 'Delete a fact',
    status: 204,
    auth: 'jwt',
    scope: { level: 'project', role: 'editor', key: 'verification:run' },
    params: z.strictObject({ fact_id: z.string().describe('Id of the fact.') }),
    reply: z.undefined(),
    errors: ['fact_not_found', 'store_unavailable'],
    handle: async ({ params: { fact_id }, caller: { project_id } }) => {
      const id = checkId(fact_id, 'fact_not_found', 'fact_id')
      if (await deleteFact(db, { project_id, id }, limits)) return undefined
      throw problem('fact_not_found', {
        detail: `fact_id: got ${id}, expected a fact of this project`,
      })
    },
  })
}
