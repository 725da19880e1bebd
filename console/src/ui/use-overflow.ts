import { type RefObject, useEffect, useState } from 'react'

/** Returns whether the content of an element is wider than the element, so that it scrolls. */
export function useOverflow(of: RefObject<HTMLElement | null>): boolean {
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const element = of.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setWide(element.scrollWidth > element.clientWidth))
    for (const each of [element, ...element.children]) observer.observe(each)
    return () => observer.disconnect()
  }, [of])
  return isWide
}
