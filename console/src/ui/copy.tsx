import { type ReactNode, useState } from 'react'
import { Button } from './parts.tsx'
import { notifyFault } from './toasts.tsx'

const shownForMs = 2_000

/** Copies a text. The text is made at the click, so that it is current. */
export function Copy({
  text,
  children,
  small,
}: {
  text: () => string
  children: ReactNode
  small?: boolean
}) {
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      setDone(true)
      setTimeout(() => setDone(false), shownForMs)
    } catch {
      notifyFault(new Error('The browser does not allow copying on this page. It needs HTTPS.'))
    }
  }
  return (
    <Button small={small === true} onClick={() => void copy()}>
      {isDone ? 'Copied' : children}
    </Button>
  )
}
