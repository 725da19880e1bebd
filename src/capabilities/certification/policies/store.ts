import type { CertificationTables, Kysely, Selectable } from '../../../platform/relational/index.ts'
import { NamedTable } from '../../documents/index.ts'
import { type PolicyDocument, policyId } from '../policy/policy.ts'

/** The database of policies. */
export type PolicyDb = Kysely<CertificationTables>

/** A document is only written by `toColumns` of the declared policies. */
type WithDocument<Row> = Omit<Row, 'document'> & { document: PolicyDocument }

/** A policy in its current version. */
export type StoredPolicy = WithDocument<Selectable<CertificationTables['certification_policies']>>

/** A version of a policy; `updated_at` and `updated_by` tell its change. */
export type StoredVersion = WithDocument<
  Selectable<CertificationTables['certification_policy_versions']>
>

/** Statements name versions, so none is ever deleted. */
const versions_max = 10_000

const names = {
  noun: 'policy',
  not_found: 'release_policy_not_found',
  chosen_id: policyId,
} as const

/** The table of policies. */
export const policyTable = new NamedTable<StoredPolicy>('certification_policies', {
  ...names,
  json: ['document', 'managed_by'],
  versions: {
    table: 'certification_policy_versions',
    columns: ['digest', 'document'],
    versions_max,
  },
})

/** The table of their versions, newest first, also of deleted policies. */
export const versionTable = new NamedTable<StoredVersion>('certification_policy_versions', {
  ...names,
  json: ['document'],
  order: ['version', 'desc'],
})
