import { z } from 'zod'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { Clock } from '../../../kernel/time.ts'
import { refuseUnstorable } from '../../../model/storable.ts'
import type { Route } from '../../../platform/http/index.ts'
import { declaredBy } from '../../access/index.ts'
import { type ChangeOf, namedDocumentRoutes } from '../../documents/index.ts'
import {
  digestPolicy,
  type PolicyRules,
  policyBody,
  policyFields,
  toPolicyDocument,
} from '../policy/policy.ts'
import { policySchema, toPolicyReply } from './policy-reply.ts'
import { type PolicyDb, policyTable, type StoredPolicy } from './store.ts'

/** Dependencies of the routes of policies. */
export type PolicyDeps = { db: PolicyDb; clock: Clock }

/** Who may read policies. */
export const readsPolicies = {
  level: 'project',
  role: 'viewer',
  key: 'certification:run',
  operator: true,
} as const

const putBody = z
  .strictObject({ ...policyFields, managed_by: declaredBy })
  .superRefine(({ managed_by: _, ...rules }, context) => {
    // The faults of gates are already reported.
    if (context.issues.length > 0) return
    const { error } = policyBody.safeParse(rules)
    for (const { path, message } of error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
  })
  .superRefine(refuseUnstorable)
  .meta({ id: 'ReleasePolicyRequest' })

/**
 * Routes of release policies. PUT creates a policy or its next version; equal rules change nothing.
 * Certifications that have started keep their version. The versions of a deleted policy remain,
 * because statements name them.
 */
export function releasePolicyDocuments(deps: PolicyDeps): Route[] {
  return namedDocumentRoutes(deps, {
    table: policyTable,
    title: 'release policies',
    documents_max: 100,
    is_owned: true,
    url: '/api/v1/reliability/phase10/release-policies',
    item_url: '/api/v1/reliability/phase10/release-policies/{policy_id}',
    list: {
      id: 'listReleasePolicies',
      summary: 'Release policies of the project, without the built-in one',
      reply: 'ReleasePolicyList',
      field: 'policies',
    },
    get: { id: 'getReleasePolicy', summary: 'Read a release policy' },
    put: { id: 'putReleasePolicy', summary: 'Create a release policy, or its next version' },
    delete: { id: 'deleteReleasePolicy', summary: 'Delete a release policy' },
    reads: readsPolicies,
    writes: { level: 'project', role: 'admin', key: null, operator: true },
    body: putBody,
    reply: policySchema,
    toColumns: async (_trx, change) => toColumns(change),
    toReplies: async (policies) => policies.map(toPolicyReply),
  })
}

function toColumns({ id, version, spec, before, at, by }: ChangeOf<StoredPolicy, PolicyRules>) {
  const toDocument = (number: number) => toPolicyDocument(id, number, spec)
  const isEqual = before && isSame(before.document, toDocument(before.version))
  if (isEqual) return undefined
  const document = toDocument(version)
  const created = before === undefined ? { created_at: at, created_by: by } : {}
  return { columns: { document, digest: digestPolicy(document), ...created } }
}

function isSame(one: object, other: object): boolean {
  return canonicalJson(one) === canonicalJson(other)
}
