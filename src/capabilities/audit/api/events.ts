import { z } from 'zod'
import { cutPage, pageInfo, totalExactMax } from '../../../kernel/pages.ts'
import { pageFields } from '../../../model/id-pages.ts'
import {
  cursorParameter,
  instantParameter,
  isoWindow,
  limitParameter,
  textParameter,
} from '../../../model/list-query.ts'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { eventSchema, outcomeSchema, toEvent } from '../events/event.ts'
import { countEvents, selectEvents } from '../events/store.ts'
import {
  type AuditDeps,
  auditScope,
  chainErrors,
  chainQuery,
  cursorAfter,
  findChainId,
  numberBefore,
} from './contract.ts'

const list = 'audit events'

/** GET /api/v2/audit/events: audited calls, newest first. */
export function getEvents(deps: AuditDeps): Route {
  const { db } = deps
  return defineRoute({
    method: 'GET',
    url: '/api/v2/audit/events',
    id: 'listAuditEvents',
    summary: 'Audited calls of the organization, newest first',
    auth: 'jwt',
    scope: auditScope,
    query: z.strictObject({
      ...chainQuery,
      actor_id: textParameter('Id of the user, key, account, operator key or job.'),
      action: textParameter('The operationId of a route, such as `createApiKey`.'),
      resource_type: textParameter('For example `access/projects/api-keys`.'),
      resource_id: textParameter('Id of the object that a call is about.'),
      outcome: outcomeSchema.optional(),
      of_project: z.uuid().toLowerCase().optional().describe('Only calls in this project.'),
      from: instantParameter('Calls at or after this time.'),
      to: instantParameter('Calls before this time.'),
      limit: limitParameter,
      cursor: cursorParameter,
    }),
    reply: record('AuditEventList', {
      events: z.array(eventSchema),
      ...pageFields,
    }),
    errors: [...chainErrors, 'invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { chain, limit, cursor, of_project, from, to, ...query }, caller }) => {
      const chain_id = await findChainId(deps, { chain, caller })
      const filter = { ...query, ...isoWindow({ from, to }), chain_id, project_id: of_project }
      const before = numberBefore(list, cursor)
      const [rows, counted] = await Promise.all([
        selectEvents(db, filter, { before, limit: limit + 1 }),
        countEvents(db, filter, totalExactMax + 1),
      ])
      const { items, last } = cutPage(rows, limit)
      return { events: items.map(toEvent), ...pageInfo(counted, cursorAfter(list, last?.seq)) }
    },
  })
}
