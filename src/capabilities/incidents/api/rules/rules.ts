import { z } from 'zod'
import { isUuid, newId } from '../../../../kernel/ids.ts'
import { totalExactMax } from '../../../../kernel/pages.ts'
import { idAfter, idPage, idPageQuery } from '../../../../model/id-pages.ts'
import { flagParameter, textParameter } from '../../../../model/list-query.ts'
import { managedByParameter } from '../../../../model/managed-by.ts'
import { record } from '../../../../model/named-schemas.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import { defineRoute, ifMatchHeader, type Route } from '../../../../platform/http/index.ts'
import { declaredBy, declaredByParameter, getDeclarer } from '../../../access/index.ts'
import { requesterOf } from '../../../jobs/index.ts'
import { ruleFields, ruleKindSchema } from '../../rules/rule.ts'
import { ruleFaults } from '../../rules/rule-faults.ts'
import { canonicalRule } from '../../rules/written-rule.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { createRule, deleteStoredRule, putRule, ruleNotFound } from './change-rule.ts'
import { ruleSchema, toAnswer, toReplies } from './rule-reply.ts'
import { findRule, selectRules } from './store.ts'

const url = '/api/v2/observability/incidents/rules'
const list = 'incident rules'

/** Who may read rules, and who may write them. */
const reads = { level: 'project', role: 'viewer', key: 'incidents:read', operator: true } as const
const writes = { level: 'project', role: 'admin', key: null, operator: true } as const

const ruleRequest = z
  .strictObject({ ...ruleFields, managed_by: declaredBy })
  .superRefine(({ managed_by: _, ...rule }, context) => {
    for (const { path, message } of ruleFaults(rule)) {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
  })
  .superRefine(refuseUnstorable)
  .meta({ id: 'IncidentRuleRequest' })

/** The body of a rule that can be stored and can fire, also with the names and texts of resources. */
export const declaredRule = z.preprocess(canonicalRule, ruleRequest)

const rulePath = z.strictObject({ rule_id: z.string().describe('Id of the rule.') })

/** GET /api/v2/observability/incidents/rules: the rules of a project, newest first. */
export function listIncidentRules({ db }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url,
    id: 'listIncidentRules',
    summary: 'Incident rules, newest first',
    auth: 'jwt_or_key',
    scope: reads,
    query: z.strictObject({
      name: textParameter('Only the rule with this name.', 63),
      kind: ruleKindSchema.optional().describe('Only rules of this kind.'),
      managed_by: managedByParameter
        .optional()
        .describe('Only the rule that this resource declares.'),
      ...idPageQuery,
    }),
    reply: record('IncidentRuleList', {
      rules: z.array(ruleSchema),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor, ...filter }, caller: { project_id } }) => {
      const name = `${list} ${filter.kind ?? ''}`
      const result = await selectRules(
        db,
        { project_id, ...filter },
        { before: idAfter(name, cursor), limit: limit + 1, count_max: totalExactMax + 1 },
      )
      const page = idPage(result, { list: name, limit, idOf: ({ id }) => id })
      return { rules: await toReplies(db, project_id, page.items), ...page.info }
    },
  })
}

/**
 * POST /api/v2/observability/incidents/rules: creates a rule. When the resource of an operator's
 * call declares a rule already, the answer is that rule with 200, so that an operator that crashed
 * after the first call can repeat it.
 */
export function postIncidentRule(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'POST',
    url,
    id: 'createIncidentRule',
    summary: 'Create an incident rule',
    etag: true,
    status: 201,
    auth: 'jwt',
    scope: writes,
    idempotent: true,
    body: declaredRule,
    reply: ruleSchema,
    also: {
      status: 200,
      description: 'The resource declares the rule already; the answer is that rule, unchanged.',
      reply: ruleSchema,
    },
    errors: ['name_taken', 'limit_reached', 'store_unavailable'],
    handle: async ({ body: { managed_by, ...spec }, caller }) => {
      const { rule, is_new } = await createRule(
        deps,
        { project_id: caller.project_id, rule_id: newId() },
        {
          ...{ spec, managed_by: getDeclarer(caller, { managed_by }) },
          ...{ at: new Date(deps.clock.now_ms()), by: requesterOf(caller) },
        },
      )
      return toAnswer(deps.db, rule, is_new ? 201 : 200)
    },
  })
}

/** GET /api/v2/observability/incidents/rules/{rule_id}: one rule, with its evaluation. */
export function getIncidentRule({ db }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/incidents/rules/{rule_id}',
    id: 'getIncidentRule',
    summary: 'Read an incident rule and its evaluation',
    etag: true,
    auth: 'jwt_or_key',
    scope: reads,
    params: rulePath,
    reply: ruleSchema,
    errors: ['incident_rule_not_found', 'store_unavailable'],
    handle: async ({ params: { rule_id }, caller: { project_id } }) => {
      const rule = isUuid(rule_id) ? await findRule(db, { project_id, rule_id }) : undefined
      if (rule === undefined) throw ruleNotFound(rule_id)
      return toAnswer(db, rule)
    },
  })
}

/**
 * PUT /api/v2/observability/incidents/rules/{rule_id}: replaces a rule. Its unresolved incidents
 * remain open as orphaned: people resolve them. An equal body changes nothing.
 */
export function putIncidentRule(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'PUT',
    url: '/api/v2/observability/incidents/rules/{rule_id}',
    id: 'putIncidentRule',
    summary: 'Replace an incident rule',
    etag: true,
    auth: 'jwt',
    scope: writes,
    headers: [ifMatchHeader],
    params: rulePath,
    body: declaredRule,
    reply: ruleSchema,
    errors: [
      'incident_rule_not_found',
      'managed_by_kubernetes',
      'name_taken',
      'precondition_failed',
      'store_unavailable',
    ],
    handle: async ({ params, body: { managed_by, ...spec }, caller, headers }) => {
      const rule = await putRule(
        deps,
        { ...params, project_id: caller.project_id, headers },
        {
          ...{ spec, managed_by: getDeclarer(caller, { managed_by }) },
          ...{ at: new Date(deps.clock.now_ms()), by: requesterOf(caller) },
        },
      )
      return toAnswer(deps.db, rule)
    },
  })
}

/**
 * DELETE /api/v2/observability/incidents/rules/{rule_id}: deletes a rule. Its unresolved incidents
 * remain open as orphaned. With `retain` the rule is kept, and only its declaration is removed.
 */
export function deleteIncidentRule(deps: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/incidents/rules/{rule_id}',
    id: 'deleteIncidentRule',
    summary: 'Delete an incident rule',
    status: 204,
    auth: 'jwt',
    scope: writes,
    headers: [ifMatchHeader],
    params: rulePath,
    query: z.strictObject({
      managed_by: declaredByParameter,
      retain: flagParameter(
        '`true`: keep the rule and remove only its declaration. Requires `managed_by`.',
      ),
    }),
    reply: z.undefined(),
    errors: [
      'incident_rule_not_found',
      'managed_by_kubernetes',
      'precondition_failed',
      'store_unavailable',
    ],
    handle: async ({ params, query: { managed_by, retain = false }, caller, headers }) => {
      const by = getDeclarer(caller, { managed_by, take_over: retain })
      await deleteStoredRule(
        deps,
        { ...params, project_id: caller.project_id, headers },
        { by, is_operator: caller.kind === 'operator', retain },
      )
      return undefined
    },
  })
}
