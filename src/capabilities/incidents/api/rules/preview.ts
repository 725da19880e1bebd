import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { record } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { newestSlot } from '../../evaluation/slots.ts'
import type { PreviewTransition, Range } from '../../preview/rule-preview.ts'
import { checkSlots, type Previewed, runPreview } from '../../preview/run-preview.ts'
import { readMatches } from '../../preview/stored-findings.ts'
import type { Rule } from '../../rules/rule.ts'
import { routeTable } from '../../store/default-route.ts'
import type { IncidentRoutesDb, IncidentRoutesDeps } from '../contract.ts'
import { knownNames } from './rule-reply.ts'
import { declaredRule } from './rules.ts'
import { warningsOf } from './warnings.ts'

const day_ms = 86_400_000
const week_ms = 7 * day_ms
const days_max = 28
const daysByDefault = 7
const transitions_max = 1_000
const keys_max = 50

const group = z.record(z.string(), z.string())
const count = z.int().nonnegative()

const previewBody = z
  .strictObject({
    rule: declaredRule,
    from: z.iso.datetime({ offset: true }).optional().describe('Start of the range.'),
    to: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('End of the range, at most 28 days after `from`. Default: now.'),
    days: z
      .int()
      .min(1)
      .max(days_max)
      .optional()
      .describe('Days up to `to`, instead of `from`: 1–28. Default: 7.'),
  })
  .refine(({ from, days }) => from === undefined || days === undefined, {
    path: ['days'],
    error: 'expected `from` or `days`, got both',
  })
  .meta({ id: 'IncidentRulePreviewRequest' })

const previewSchema = record('IncidentRulePreview', {
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  available_from: z.iso
    .datetime()
    .nullable()
    .describe('Start of the stored rows: what is before it is not evaluated. Null without rows.'),
  evaluated_minutes: z.number().describe('Minutes of the range with stored rows.'),
  transitions: z
    .array(
      record('RuleTransition', {
        at: z.iso.datetime().describe('End of the slot; for event rules, time of the match.'),
        group,
        type: z.enum(['fired', 'raised', 'ended', 'forgotten']),
        severity: z.enum(severities).nullable(),
      }),
    )
    .max(transitions_max)
    .describe('The first 1,000 transitions of groups.'),
  transitions_total: count,
  minutes_firing: z.number().describe('Minutes in which at least one group fires.'),
  incidents: count.describe('Incidents that would be opened.'),
  pages: count.describe('Openings, reopenings and raised severities.'),
  pages_per_week: z
    .number()
    .nullable()
    .describe(
      '`pages` in 7 days; null if less than a day was evaluated, which says little of a week.',
    ),
  messages: z
    .record(z.string(), count)
    .describe('Messages to channels by reason, if no person acts.'),
  recipients: z
    .array(z.string())
    .describe('Channels that would get a message, with all escalation steps.'),
  groups: count.describe('Groups that were evaluated.'),
  overflow: count.describe('Most groups above the limit at one slot; they are not evaluated.'),
  dedup_keys: z
    .array(record('PreviewedKey', { dedup_key: z.string(), groups: count }))
    .max(keys_max)
    .describe('Dedup keys with the number of their groups, the largest first.'),
  series: z
    .array(
      record('PreviewSeries', {
        group,
        points: z.array(
          record('PreviewPoint', {
            at: z.iso.datetime(),
            value: z.number().nullable(),
            samples: z.int(),
          }),
        ),
      }),
    )
    .describe('Up to 10 groups and 500 points each: of several slots the value nearest to firing.'),
  warnings: z.array(z.string()),
})

/**
 * POST /api/v2/observability/incidents/rules/preview: evaluates a rule on stored rows as the worker
 * does, without suppressions and without people, and stores nothing. One preview of a project runs
 * at a time.
 */
export function previewIncidentRule(deps: IncidentRoutesDeps): Route {
  const { db, clock } = deps
  const running = new Set<string>()
  return defineRoute({
    method: 'POST',
    url: '/api/v2/observability/incidents/rules/preview',
    id: 'previewIncidentRule',
    summary: 'Evaluate an incident rule on stored rows',
    audit: 'refusals',
    auth: 'jwt_or_key',
    scope: { level: 'project', role: 'viewer', key: 'incidents:read' },
    body: previewBody,
    reply: previewSchema,
    errors: ['query_too_expensive', 'rate_limited', 'store_unavailable'],
    handle: async ({ body, caller: { project_id }, signal }) => {
      const { managed_by: _, ...rule } = body.rule
      const range = rangeOf(body, rule, clock.now_ms())
      checkSlots(rule, range)
      if (running.has(project_id)) {
        const detail = 'A preview of this project is running already. Try again shortly.'
        throw problem('rate_limited', { detail, retry_after_s: 1 })
      }
      running.add(project_id)
      try {
        const parts = {
          measureRange: deps.measureRange,
          readMatches: (request: Parameters<typeof readMatches>[1], limit: number) =>
            readMatches(db, request, limit),
        }
        const route = (await routeTable.read(db, project_id)).spec
        const previewed = await runPreview(parts, { project_id, rule, range, route, signal })
        const warnings = await warningsFor(db, project_id, rule)
        const reply = toReply(previewed, range)
        return { ...reply, warnings: [...warnings, ...warningsOfAge(reply)] }
      } finally {
        running.delete(project_id)
      }
    },
  })
}

