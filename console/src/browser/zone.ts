import { useSyncExternalStore } from 'react'

const storedAs = 'looptrace.zone'
const listeners = new Set<() => void>()

/** The time zone in which times are shown: an IANA name. By default, the zone of the browser. */
function currentZone(): string {
  const stored = localStorage.getItem(storedAs)
  return stored !== null && isZone(stored) ? stored : browserZone()
}

/** The time zone of the browser. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Returns whether the browser knows a time zone. */
function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Sets the zone for this browser; the zone of the browser again with undefined. */
export function setZone(name: string | undefined): void {
  if (name === undefined) localStorage.removeItem(storedAs)
  else localStorage.setItem(storedAs, name)
  for (const listener of listeners) listener()
}

/** Returns the zone, and renders again when it changes, also in another tab. */
export function useZone(): string {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    window.addEventListener('storage', listener)
    return () => {
      listeners.delete(listener)
      window.removeEventListener('storage', listener)
    }
  }, currentZone)
}
