import type { QueryClient } from '@tanstack/react-query'

/** Has everything about incidents read again. */
export function refreshIncidents(client: QueryClient): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [first, second] }) =>
      first === 'incidents' ||
      (typeof second === 'string' &&
        (second.startsWith('/api/v2/observability/incidents') || second.includes('/alerts/'))),
  })
}
