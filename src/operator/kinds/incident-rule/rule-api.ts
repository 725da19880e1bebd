import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { ruleFields, ruleShape } from '../../../capabilities/incidents/rules/rule.ts'
import { canonicalRule } from '../../../capabilities/incidents/rules/written-rule.ts'
import { type ManagedBy, managedByField } from '../../../model/managed-by.ts'
import type { ReconcileDeps, ResourceMeta } from '../../contract.ts'
import {
  type Collection,
  type DeclaredObject,
  declaredObject,
} from '../../service/declared-object.ts'
import { parseAnswer } from '../../service/service-client.ts'
import type { IncidentRuleSpec } from './spec.ts'
import { toRule } from './to-rule.ts'

const evaluation = z.looseObject({
  rule_version: z.int(),
  last_slot: z.iso.datetime().nullable(),
  evaluated_at: z.iso.datetime().nullable(),
  groups: z.int(),
  overflow: z.int(),
  open_incidents: z.int(),
  firing: z.boolean(),
  healthy: z.boolean(),
  last_error: z.string().nullable(),
})

const storedShape = z.looseObject({
  rule_id: z.string(),
  version: z.int(),
  managed_by: managedByField.nullable(),
  warnings: z.array(z.string()),
  missing_channels: z.array(z.string()).default([]),
  effective_selector: z.record(z.string(), z.array(z.string())),
  evaluation,
})

/** A rule in the service, with its evaluation. */
export type StoredRule = z.output<typeof storedShape>

const page = z.looseObject({ rules: z.array(z.unknown()) })

const rules: Collection<StoredRule> = {
  root: '/api/v2/observability/incidents/rules',
  noun: 'incident rule',
  not_found: 'incident_rule_not_found',
  shape: storedShape,
  itemsOf: (body) => parseAnswer(page, body, 'list of incident rules').rules,
  idOf: ({ rule_id }) => rule_id,
}

/** Returns the rule that a resource declares. */
export function declaredRule(meta: ResourceMeta, deps: ReconcileDeps): DeclaredObject<StoredRule> {
  return declaredObject(rules, meta, deps)
}

/** The body of a rule with all defaults, as the service stores it. */
export type DesiredRule = Readonly<Record<string, unknown>>

/** Returns the rule that a spec declares. */
export function desiredRule({
  meta: { name },
  spec,
}: {
  meta: Pick<ResourceMeta, 'name'>
  spec: IncidentRuleSpec
}): DesiredRule {
  // As JSON, because undefined fields are absent in the service.
  return JSON.parse(JSON.stringify(ruleShape.parse(toRule({ name, spec }))))
}

/** Returns the fields in which a stored rule differs from the declared one. */
export function ruleDifferences(
  stored: StoredRule,
  desired: DesiredRule,
  owner: ManagedBy,
): string[] {
  const { managed_by } = stored
  const isOwn = managed_by?.uid === owner.uid && managed_by.installation === owner.installation
  // A service of an earlier version writes decimal texts.
  const known = canonicalRule(stored) as Readonly<Record<string, unknown>>
  const fields = Object.keys(ruleFields).filter(
    (field) => !isDeepStrictEqual(known[field] ?? null, desired[field] ?? null),
  )
  return isOwn ? fields : [...fields, 'managed_by']
}
