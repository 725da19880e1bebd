import { useInfiniteQuery } from '@tanstack/react-query'

/** A page of a list of the API. */
type Page = { next_cursor: string | null; total?: number }

/** A list that is read page by page. It can be given to `Loaded` and to `List`. */
export type Pages<T> = {
  rows: readonly T[]
  /** Rows of all pages, if the API counts them. */
  total: number | undefined
  data: unknown
  error: unknown
  isPending: boolean
  refetch: () => unknown
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
}

/**
 * Reads a list with cursors. `key` names the list and holds everything that `read` depends on:
 * `usePages(['tasks', query], (cursor) => call.GET(…, { params: { query: { ...query, cursor } } }), (page) => page.tasks)`.
 * A still list is read again only on request, because its rows must not move (`useNewRows`).
 */
export function usePages<P extends Page, T>(
  key: readonly unknown[],
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<{ data?: P | undefined }>,
  rowsOf: (page: P) => readonly T[],
  { isStill = false }: { isStill?: boolean } = {},
): Pages<T> {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) => {
      const { data } = await read(pageParam, signal)
      if (data === undefined) throw new Error('The server sent an empty reply')
      return data
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last: P) => last.next_cursor ?? undefined,
    ...(isStill && { staleTime: Number.POSITIVE_INFINITY }),
  })
  const pages = query.data?.pages ?? []
  return {
    rows: pages.flatMap(rowsOf),
    total: pages[0]?.total,
    data: query.data,
    error: query.error,
    isPending: query.isPending,
    refetch: query.refetch,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => {
      if (!query.isFetching) void query.fetchNextPage()
    },
  }
}
