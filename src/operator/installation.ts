import { derivedId } from '../kernel/ids.ts'
import type { ManagedBy } from '../model/managed-by.ts'
import type { KubeClient, KubeResource } from '../platform/kube/index.ts'

/** One installation of the operator: its id, and the uid of the namespace `kube-system`. */
export type Installation = { id: string; cluster: string }

const namespaces: KubeResource = { group: '', version: 'v1', plural: 'namespaces' }

/**
 * Reads the uid of the namespace `kube-system`, which identifies a cluster: it does not change, and
 * no two clusters have the same.
 */
export async function readCluster(kube: KubeClient): Promise<string> {
  const { metadata } = await kube.read(namespaces, { name: 'kube-system' })
  return metadata.uid
}

/** Returns the installation of a name whose Leases are in a namespace of the cluster. */
export function installationOf(
  cluster: string,
  { namespace, name }: { namespace: string; name: string },
): Installation {
  return { cluster, id: derivedId(cluster, `${namespace}/${name}`) }
}

/** Returns the owner that the service stores with the objects of a resource. */
export function ownerOf(
  { kind, namespace, name, uid }: Pick<ManagedBy, 'kind' | 'namespace' | 'name' | 'uid'>,
  installation: Installation | undefined,
): ManagedBy {
  const served = installation && { installation: installation.id, cluster: installation.cluster }
  return { kind, namespace, name, uid, ...served }
}

/** Whether two owners are the same resource, regardless of uid and installation. */
export function isSameResource(
  one: Pick<ManagedBy, 'kind' | 'namespace' | 'name'> | null,
  { kind, namespace, name }: Pick<ManagedBy, 'kind' | 'namespace' | 'name'>,
): boolean {
  return one !== null && one.kind === kind && one.namespace === namespace && one.name === name
}

/**
 * Whether a stored owner is this resource. An object of an operator without an installation belongs
 * to the resource with its uid: a query finds it by its names alone, also in another cluster.
 */
export function isOwnedBy(stored: Omit<ManagedBy, 'cluster'>, owner: ManagedBy): boolean {
  if (!isSameResource(stored, owner)) return false
  return stored.installation === undefined
    ? stored.uid === owner.uid
    : stored.installation === owner.installation
}

/** Formats an owner for a query: `Kind/namespace/name`, then its installation. */
export function ownerQuery({ kind, namespace, name, installation }: ManagedBy): string {
  return [kind, namespace, name, ...(installation === undefined ? [] : [installation])].join('/')
}
