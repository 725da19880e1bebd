import { z } from 'zod'
import { problem } from '../kernel/problem.ts'
import { record } from './named-schemas.ts'

/** A DNS label (RFC 1123), as Kubernetes names a namespace. */
const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'

/** A DNS subdomain (RFC 1123), as Kubernetes names a Secret or a custom resource. */
const subdomainPattern = new RegExp(`^${label}(\\.${label})*$`)
export const labelPattern = new RegExp(`^${label}$`)

/** The custom resource that manages an object of the service. */
export const managedByField = record('ManagedBy', {
  kind: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[A-Za-z]+$/),
  namespace: z.string().min(1).max(63).regex(labelPattern),
  name: z.string().min(1).max(253).regex(subdomainPattern),
  uid: z.string().min(1).max(64),
  installation: z
    .uuid()
    .optional()
    .describe('Id of the operator’s installation. Missing in objects of earlier versions.'),
  cluster: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('uid of the namespace `kube-system` of the cluster.'),
})

export type ManagedBy = z.output<typeof managedByField>

/** Identity of a resource and of the installation that serves it. */
export type ResourceName = Pick<ManagedBy, 'kind' | 'namespace' | 'name' | 'installation'> & {
  /** Undefined in a query, which names no uid. */
  uid?: string
}

/** A resource in a query: `RetentionPolicy/team-a/default`, then the id of its installation. */
export const managedByParameter = z
  .string()
  .max(440)
  .regex(
    /^[A-Za-z]+\/[a-z0-9-]+\/[a-z0-9.-]+(\/[0-9a-f-]{36})?$/,
    'expected Kind/namespace/name or Kind/namespace/name/installation',
  )
  .meta({ id: 'ResourceName' })
  .transform((text): ResourceName => {
    const [kind = '', namespace = '', name = '', installation] = text.split('/')
    return { kind, namespace, name, ...(installation !== undefined && { installation }) }
  })
  .describe(
    'A custom resource, as `Kind/namespace/name`, then `/` and the id of its installation if it has one.',
  )

/**
 * Whether a resource is the owner of an object. A resource that was restored from a backup has
 * another uid, so the uid counts only for objects of earlier versions, which name no installation.
 */
export function isOwner(owner: ManagedBy, by: ResourceName): boolean {
  const { kind, namespace, name, installation } = owner
  if (by.kind !== kind || by.namespace !== namespace || by.name !== name) return false
  if (installation !== undefined || by.installation === undefined) {
    return installation === by.installation
  }
  return by.uid === undefined || by.uid === owner.uid
}

/**
 * Rejects a change of a managed object by anyone but its resource. Throws `managed_by_kubernetes`.
 */
export function refuseUnlessOwner(owner: ManagedBy | null, by: ResourceName | null): void {
  if (owner === null || (by !== null && isOwner(owner, by))) return
  refuseOtherInstallation(owner, by)
  const { kind, namespace, name } = owner
  throw problem('managed_by_kubernetes', {
    detail: `${kind} ${namespace}/${name} manages this object: change that resource instead`,
  })
}

/**
 * Rejects that a resource replaces the owner of an object, if another installation serves the owner.
 * Throws `managed_by_kubernetes`.
 */
export function refuseOtherInstallation(owner: ManagedBy | null, by: ResourceName | null): void {
  if (owner?.installation === undefined || by === null) return
  if (owner.installation === by.installation) return
  const { kind, namespace, name, installation } = owner
  throw problem('managed_by_kubernetes', {
    detail: `${kind} ${namespace}/${name} of the installation ${installation} manages this object: delete that resource first`,
  })
}
