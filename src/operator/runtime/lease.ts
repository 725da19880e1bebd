import {
  type KubeClient,
  KubeConflict,
  type KubeDraft,
  KubeNotFound,
  type KubeObject,
  type KubeResource,
} from '../../platform/kube/index.ts'
import type { LeaderElectionSettings } from './operator-settings.ts'

export const leases: KubeResource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
}

/** The spec of a Lease; times are RFC 3339 with microseconds. */
export type LeaseSpec = {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}

/** A Lease as last read or written. */
export type SeenLease = { resource_version: string; uid: string; spec: LeaseSpec }

/** Access to one Lease of the cluster. */
export type LeaseRecord = {
  /** Resolves with undefined when the Lease does not exist. */
  read(): Promise<SeenLease | undefined>
  /** Resolves with undefined when the Lease already exists. */
  create(spec: LeaseSpec): Promise<SeenLease | undefined>
  /** Resolves with undefined when the Lease has changed since it was seen. */
  replace(seen: SeenLease, spec: LeaseSpec): Promise<SeenLease | undefined>
}

/** Opens the Lease of the settings. Of two writers of the same version only one succeeds. */
export function leaseRecord(
  kube: KubeClient,
  { namespace, name }: Pick<LeaderElectionSettings, 'namespace' | 'name'>,
): LeaseRecord {
  const draft = (spec: LeaseSpec, version: object): KubeDraft => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name, ...version },
    spec,
  })
  return {
    read: () => toSeenLease(kube.read(leases, { namespace, name }), KubeNotFound),
    create: (spec) => toSeenLease(kube.create(leases, draft(spec, {})), KubeConflict),
    replace: ({ resource_version, uid }, spec) =>
      toSeenLease(
        kube.replace(leases, draft(spec, { resourceVersion: resource_version, uid })),
        KubeConflict,
      ),
  }
}

async function toSeenLease(
  request: Promise<KubeObject>,
  expected: typeof KubeConflict | typeof KubeNotFound,
): Promise<SeenLease | undefined> {
  try {
    const { metadata, spec } = await request
    return { resource_version: metadata.resourceVersion, uid: metadata.uid, spec: spec ?? {} }
  } catch (error) {
    if (error instanceof expected) return undefined
    throw error
  }
}
