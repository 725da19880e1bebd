import type { ServiceClient } from '../../../src/operator/service/service-client.ts'
import type { KubeClient, KubeResource } from '../../../src/platform/kube/index.ts'

/** Told of each write once it has taken effect, before its answer comes back. */
export type OnWrite = (what: string) => Promise<void> | void

/** The API server, with each write told: `apply notes/status`. Leases are left out: they are renewed by the clock. */
export function countedKube(kube: KubeClient, onWrite: OnWrite): KubeClient {
  const told = async <T>(what: string, resource: KubeResource, done: Promise<T>): Promise<T> => {
    const answer = await done
    if (resource.plural !== 'leases') await onWrite(`${what} ${resource.plural}`)
    return answer
  }
  return {
    ...kube,
    create: (resource, object) => told('create', resource, kube.create(resource, object)),
    replace: (resource, object) => told('replace', resource, kube.replace(resource, object)),
    patch: (resource, at, operations) =>
      told('patch', resource, kube.patch(resource, at, operations)),
    apply: (resource, object, options) =>
      told('apply', resource, kube.apply(resource, object, options)),
    remove: (resource, at, preconditions) =>
      told('remove', resource, kube.remove(resource, at, preconditions)),
  }
}

/** The service, with each write told: `PUT /notes/n1`. */
export function countedService(service: ServiceClient, onWrite: OnWrite): ServiceClient {
  return {
    request: async (request) => {
      const answer = await service.request(request)
      if (request.method !== 'GET') await onWrite(`${request.method} ${request.path}`)
      return answer
    },
  }
}
