import type { z } from 'zod'
import { ruleBody } from '../../../capabilities/incidents/rules/rule-faults.ts'
import { incidentRuleFields } from './fields.ts'
import { toRule, toSpecPath } from './to-rule.ts'

/** Name in checks of a spec that names no rule; the resource's name is not part of its spec. */
const unnamed = 'unnamed-rule'

/**
 * The spec of an IncidentRule. Refuses what the service refuses: values beyond their bounds, fields
 * that do not fit each other, and rules that can never fire.
 */
export const incidentRuleSpec = incidentRuleFields.superRefine((spec, context) => {
  // A value that the resource may not have would be refused twice.
  if (context.issues.length > 0) return
  const { error } = ruleBody.safeParse(toRule({ name: unnamed, spec }))
  for (const { path, message } of error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: toSpecPath(path), message })
  }
})

export type IncidentRuleSpec = z.output<typeof incidentRuleSpec>
