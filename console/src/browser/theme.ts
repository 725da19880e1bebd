import { useSyncExternalStore } from 'react'

/** Light or dark, or as the system. */
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storedAs = 'looptrace.theme'
const listeners = new Set<() => void>()

function stored(): Theme {
  const text = localStorage.getItem(storedAs)
  return themes.find((theme) => theme === text) ?? 'system'
}

function apply(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
}

apply(stored())

/** Sets the theme of this browser. */
export function setTheme(theme: Theme): void {
  localStorage.setItem(storedAs, theme)
  apply(theme)
  for (const listener of listeners) listener()
}

/** Returns the theme, and renders again when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, stored)
}
