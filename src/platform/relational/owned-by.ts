import { type RawBuilder, sql } from 'kysely'
import type { ResourceName } from '../../model/managed-by.ts'

/** Matches rows whose `managed_by` (or another column) is this resource, by the rule of `isOwner`. */
export function ownedBy(
  resource: ResourceName,
  column: 'managed_by' | 'released_from' = 'managed_by',
): RawBuilder<boolean> {
  const { kind, namespace, name } = resource
  const [installation, uid] = [resource.installation ?? null, resource.uid ?? null]
  const owner = sql.ref(column)
  return sql<boolean>`(${owner} is not null and ${owner}->>'kind' = ${kind}
    and ${owner}->>'namespace' = ${namespace} and ${owner}->>'name' = ${name}
    and (${owner}->>'installation' is not distinct from ${installation}::text
      or (${owner}->>'installation' is null
        and (${uid}::text is null or ${owner}->>'uid' = ${uid}::text))))`
}
