import { useMemo, useRef, useState } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import { defaultFrom, resolveInstant } from '../../browser/time-range.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { type Body, compactBody, readBody, toRange, toWindow, type Window } from './body.ts'
import { latestOf } from './presets.ts'

const minute_ms = 60_000

/** A range of time with both ends, as queries need it. */
export type Instants = { from: string; to: string }

/** A query with the range that it reads. */
export type Asked = { body: Body; window: Instants }

/** The query that is being written, which is in the URL, and the one whose rows are shown. */
export type Draft = Asked & {
  /** Why the query of the URL cannot be read. */
  fault: string | undefined
  /** The window as it is written in the JSON of the query. */
  written: Window
  /** The query that was run last; it may differ from the one that is being written. */
  ran: Asked | undefined
  isRan: boolean
  /** Id of the saved query that this one comes from. */
  saved: string | undefined
  edit: (body: Body, window?: Window) => void
  run: () => void
  open: (body: Body, about?: { window?: Window | undefined; saved?: string | undefined }) => void
}

/**
 * Returns the range of the URL with both ends. An open end is the next minute of the server's
 * clock, so that the range stays the same until `again`.
 */
export function useInstants(): { window: Instants; again: () => void } {
  const [search] = useUrlState()
  const [now_ms, setNow] = useState(nextMinute)
  const { from, to } = search
  const window = useMemo(() => {
    const start = resolveInstant(from ?? defaultFrom, now_ms) ?? resolveInstant(defaultFrom, now_ms)
    const end = resolveInstant(to, now_ms) ?? new Date(now_ms).toISOString()
    return { from: start ?? end, to: end }
  }, [from, to, now_ms])
  return { window, again: () => setNow(nextMinute()) }
}

function nextMinute(): number {
  return Math.ceil(serverNow() / minute_ms) * minute_ms
}

/** Returns the query of the URL. */
export function useDraft(): Draft {
  const [search, change] = useUrlState()
  const { window, again } = useInstants()
  const text = search['query']
  const read = useMemo(() => {
    const found = text === undefined ? { body: latestOf('observations') } : readBody(text)
    return found.body === undefined
      ? { body: latestOf('observations'), fault: found.fault }
      : { body: found.body, fault: undefined }
  }, [text])
  const asked = useMemo(() => ({ body: read.body, window }), [read, window])
  const isRan = search['run'] === '1' && read.fault === undefined
  const last = useRef<Asked>(undefined)
  if (isRan) last.current = asked
  const rangeIn = (written: Window | undefined) => (written && toRange(written)) ?? {}
  return {
    ...asked,
    fault: read.fault,
    written: toWindow({ from: search['from'] ?? defaultFrom, to: search['to'] }, window),
    ran: last.current,
    isRan,
    saved: search['saved'],
    // The first change after a run is a new entry of the history, so that Back shows that run.
    edit: (body, written) =>
      change({ query: compactBody(body), run: undefined, ...rangeIn(written) }, { push: isRan }),
    run: () => {
      again()
      if (!isRan) change({ query: compactBody(read.body), run: '1' }, { push: true })
    },
    open: (body, about = {}) =>
      change(
        {
          query: compactBody(body),
          run: '1',
          saved: about.saved,
          tab: undefined,
          ...rangeIn(about.window),
        },
        { push: true },
      ),
  }
}
