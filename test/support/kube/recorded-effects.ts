import type { Kind, ReconcileDeps, Resource } from '../../../src/operator/contract.ts'
import { channelLabel } from '../../../src/operator/names.ts'
import {
  ServiceRefusal,
  type ServiceRequest,
} from '../../../src/operator/service/service-client.ts'
import type { Secret } from '../../../src/platform/kube/index.ts'

const project_id = '0a1b2c3d-0000-4000-8000-0123456789ab'
const now = '2026-11-21T12:00:00.000Z'

/** Ends a reconcile: the requests until then are recorded. */
class Recorded extends Error {}

/**
 * Returns all that a resource of a kind asks for until its first object in the service is written:
 * the requests, the Secrets, and the demands on a grant.
 */
export async function recordEffects(kind: Kind, spec: Kind['example']['spec']): Promise<unknown[]> {
  const effects: unknown[] = []
  const resource = resourceOf(kind, spec)
  effects.push(kind.project?.needs?.(resource.spec), kind.project?.toRef?.(resource.spec))
  if (kind.toGrant !== undefined) return [kind.toGrant(resource)]
  const note = (effect: unknown) => void effects.push(effect)
  try {
    effects.push(await kind.reconcile(resource, depsOf(kind, note)))
  } catch (error) {
    if (!(error instanceof Recorded)) throw error
  }
  return effects
}

function resourceOf(kind: Kind, spec: unknown): Resource {
  return {
    meta: {
      ...{ kind: kind.kind, namespace: 'team', name: 'one', uid: 'u1', generation: 1 },
      ...{ created_at: now, annotations: {}, external_id: kind.toGrant && project_id },
    },
    spec: kind.spec.parse(spec),
    status: {},
  }
}

function depsOf(kind: Kind, note: (effect: unknown) => void): ReconcileDeps {
  return {
    ...{ project_id, rivals: () => [], peers: () => [], kinds: [] },
    service: {
      request: async (request: ServiceRequest) => {
        if (request.method !== 'GET') note(request)
        return { status: 201, body: answer(request), etag: undefined }
      },
    },
    proxy_url: 'https://proxy.example.com',
    clock: { now_ms: () => Date.parse(now) },
    countNamespaces: () => 1,
    countUses: () => 0,
    noteExternalId: async () => undefined,
    removeAnnotation: async () => undefined,
    secrets: {
      read: async (name: string) => (kind.reads_secrets ? secretOf(name) : undefined),
      listOwned: async () => [],
      rehearse: async () => undefined,
      create: async (draft: unknown) => {
        note(draft)
        throw new Recorded()
      },
    },
  } as unknown as ReconcileDeps
}

/** A Secret whose entries all have a value of their own. */
function secretOf(name: string): Secret {
  const data = new Proxy({}, { get: (_, key) => `value ${String(key)} of ${name}` })
  const labels = { [channelLabel.name]: channelLabel.value }
  return { name, labels, data, resource_version: '1' } as unknown as Secret
}

/** Answers as a service without any object, which mints keys of service accounts. */
function answer({ method, path, body }: ServiceRequest): unknown {
  const [url = ''] = path.split('?')
  if (method === 'GET') return found(url)
  if (/\/service-accounts$/.test(url)) {
    return { ...Object(body), id: project_id, disabled_at: null, suspended_at: null }
  }
  if (/\/service-accounts\/[^/]+\/keys$/.test(url)) {
    return { id: project_id, prefix: 'lt_sa_1', key: 'lt_sa_1_value' }
  }
  throw new Recorded()
}

function found(url: string): unknown {
  if (/incidents\/rules$/.test(url)) return { rules: [] }
  if (/incidents\/channels$/.test(url)) return { channels: [] }
  if (/service-accounts\/[^/]+\/keys$/.test(url)) return { api_keys: [], next_cursor: null }
  if (/retention-policy$/.test(url)) return {}
  const code = absences.find(([pattern]) => pattern.test(url))?.[1]
  if (code !== undefined) throw new ServiceRefusal({ status: 404, code, detail: url })
  throw new Error(`no answer for ${url}`)
}

const absences: readonly [RegExp, string][] = [
  [/release-policies\//, 'release_policy_not_found'],
  [/declared-members$/, 'member_not_found'],
  [/access\/projects\/[^/]+$/, 'project_not_found'],
]
