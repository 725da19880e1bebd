import { type RawBuilder, sql } from 'kysely'
import type { ResourceName } from '../../model/managed-by.ts'

/** Matches rows whose `managed_by` is this resource, by the rule of `isOwner`. */
export function ownedBy(resource: ResourceName): RawBuilder<boolean> {
  const { kind, namespace, name, installation = null, uid = null } = resource
  return sql<boolean>`(managed_by is not null and managed_by->>'kind' = ${kind}
    and managed_by->>'namespace' = ${namespace} and managed_by->>'name' = ${name}
    and (managed_by->>'installation' is not distinct from ${installation}::text
      or (managed_by->>'installation' is null
        and (${uid}::text is null or managed_by->>'uid' = ${uid}::text))))`
}