/** Returns the range of a request, up to the newest slot. Throws `invalid_request`. */
function rangeOf(
  { from, to, days = daysByDefault }: z.output<typeof previewBody>,
  rule: Rule,
  now_ms: number,
): Range {
  const newest_ms = rule.event === undefined ? newestSlot(rule, now_ms) : now_ms
  const to_ms = Math.min(to === undefined ? now_ms : Date.parse(to), newest_ms)
  const from_ms = from === undefined ? to_ms - days * day_ms : Date.parse(from)
  if (from_ms < to_ms && to_ms - from_ms <= days_max * day_ms) return { from_ms, to_ms }
  const detail = `expected an instant before ${iso(to_ms)}, by at most ${days_max} days`
  throw problem('invalid_request', {
    detail: `/from: got ${iso(from_ms)}, ${detail}`,
    faults: [{ pointer: '/from', detail }],
  })
}

async function warningsFor(
  db: IncidentRoutesDb,
  project_id: string,
  rule: Rule,
): Promise<string[]> {
  const warnings = warningsOf(rule, await knownNames(db, project_id, [rule]))
  if (rule.condition?.signal === 'ingest_lag') {
    warnings.push('The lag of past slots is not stored, so that the preview has no transitions.')
  }
  if (rule.event?.match.source === 'ledger') {
    warnings.push('Only findings are previewed, so that the preview has no transitions.')
  }
  return warnings
}

/** Says how little was evaluated: a rule without rows cannot fire. */
function warningsOfAge({ evaluated_minutes, from, to }: Reply): string[] {
  const asked_minutes = (Date.parse(to) - Date.parse(from)) / 60_000
  if (evaluated_minutes >= Math.min(asked_minutes, day_ms / 60_000)) return []
  if (evaluated_minutes === 0)
    return ['The range has no stored rows, so that nothing was evaluated.']
  return [
    `Rows are stored for ${Math.floor(evaluated_minutes)} minutes of the range only: too little to say how many pages a week has.`,
  ]
}

type Reply = Omit<z.input<typeof previewSchema>, 'warnings'>

function toReply(previewed: Previewed, { from_ms, to_ms }: Range): Reply {
  const { available_from_ms, transitions, firing_ms, incidents, pages } = previewed
  const { messages, recipients, groups, overflow, series } = previewed
  const evaluated_ms = Math.max(0, to_ms - Math.max(from_ms, available_from_ms ?? to_ms))
  return {
    from: iso(from_ms),
    to: iso(to_ms),
    incidents,
    pages,
    overflow,
    available_from: available_from_ms === undefined ? null : iso(available_from_ms),
    transitions: transitions.slice(0, transitions_max).map(toTransition),
    transitions_total: transitions.length,
    minutes_firing: firing_ms / 60_000,
    pages_per_week: evaluated_ms < day_ms ? null : (pages * week_ms) / evaluated_ms,
    evaluated_minutes: evaluated_ms / 60_000,
    messages: { ...messages },
    recipients: [...recipients],
    groups: groups.length,
    dedup_keys: countKeys(groups),
    series: series.map(({ group, points }) => ({
      group: { ...group },
      points: points.map(({ at_ms, ...point }) => ({ at: iso(at_ms), ...point })),
    })),
  }
}

function toTransition({ group, ...transition }: PreviewTransition) {
  return {
    at: iso(transition.slot_ms),
    group: { ...group },
    type: transition.type,
    severity: 'severity' in transition ? transition.severity : null,
  }
}

function countKeys(groups: Previewed['groups']): { dedup_key: string; groups: number }[] {
  return [...Map.groupBy(groups, ({ dedup_key }) => dedup_key)]
    .map(([dedup_key, same]) => ({ dedup_key, groups: same.length }))
    .toSorted((one, other) => other.groups - one.groups)
    .slice(0, keys_max)
}

function iso(at_ms: number): string {
  return new Date(at_ms).toISOString()
}
