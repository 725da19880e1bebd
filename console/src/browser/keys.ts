import { useEffect, useRef } from 'react'

/** Actions by key (`j`, `?`, `enter`, `space`, `escape`) or by two keys in a row (`g t`). */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>

/** Time in which the second of two keys must follow. */
const sequence_ms = 1_000

type Registered = { readonly current: Keys }
const registered: Registered[] = []
let pending: { key: string; at_ms: number } | undefined

/** Returns whether a key belongs to the element: text is typed, or a menu is open. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.matches('input, textarea, select')) return true
  return target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null
}

/** Returns whether the element does something of its own at Enter or space. */
function hasOwnPress(name: string, target: EventTarget | null): boolean {
  if (name !== 'enter' && name !== 'space') return false
  const pressed = 'a[href], button, summary, [role="tab"], [role="button"], [role="treeitem"]'
  return target instanceof Element && target.closest(pressed) !== null
}

/** Returns the name of a key: the character that it types, or a word in small letters. */
function nameOf({ key }: KeyboardEvent): string {
  if (key === ' ') return 'space'
  return key.length > 1 ? key.toLowerCase() : key
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  const name = nameOf(event)
  if (name !== 'escape' && isTyping(event.target)) return
  if (hasOwnPress(name, event.target)) return
  const now_ms = performance.now()
  const first = pending !== undefined && now_ms - pending.at_ms < sequence_ms ? pending.key : ''
  const sequence = first === '' ? name : `${first} ${name}`
  pending = undefined
  // The screen on top comes first.
  for (const { current } of registered.toReversed()) {
    const action = current[sequence] ?? (first === '' ? undefined : current[name])
    if (action === undefined) continue
    event.preventDefault()
    action(event)
    return
  }
  const begins = registered.some(({ current }) =>
    Object.keys(current).some((keys) => keys.startsWith(`${name} `)),
  )
  if (begins) pending = { key: name, at_ms: now_ms }
}

/** Handles keys while the component is mounted, except while text is typed. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    if (registered.length === 0) window.addEventListener('keydown', onKeyDown)
    registered.push(latest)
    return () => {
      registered.splice(registered.indexOf(latest), 1)
      if (registered.length === 0) window.removeEventListener('keydown', onKeyDown)
    }
  }, [])
}
