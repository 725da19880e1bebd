import { z } from 'zod'
import { textParameter } from '../../../../model/list-query.ts'
import { refuseUnstorable } from '../../../../model/storable.ts'
import type { Route } from '../../../../platform/http/index.ts'
import { declaredBy } from '../../../access/index.ts'
import { namedDocumentRoutes } from '../../../documents/index.ts'
import { ruleFields, ruleKindSchema } from '../../rules/rule.ts'
import { ruleFaults } from '../../rules/rule-faults.ts'
import { canonicalRule } from '../../rules/written-rule.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { rulesOfChange } from './change-rule.ts'
import { ruleSchema, toReplies } from './rule-reply.ts'

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

/**
 * Routes of incident rules. Unresolved incidents of a rule that is replaced or deleted remain open
 * as orphaned: people resolve them. An equal body changes nothing.
 */
export function incidentRuleRoutes(deps: IncidentRoutesDeps): Route[] {
  return namedDocumentRoutes(deps, {
    ...rulesOfChange(deps),
    url: '/api/v2/observability/incidents/rules',
    item_url: '/api/v2/observability/incidents/rules/{rule_id}',
    list: {
      id: 'listIncidentRules',
      summary: 'Incident rules, newest first',
      reply: 'IncidentRuleList',
      field: 'rules',
      filter: {
        name: textParameter('Only the rule with this name.', 63),
        kind: ruleKindSchema.optional().describe('Only rules of this kind.'),
      },
    },
    create: {
      id: 'createIncidentRule',
      summary: 'Create an incident rule',
      again: 'The resource declares the rule already; the answer is that rule, unchanged.',
    },
    get: { id: 'getIncidentRule', summary: 'Read an incident rule and its evaluation' },
    put: { id: 'putIncidentRule', summary: 'Replace an incident rule' },
    delete: { id: 'deleteIncidentRule', summary: 'Delete an incident rule' },
    reads: { level: 'project', role: 'viewer', key: 'incidents:read', operator: true },
    writes: { level: 'project', role: 'admin', key: null, operator: true },
    body: declaredRule,
    reply: ruleSchema,
    errors: ['name_taken'],
    toReplies: (rules, { project_id }) => toReplies(deps.db, project_id, rules),
  })
}
