import { z } from 'zod'
import { managedByField } from '../../../../model/managed-by.ts'
import { record } from '../../../../model/named-schemas.ts'
import { severities } from '../../../../model/severity.ts'
import { findProjectMembers } from '../../../access/index.ts'
import { splitTiers } from '../../rules/burn-tiers.ts'
import { burnRateSchema } from '../../rules/condition-kinds.ts'
import { type Rule, ruleFields, ruleKindSchema } from '../../rules/rule.ts'
import { canonicalRule } from '../../rules/written-rule.ts'
import { routeTable } from '../../store/default-route.ts'
import type { IncidentRoutesDb } from '../contract.ts'
import { channelNames, type RuleEvaluation, readEvaluations } from './evaluation-store.ts'
import { ruleReferences, type StoredRule } from './store.ts'
import { type KnownNames, missingChannels, warningsOf } from './warnings.ts'

const tierFields = burnRateSchema.shape.tiers.unwrap().element.shape

const evaluationSchema = record('IncidentRuleEvaluation', {
  rule_version: z.int().describe('Newest version that was evaluated; 0 before the first.'),
  last_slot: z.iso.datetime().nullable().describe('End of the newest complete or skipped slot.'),
  evaluated_at: z.iso.datetime().nullable(),
  groups: z.int().describe('Live groups.'),
  overflow: z.int().describe('Groups above the limit, which are not evaluated.'),
  open_incidents: z
    .int()
    .describe('Unresolved incidents to which the rule contributed, orphaned ones too.'),
  last_opened_at: z.iso
    .datetime()
    .nullable()
    .describe('When the newest incident of the rule was opened; null without one.'),
  firing: z.boolean().describe('Whether a group fires.'),
  healthy: z.boolean().describe('Whether the last evaluation succeeded.'),
  partial: z.boolean().describe('Whether the newest slot waits for accepted rows to be stored.'),
  lag_ms: z.int().describe('Age of the oldest accepted item that was not stored at that slot.'),
  gap: record('EvaluationGap', { from: z.iso.datetime(), to: z.iso.datetime() })
    .nullable()
    .describe('The newest skipped slots: end of the first and of the last one.'),
  last_error: z.string().nullable(),
})

/** A rule in replies. */
export const ruleSchema = record('IncidentRule', {
  rule_id: z.uuid(),
  kind: ruleKindSchema,
  ...ruleFields,
  version: z.int().describe('Version, incremented by each change; also the ETag.'),
  managed_by: managedByField
    .nullable()
    .describe('Kubernetes resource that declares the rule; only that resource may change it.'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  updated_by: z.string().describe('`user:<id>` or `operator:<id>`.'),
  warnings: z.array(z.string()).describe('Why the rule may not do what its author expects.'),
  missing_channels: z
    .array(z.string())
    .describe('Names in `notify` and `escalation` that no channel of the project has.'),
  effective_selector: ruleFields.selector.describe('Selector that is evaluated.'),
  effective_tiers: z
    .array(record('EffectiveTier', { ...tierFields, severity: z.enum(severities) }))
    .optional()
    .describe('Tiers of a burn rate that are evaluated, the largest factor first.'),
  left_out_tiers: z
    .array(record('LeftOutTier', { tier: record('GivenTier', tierFields), reason: z.string() }))
    .optional()
    .describe('Tiers of the preset that can never fire at the objective.'),
  evaluation: evaluationSchema,
})

type RuleReply = z.input<typeof ruleSchema>

/** Returns the replies of rules of a project, with their evaluations and warnings. */
export async function toReplies(
  db: IncidentRoutesDb,
  project_id: string,
  rules: readonly StoredRule[],
): Promise<RuleReply[]> {
  if (rules.length === 0) return []
  const [evaluations, known] = await Promise.all([
    readEvaluations(db, project_id, rules),
    knownNames(
      db,
      project_id,
      rules.map(({ spec }) => spec),
    ),
  ])
  return rules.map((rule) => toReply(rule, evaluations.get(rule.id), known))
}

/** Reads the names that rules of a project refer to. */
export async function knownNames(
  db: IncidentRoutesDb,
  project_id: string,
  rules: readonly Rule[],
): Promise<KnownNames> {
  const assigned = rules.flatMap(({ assign_to }) => assign_to?.toLowerCase() ?? [])
  const inhibits = rules.some(({ inhibited_by }) => inhibited_by.length > 0)
  const [channels, references, members, route] = await Promise.all([
    channelNames(db, project_id),
    inhibits ? ruleReferences(db, project_id) : [],
    findProjectMembers(db, { project_id, named: [...new Set(assigned)] }),
    routeTable.read(db, project_id),
  ])
  return {
    channels,
    rules: new Set(references.map(({ name }) => name)),
    members: new Set(members.flatMap(({ id, email }) => [id, email])),
    route: route.spec,
  }
}

function toReply(
  { id: rule_id, project_id: _, suspended: __, spec: stored, ...row }: StoredRule,
  evaluated: RuleEvaluation | undefined,
  known: KnownNames,
): RuleReply {
  const spec = canonicalRule(stored) as Rule
  const tiers = spec.burn_rate && splitTiers(spec.burn_rate, spec.severity)
  return {
    ...spec,
    rule_id,
    ...row,
    warnings: warningsOf(spec, known),
    missing_channels: missingChannels(spec, known),
    effective_selector: spec.selector,
    ...(tiers && {
      effective_tiers: [...tiers.tiers],
      left_out_tiers: [...tiers.left_out],
    }),
    evaluation: toEvaluation(evaluated),
  }
}

function toEvaluation(evaluated: RuleEvaluation | undefined): z.input<typeof evaluationSchema> {
  const row = evaluated?.evaluation
  return {
    rule_version: row?.rule_version ?? 0,
    last_slot: row?.last_slot ?? null,
    evaluated_at: row?.evaluated_at ?? null,
    groups: row?.groups ?? 0,
    overflow: row?.overflow ?? 0,
    open_incidents: evaluated?.open_incidents ?? 0,
    last_opened_at: evaluated?.last_opened_at ?? null,
    firing: evaluated?.firing ?? false,
    healthy: (row?.failures ?? 0) === 0,
    partial: row?.partial ?? false,
    lag_ms: row?.lag_ms ?? 0,
    gap: row?.gap_from && row.gap_to ? { from: row.gap_from, to: row.gap_to } : null,
    last_error: row?.last_error ?? null,
  }
}
