import type { KubeClient } from '../platform/kube/index.ts'
import type { ServiceClient } from './service-client.ts'

/** This process is no longer the leader: what it was about to write is another one's to write. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading'
}

/**
 * Refuses writes of a process whose Lease has run out: one that was stopped (SIGSTOP, a frozen
 * machine) goes on in the middle of a reconcile, before any timer tells it that its time is over.
 */
export function whileLeading(
  { kube, service }: { kube: KubeClient; service: ServiceClient },
  isLeader: () => boolean,
): { kube: KubeClient; service: ServiceClient } {
  const write = <A extends unknown[], R>(send: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (!isLeader()) throw new NotLeading('the Lease has run out')
      return send(...args)
    }
  }
  return {
    kube: {
      ...kube,
      create: write(kube.create),
      replace: write(kube.replace),
      patch: write(kube.patch),
      apply: write(kube.apply),
      remove: write(kube.remove),
    },
    service: {
      request: async (request) => {
        if (request.method !== 'GET' && !isLeader()) throw new NotLeading('the Lease has run out')
        return service.request(request)
      },
    },
  }
}
