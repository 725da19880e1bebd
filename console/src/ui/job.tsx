import { useEffect, useId, useRef } from 'react'
import { type Pages, usePages } from '../api/pages.ts'
import { Plain } from './text.tsx'
import css from './ui.module.css'

const poll_ms = 1_500

/** Returns whether a job is still under way. */
export function isUnderWay(state: string | undefined): boolean {
  return state === 'queued' || state === 'running' || state === 'pending'
}

/** Returns the interval for reading something again: while one of the states is under way. */
export function pollWhile(states: readonly (string | undefined)[]): number | false {
  return states.some(isUnderWay) ? poll_ms : false
}

/** Reads a list again, again and again, while a row of it is under way and the tab is seen. */
export function useRefetchWhile(isActive: boolean, refetch: () => unknown): void {
  const latest = useRef(refetch)
  latest.current = refetch
  useEffect(() => {
    if (!isActive) return undefined
    const timer = setInterval(() => {
      if (!document.hidden) void latest.current()
    }, poll_ms)
    return () => clearInterval(timer)
  }, [isActive])
}

/** Reads a list of runs page by page, and reads it again while one of them is under way. */
export function useRunPages<P extends RunPage, T extends { state: string }>(
  ...list: Parameters<typeof usePages<P, T>>
): Pages<T> {
  const runs = usePages(...list)
  useRefetchWhile(
    runs.rows.some(({ state }) => isUnderWay(state)),
    runs.refetch,
  )
  return runs
}

type RunPage = { next_cursor: string | null; total?: number }

/** How far a job is. Without `of`, the end is not known. */
export function Progress({ label, done, of }: { label: string; done?: number; of?: number }) {
  const id = useId()
  const share = of !== undefined && of > 0 && done !== undefined ? { value: done, max: of } : {}
  return (
    <div className={css.row} role="status">
      <progress aria-labelledby={id} {...share} />
      <span id={id}>{label}</span>
    </div>
  )
}

/** The person, key or job that did something. A long id is cut; the whole one is its title. */
export function Actor({ of }: { of: string }) {
  const [kind, id = ''] = of.split(/:(.*)/s)
  const short = /^[0-9a-f]{8}-/.test(id) ? `${kind} ${id.slice(-8)}` : of
  return (
    <span title={of}>
      <Plain>{short}</Plain>
    </span>
  )
}
