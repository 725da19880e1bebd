import { type KubeClient, ownedSecrets } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { apiVersion, type Kind, type ReconcileDeps, type ResourceMeta } from '../contract.ts'
import type { Installation } from '../installation.ts'
import { installationLabel, secretLabels, secretOwnerLabel } from '../names.ts'
import type { ServiceClient } from '../service/service-client.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { NamespaceGate } from './namespace-gate.ts'
import type { ProjectAccess } from './project-access.ts'
import type { ResourceCache } from './resource-cache.ts'
import type { Timing } from './timing.ts'

/** The dependencies of all reconciles of one kind. */
export type ReconcileContext = {
  kind: Kind
  kube: KubeClient
  service: ServiceClient
  cache: ResourceCache
  events: EventRecorder
  timing: Timing
  logger: Logger
  signal: AbortSignal
  list_page_size: number
  proxy_url: string
  countNamespaces: ReconcileDeps['countNamespaces']
  countUses: ReconcileDeps['countUses']
  kinds: ReconcileDeps['kinds']
  gate: NamespaceGate
  /** Undefined for a kind without `projectRef`. */
  access: ProjectAccess | undefined
  installation: () => Installation | undefined
  /** Called with the number of corrected values. */
  onDrift: (count: number) => void
}

/** Creates the dependencies for a resource that has no rivals and cannot be written, as one that is gone. */
export function createDeps(
  context: Omit<ReconcileContext, 'access'>,
  { kind, namespace, name, uid }: Pick<ResourceMeta, 'kind' | 'namespace' | 'name' | 'uid'>,
  project_id: string,
): ReconcileDeps {
  const { service, kube, cache, timing, logger, signal, proxy_url } = context
  const installation = context.installation()
  return {
    service,
    installation,
    project_id,
    proxy_url,
    signal,
    clock: timing.clock,
    peers: cache.peers,
    rivals: () => [],
    countNamespaces: context.countNamespaces,
    countUses: context.countUses,
    kinds: context.kinds,
    noteExternalId: async () => undefined,
    removeAnnotation: async () => undefined,
    logger: logger.child({ kind, resource: `${namespace}/${name}` }),
    secrets: ownedSecrets(kube, {
      owner: { apiVersion, kind, namespace, name, uid },
      labels: { ...secretLabels, ...(installation && { [installationLabel]: installation.id }) },
      owner_label: secretOwnerLabel,
      page_size: context.list_page_size,
    }),
  }
}
