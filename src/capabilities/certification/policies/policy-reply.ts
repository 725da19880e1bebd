import { z } from 'zod'
import { managedByField } from '../../../model/managed-by.ts'
import { record } from '../../../model/named-schemas.ts'
import { policyFields } from '../policy/policy.ts'
import { builtInDigest, builtInPolicy } from './default-policy.ts'
import type { StoredPolicy, StoredVersion } from './store.ts'

/** A version of a policy with its digest, as statements name it and `looptrace verify` reads it. */
const documentSchema = record('ReleasePolicyDocument', {
  id: z.string(),
  version: z.string().describe('Version as text, as in statements.'),
  ...policyFields,
  digest: z.string().describe('SHA-256 of the canonical JSON of the other fields, in hex.'),
})

/** A policy in replies. */
export const policySchema = record('ReleasePolicy', {
  policy_id: z.string(),
  policy: documentSchema,
  built_in: z
    .boolean()
    .describe('Whether it is the built-in policy, for projects that have set none.'),
  version: z
    .int()
    .describe('Version, incremented by each change of the rules; also the ETag. 0: built in.'),
  managed_by: managedByField
    .nullable()
    .describe('Kubernetes resource that declares the policy; only that resource may change it.'),
  created_at: z.iso.datetime().nullable(),
  created_by: z.string().nullable(),
  updated_at: z.iso.datetime().nullable(),
  updated_by: z.string().nullable().describe('`user:<id>` or `operator:<id>`.'),
})

/** A version of a policy in replies. */
export const versionSchema = record('ReleasePolicyVersion', {
  policy_id: z.string(),
  version: z.int(),
  policy: documentSchema,
  created_at: z.iso.datetime(),
  created_by: z.string(),
})

type PolicyReply = z.input<typeof policySchema>

/** Returns the reply of a policy. */
export function toPolicyReply(stored: StoredPolicy): PolicyReply {
  const { id: policy_id, project_id: _, document, digest, ...rest } = stored
  return { policy_id, policy: { ...document, digest }, built_in: false, ...rest }
}

/** The reply of the built-in policy. */
export const builtIn: PolicyReply = {
  policy_id: builtInPolicy.id,
  policy: { ...builtInPolicy, digest: builtInDigest },
  built_in: true,
  version: 0,
  managed_by: null,
  created_at: null,
  created_by: null,
  updated_at: null,
  updated_by: null,
}

/** Returns the reply of a version. */
export function toVersionReply(stored: StoredVersion): z.input<typeof versionSchema> {
  const { id: policy_id, version, document, digest, updated_at, updated_by } = stored
  const policy = { ...document, digest }
  return { policy_id, version, policy, created_at: updated_at, created_by: updated_by }
}
