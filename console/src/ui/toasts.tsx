import { useSyncExternalStore } from 'react'
import { Problem } from '../api/problem.ts'
import { Button } from './parts.tsx'
import css from './toasts.module.css'

type Toast = { id: number; text: string; isFault: boolean }

const shown_max = 4
const shownForMs = 6_000
let toasts: readonly Toast[] = []
let next = 1
const listeners = new Set<() => void>()

function change(to: readonly Toast[]): void {
  toasts = to
  for (const listener of listeners) listener()
}

function close(id: number): void {
  change(toasts.filter((toast) => toast.id !== id))
}

function show(text: string, isFault: boolean): void {
  const id = next++
  change([...toasts.slice(1 - shown_max), { id, text, isFault }])
  // A fault stays until it is closed.
  if (!isFault) setTimeout(() => close(id), shownForMs)
}

/** Says at the edge of the screen that something was done. */
export function notify(text: string): void {
  show(text, false)
}

/** Says that an action failed, and why. */
export function notifyFault(error: unknown): void {
  const faults = error instanceof Problem ? error.faults : []
  const message = error instanceof Error ? error.message : String(error)
  const details = faults.map(({ pointer, detail }) => `${pointer}: ${detail}`)
  show([message, ...details].join('\n'), true)
}

/** The messages at the edge of the screen. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {shown.map(({ id, text, isFault }) => (
        <div key={id} className={isFault ? css.fault : css.toast}>
          <span>{text}</span>
          <Button small look="plain" aria-label="Close the message" onClick={() => close(id)}>
            ×
          </Button>
        </div>
      ))}
    </div>
  )
}
