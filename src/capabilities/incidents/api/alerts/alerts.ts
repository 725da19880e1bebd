import { z } from 'zod'
import { idPageQuery, pageFields, readIdPage } from '../../../../model/id-pages.ts'
import { record, windowSchema } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { ruleKindSchema } from '../../rules/rule.ts'
import { signalOf } from '../../store/incident-row.ts'
import type { IncidentRoutesDeps } from '../contract.ts'
import { type RuleEvaluation, readEvaluations } from '../rules/evaluation-store.ts'
import { ruleTable, type StoredRule } from '../rules/store.ts'
import { countInWindow, countUnresolved, readStats } from './store.ts'
import { alertWindow, windowQuery } from './window.ts'

const count = z.int().nonnegative()
const duration_ms = z.number().nullable()

const timesSchema = record('TimeStatistics', {
  incidents: count,
  median_ms: duration_ms.describe('By nearest rank; null without incidents.'),
  p90_ms: duration_ms.describe('By nearest rank; null without incidents.'),
})

/**
 * GET /api/v1/alerts/stats: statistics of the incidents that were opened in a window. Incidents of
 * shadow rules do not count.
 */
export function getAlertStats({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/alerts/stats',
    id: 'getAlertStats',
    summary: 'Times to acknowledge and to resolve, flapping and noise',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    query: z.strictObject(windowQuery),
    reply: record('AlertStats', {
      window: windowSchema,
      opened: count.describe('Incidents that were opened in the window.'),
      time_to_acknowledge: timesSchema.describe(
        'From the recording of the opening, about `delay` after its slot, to the first acknowledgement.',
      ),
      time_to_resolve: timesSchema.describe('From the opening to the resolve; resolved ones only.'),
      flapping: count.describe('Incidents that flapped.'),
      noise: record('AlertNoise', {
        resolved: count,
        without_move: count.describe('Resolved without a move of a person, key or channel.'),
        share: z
          .number()
          .min(0)
          .max(1)
          .nullable()
          .describe('`without_move` / `resolved`; null without resolved incidents.'),
      }),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const window = alertWindow(query, clock.now_ms())
      const stats = await readStats(db, project_id, window)
      const { opened = 0, resolved = 0, resolved_alone: without_move = 0 } = stats ?? {}
      return {
        window,
        opened,
        time_to_acknowledge: {
          incidents: stats?.acknowledged ?? 0,
          median_ms: stats?.ack_median ?? null,
          p90_ms: stats?.ack_p90 ?? null,
        },
        time_to_resolve: {
          incidents: resolved,
          median_ms: stats?.resolve_median ?? null,
          p90_ms: stats?.resolve_p90 ?? null,
        },
        flapping: stats?.flapping ?? 0,
        noise: { resolved, without_move, share: resolved === 0 ? null : without_move / resolved },
      }
    },
  })
}

/**
 * GET /api/v1/alerts/summary: unresolved incidents now, and those opened and resolved in a window.
 * Incidents of shadow rules do not count.
 */
export function getAlertSummary({ db, clock }: IncidentRoutesDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/alerts/summary',
    id: 'getAlertSummary',
    summary: 'Open incidents by severity and signal, new and resolved ones',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    query: z.strictObject(windowQuery),
    reply: record('AlertSummary', {
      open: count.describe('Unresolved incidents now, acknowledged ones too.'),
      acknowledged: count,
      suppressed: count,
      flapping: count,
      by_severity: record('SeverityCounts', {
        info: count,
        low: count,
        medium: count,
        high: count,
        critical: count,
      }),
      by_signal: z
        .array(record('SignalCount', { signal: z.string(), open: count }))
        .describe('Signals with unresolved incidents; for event rules, their source.'),
      window: windowSchema,
      new: count.describe('Incidents that were opened in the window.'),
      resolved: count.describe('Incidents that were resolved in the window, and are not reopened.'),
    }),
    errors: ['store_unavailable'],
    handle: async ({ query, caller: { project_id } }) => {
      const window = alertWindow(query, clock.now_ms())
      const [open, inWindow] = await Promise.all([
        countUnresolved(db, project_id),
        countInWindow(db, project_id, window),
      ])
      const sum = (field: 'open' | 'acknowledged' | 'suppressed' | 'flapping') =>
        open.reduce((total, one) => total + one[field], 0)
      const bySignal = Map.groupBy(open, ({ signal }) => signal)
      const total = (rows: readonly { open: number }[]) =>
        rows.reduce((all, one) => all + one.open, 0)
      const bySeverity = (severity: string) =>
        total(open.filter((one) => one.severity === severity))
      const [info, low, medium, high, critical] = severities.map(bySeverity)
      return {
        open: sum('open'),
        acknowledged: sum('acknowledged'),
        suppressed: sum('suppressed'),
        flapping: sum('flapping'),
        by_severity: {
          info: info ?? 0,
          low: low ?? 0,
          medium: medium ?? 0,
          high: high ?? 0,
          critical: critical ?? 0,
        },
        by_signal: [...bySignal].map(([signal, rows]) => ({ signal, open: total(rows) })),
        window,
        ...inWindow,
      }
    },
  })
}

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
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor }, caller: { project_id } }) => {
      const { items, info } = await readIdPage(list, { limit, cursor }, (page) =>
        ruleTable.select(db, project_id, {
          filter: { suspended: false },
          ...page,
        }),
      )
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
    rule_id,
    name,
    kind,
    signal: signalOf(spec),
    severity,
    mode,
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
