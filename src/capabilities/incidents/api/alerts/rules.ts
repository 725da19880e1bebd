import { z } from 'zod'
import { idAfter, idPage, idPageQuery } from '../../../../model/id-pages.ts'
import { record } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { ruleKindSchema } from '../../rules/rule.ts'
import { signalOf } from '../../store/incident-row.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { type RuleEvaluation, readEvaluations } from '../rules/evaluation-store.ts'
import { ruleTable, type StoredRule } from '../rules/store.ts'

const alertRule = record('AlertRule', {
  rule_id: z.uuid(),
  name: z.string(),
  kind: ruleKindSchema,
  signal: z.string().describe('Signal of the rule; the source for event rules.'),
  severity: z.enum(severities),
  mode: z.enum(['live', 'shadow']),
  state: z
    .enum(['firing', 'unhealthy', 'waiting', 'ok'])
    .describe('`unhealthy`: the last evaluation failed. `waiting`: not evaluated yet.'),
  open_incidents: z.int().nonnegative(),
  last_slot: z.iso.datetime().nullable(),
  runbook_url: z.string().nullable(),
})

const list = 'alert rules'

/** GET /api/v1/alerts/rules: the rules in effect, with their state. */
export function listAlertRules({ db }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/alerts/rules',
    id: 'listAlertRules',
    summary: 'Rules in effect, with their state',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    query: z.strictObject(idPageQuery),
    reply: record('AlertRuleList', {
      rules: z.array(alertRule),
      total: z.int().nonnegative(),
      total_is_exact: z.literal(false).optional(),
      next_cursor: z.string().nullable(),
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor }, caller: { project_id } }) => {
      const result = await ruleTable.select(db, project_id, {
        filter: { suspended: false },
        before: idAfter(list, cursor),
        limit: limit + 1,
      })
      const { items, info } = idPage(result, { list, limit, idOf: ({ id }) => id })
      const evaluations = await readEvaluations(db, project_id, items)
      return { rules: items.map((rule) => toAlertRule(rule, evaluations.get(rule.id))), ...info }
    },
  })
}

function toAlertRule(
  { id: rule_id, name, kind, spec }: StoredRule,
  evaluated: RuleEvaluation | undefined,
): z.input<typeof alertRule> {
  const { severity, mode, runbook_url = null } = spec
  return {
    ...{ rule_id, name, kind, signal: signalOf(spec), severity, mode },
    state: stateOf(kind, evaluated),
    open_incidents: evaluated?.open_incidents ?? 0,
    last_slot: evaluated?.evaluation?.last_slot ?? null,
    runbook_url,
  }
}

/** Event rules are evaluated when a match is stored, so they never wait. */
function stateOf(kind: StoredRule['kind'], evaluated: RuleEvaluation | undefined) {
  if (evaluated?.firing === true) return 'firing'
  const row = evaluated?.evaluation
  if ((row?.failures ?? 0) > 0) return 'unhealthy'
  return kind !== 'event' && (row?.last_slot ?? null) === null ? 'waiting' : 'ok'
}
