import { type RefObject, useEffect, useState } from 'react'

/** `tree`: names with sums. `waterfall`: names with bars over the time. */
export type Mode = 'tree' | 'waterfall'

/** Height of a row in pixels; the canvas and the style sheet use the same. */
export const row_px = 26
/** Rows beyond the window on each side. */
const overscan = 6

/**
 * The rows to draw are those from `first` to `last` without `last`. `top` and `height` are the visible
 * part of the scroller, in pixels.
 */
export type Window = { first: number; last: number; top: number; height: number }

/** Returns the rows that are near the window of a scroller. */
export function useWindow(scroller: RefObject<HTMLDivElement | null>, count: number): Window {
  const [{ top, height }, setView] = useState({ top: 0, height: 600 })
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const read = () => setView({ top: element.scrollTop, height: element.clientHeight })
    read()
    const observer = new ResizeObserver(read)
    observer.observe(element)
    element.addEventListener('scroll', read, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', read)
    }
  }, [scroller])
  const first = Math.max(Math.floor(top / row_px) - overscan, 0)
  const last = Math.min(Math.ceil((top + height) / row_px) + overscan, count)
  return { first, last: Math.max(first, last), top, height }
}
