import { type InfiniteData, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Topic, useLive } from './live.ts'

type Page = { next_cursor: string | null }

/** A list whose new rows wait. `withRows` puts other rows into a page. */
export type LiveList<P extends Page, T> = {
  topic: Topic
  /** The key of the list in `usePages`. */
  key: QueryKey
  readFirst: () => Promise<P | undefined>
  rowsOf: (page: P) => readonly T[]
  withRows: (page: P, rows: T[]) => P
  keyOf: (row: T) => string
}

/** The number of new rows that wait, and a function that shows them. */
export type NewRows = { count: number; show: () => void }

/**
 * Follows a list without moving it: rows that are on screen get their new values at their place,
 * and rows that are new wait. `show` puts them on top. Only an empty list fills by itself.
 */
export function useNewRows<P extends Page, T>(list: LiveList<P, T>): NewRows {
  const client = useQueryClient()
  const [waiting, setWaiting] = useState<{ hash: string; page: P }>()
  const [reading, latest] = [useRef(false), useRef(list)]
  latest.current = list
  const hash = hashOf(list)
  const shown = () => client.getQueryData<InfiniteData<P>>(latest.current.key)
  const put = (key: QueryKey, page: P) => {
    const data: InfiniteData<P> = { pages: [page], pageParams: [undefined] }
    client.setQueryData(key, data)
    setWaiting(undefined)
  }
  const check = async () => {
    const asked = latest.current
    if (reading.current || shown() === undefined) return
    reading.current = true
    try {
      const page = await asked.readFirst()
      const data = client.getQueryData<InfiniteData<P>>(asked.key)
      if (page === undefined || data === undefined) return
      if (data.pages.every((each) => asked.rowsOf(each).length === 0)) return put(asked.key, page)
      client.setQueryData(asked.key, updateRows(data, page, asked))
      setWaiting({ hash: hashOf(asked), page })
    } catch {
      // The next event, or the next half minute, tries again.
    } finally {
      reading.current = false
    }
  }
  useLive(list.topic, () => void check())
  const latestCheck = useRef(check)
  latestCheck.current = check
  // A list that comes out of the cache, after Back, is as old as the visit before.
  useEffect(() => {
    if (hash !== '') void latestCheck.current()
  }, [hash])
  const page = waiting?.hash === hash ? waiting.page : undefined
  const fresh = page === undefined ? 0 : countNew(shown()?.pages ?? [], page, list)
  return { count: fresh, show: () => page !== undefined && put(list.key, page) }
}

function hashOf({ key }: { key: QueryKey }): string {
  return JSON.stringify(key)
}

function updateRows<P extends Page, T>(
  data: InfiniteData<P>,
  page: P,
  { rowsOf, withRows, keyOf }: LiveList<P, T>,
): InfiniteData<P> {
  const newest = new Map(rowsOf(page).map((row) => [keyOf(row), row]))
  const pages = data.pages.map((each) =>
    withRows(
      each,
      rowsOf(each).map((row) => newest.get(keyOf(row)) ?? row),
    ),
  )
  return { ...data, pages }
}

function countNew<P extends Page, T>(
  pages: readonly P[],
  page: P,
  { rowsOf, keyOf }: LiveList<P, T>,
): number {
  const known = new Set(pages.flatMap(rowsOf).map(keyOf))
  return rowsOf(page).filter((row) => !known.has(keyOf(row))).length
}
