import { QueryClient } from '@tanstack/react-query'
import { isTemporary, Problem } from '../api/problem.ts'

const retries_max = 3
const maxRetryAfterMs = 15_000

/**
 * Cache of replies. Rows stay on screen while they are read again. Only errors that may pass are
 * retried, later and later, or when the server says.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < retries_max && isTemporary(error),
      retryDelay: (failures, error) => {
        const asked_ms = error instanceof Problem ? (error.retry_after_s ?? 0) * 1000 : 0
        return Math.min(Math.max(asked_ms, 500 * 2 ** failures), maxRetryAfterMs)
      },
    },
    mutations: { retry: false },
  },
})
