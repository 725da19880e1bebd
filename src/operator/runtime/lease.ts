import {
  type KubeClient,
  KubeConflict,
  type KubeDraft,
  KubeNotFound,
  type KubeObject,
  type KubeResource,
} from '../../platform/kube/index.ts'
import type { LeaderElectionSettings } from './operator-settings.ts'

const leases: KubeResource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' }

/** What a Lease says of its holder; times as RFC 3339 with microseconds. */
export type LeaseSpec = {
  holderIdentity?: string
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  leaseTransitions?: number
}

/** A Lease as it was read or written. */
export type SeenLease = { resource_version: string; uid: string; spec: LeaseSpec }

/** One Lease of the cluster. */
export type LeaseRecord = {
  /** Undefined when there is none. */
  read(): Promise<SeenLease | undefined>
  /** Undefined when somebody else made it first. */
  create(spec: LeaseSpec): Promise<SeenLease | undefined>
  /** Undefined when it changed since it was seen. */
  replace(seen: SeenLease, spec: LeaseSpec): Promise<SeenLease | undefined>
}

/** The Lease of the settings. Only one of two writers of the same version succeeds. */
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
    read: () => seen(kube.read(leases, { namespace, name }), KubeNotFound),
    create: (spec) => seen(kube.create(leases, draft(spec, {})), KubeConflict),
    replace: ({ resource_version, uid }, spec) =>
      seen(
        kube.replace(leases, draft(spec, { resourceVersion: resource_version, uid })),
        KubeConflict,
      ),
  }
}

async function seen(
  asked: Promise<KubeObject>,
  no: typeof KubeConflict | typeof KubeNotFound,
): Promise<SeenLease | undefined> {
  try {
    const { metadata, spec } = await asked
    return { resource_version: metadata.resourceVersion, uid: metadata.uid, spec: spec ?? {} }
  } catch (error) {
    if (error instanceof no) return undefined
    throw error
  }
}
