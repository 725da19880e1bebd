import { useNavigate, useSearch as useRouterSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import type { Search } from './search.ts'

/**
 * Returns the values of the URL's search part, and a function that changes some of them. A change
 * replaces the entry of the history unless `push` is set, so that Back leaves the screen. The
 * value undefined removes a name.
 */
export function useUrlState(): [Search, (change: Search, how?: { push?: boolean }) => void] {
  const search = useRouterSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const change = useCallback(
    (values: Search, how: { push?: boolean } = {}) => {
      void navigate({
        to: '.',
        search: ((before: Search) => ({ ...before, ...values })) as never,
        replace: how.push !== true,
        resetScroll: false,
      })
    },
    [navigate],
  )
  return [search, change]
}
