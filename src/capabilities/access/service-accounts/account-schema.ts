import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { keyScopes } from '../../../kernel/scopes.ts'
import { managedByField } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import { idField, instantField } from '../fields.ts'

/** A service account in a reply. */
export const accountSchema = record('ServiceAccount', {
  id: z.uuid(),
  project_id: z.uuid(),
  name: z.string(),
  scopes: z.array(z.enum(keyScopes)).describe('The most that its keys may do.'),
  disabled_at: instantField.nullable().describe('Since when its keys are refused.'),
  created_at: instantField,
  created_by: z.uuid().nullable(),
  managed_by: managedByField
    .nullable()
    .describe('The resource in Kubernetes that declares it, and alone may change it.'),
})

/** The path of one account. */
export const accountParams = z.strictObject({ service_account_id: idField })

/** The error for an account that the project does not have. */
export function accountNotFound(service_account_id: string): Error {
  return problem('service_account_not_found', {
    detail: `The project has no service account with the id ${service_account_id}`,
  })
}

/** The error for a name that another account of the project has. */
export function nameTaken(name: string): Error {
  return problem('name_taken', {
    detail: `The project has a service account "${name}" already`,
  })
}
