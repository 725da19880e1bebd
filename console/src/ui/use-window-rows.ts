import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react'

/** Rows up to this number are all in the page. */
const maxPlainRows = 40
const firstHeightPx = 37

/**
 * Chooses the rows that are in the page: those near the window, and the heights of the others above and
 * below. `element` holds the rows, each with `data-index`; `measure` is undefined for a short list.
 */
export function useWindowRows<T>(
  element: RefObject<HTMLElement | null>,
  rows: readonly T[],
  keyOf: (row: T) => string,
) {
  const isLong = rows.length > maxPlainRows
  const { top, height } = usePlace(element)
  const key = useRef(keyOf)
  key.current = keyOf
  // A new function makes the library compute the positions of all rows. It is new with other rows or
  // another estimate of their height, not in each frame.
  const getItemKey = useCallback(
    (index: number) => {
      const row = rows[index]
      return height > 0 && row !== undefined ? key.current(row) : index
    },
    [rows, height],
  )
  const virtual = useWindowVirtualizer({
    count: isLong ? rows.length : 0,
    estimateSize: () => height,
    overscan: 8,
    scrollMargin: top,
    getItemKey,
  })
  const items = virtual.getVirtualItems()
  const [first, last] = [items.at(0), items.at(-1)]
  const all = virtual.getTotalSize()
  return {
    indexes: isLong ? items.map(({ index }) => index) : rows.map((_, index) => index),
    above: first === undefined ? 0 : first.start - top,
    below: last === undefined ? all : all - (last.end - top),
    measure: isLong ? virtual.measureElement : undefined,
    scrollTo: (index: number) => {
      if (isLong) virtual.scrollToIndex(index, { align: 'auto' })
    },
  }
}

/**
 * Returns the distance of an element from the top of the page, and the height of its first row, once
 * they are there. Rows that differ from that height are measured when they come into the page.
 */
function usePlace(element: RefObject<HTMLElement | null>): { top: number; height: number } {
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState<number>()
  useLayoutEffect(() => {
    if (element.current === null) return
    const now = element.current.getBoundingClientRect().top + window.scrollY
    // Its fractions change while the page scrolls.
    setTop((before) => (Math.abs(before - now) > 1 ? Math.round(now) : before))
    if (height !== undefined) return
    const first = element.current.querySelector<HTMLElement>('[data-index]')
    if (first !== null && first.offsetHeight > 0) setHeight(first.offsetHeight)
  })
  return { top, height: height ?? firstHeightPx }
}
