import { z } from 'zod'
import { managedByField } from '../../../model/managed-by.ts'
import type { Collection } from '../../declared/declared-object.ts'

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

/** The rules of a project. */
export const rules: Collection<StoredRule> = {
  path: '/api/v2/observability/incidents/rules',
  noun: 'incident rule',
  list: 'rules',
  shape: storedShape,
  not_found: 'incident_rule_not_found',
  reasons: {
    name_taken: 'NameTaken',
    limit_reached: 'LimitReached',
    project_not_found: 'ProjectNotFound',
  },
  idOf: ({ rule_id }) => rule_id,
}
