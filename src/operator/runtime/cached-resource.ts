import type { z } from 'zod'
import type { KubeObject } from '../../platform/kube/index.ts'
import type { Condition, Kind, Resource, ResourceMeta } from '../contract.ts'
import { annotations } from '../names.ts'
import { isPending } from '../ready-condition.ts'

/** A resource as the cache keeps it: no more than a reconcile needs. */
export type CachedResource = {
  key: string
  resource_version: string
  meta: ResourceMeta
  deleting: boolean
  finalizers: readonly string[]
  paused: boolean
  /** Undefined when the spec is not one of this version. */
  resource: Resource | undefined
  /** Why, then. */
  spec_fault: string | undefined
  conditions: readonly Condition[]
  /** What stands in the status, as it came, but for what the CRD puts there. */
  status: Readonly<Record<string, unknown>>
  /** Somebody who lists it sees a condition. */
  is_told: boolean
  ready: boolean
}

/** kubectl keeps a second copy of the whole object there. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** Reads an object of the API server; its spec is checked and completed by the kind's schema. */
export function cachedResource(kind: Kind, object: KubeObject): CachedResource {
  const meta = metaOf(kind, object)
  const { conditions: shown, ...told } = recordOf(object.status)
  const conditions = conditionsOf(shown)
  const status = conditions.length === 0 ? told : { ...told, conditions }
  const spec = kind.spec.safeParse(object.spec)
  return {
    key: `${meta.namespace}/${meta.name}`,
    resource_version: object.metadata.resourceVersion,
    meta,
    deleting: object.metadata.deletionTimestamp !== undefined,
    finalizers: object.metadata.finalizers ?? [],
    paused: meta.annotations[annotations.paused] === 'true',
    resource: spec.success
      ? { meta, spec: spec.data, status: { ...ownStatus(kind, status), conditions } }
      : undefined,
    spec_fault: spec.success ? undefined : faultOf(spec.error),
    conditions,
    status,
    is_told: Array.isArray(shown) && shown.length > 0,
    ready: conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  }
}

function metaOf(kind: Kind, { metadata }: KubeObject): ResourceMeta {
  const { [lastApplied]: _, ...kept } = metadata.annotations ?? {}
  return {
    kind: kind.kind,
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    created_at: metadata.creationTimestamp,
    annotations: kept,
    external_id: kept[annotations.external_id],
  }
}

/** What the kind itself put there; nothing when it is not of this version. */
function ownStatus(kind: Kind, status: Readonly<Record<string, unknown>>): object {
  const { conditions: _c, observedGeneration: _g, lastSyncTime: _t, ...own } = status
  const parsed = kind.status.safeParse(own)
  return parsed.success ? parsed.data : {}
}

function conditionsOf(shown: unknown): readonly Condition[] {
  return Array.isArray(shown) ? shown.filter((condition) => !isPending(condition)) : []
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

const faults_max = 5

function faultOf(error: z.ZodError): string {
  const lines = error.issues
    .slice(0, faults_max)
    .map(
      ({ path, message }) => `spec${path.map((part) => `.${String(part)}`).join('')}: ${message}`,
    )
  return lines.join('; ')
}
