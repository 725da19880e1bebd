import { lazy, Suspense, useState } from 'react'
import { useSession } from '../session/session.ts'
import { Button } from '../ui/parts.tsx'

const PersonMenu = lazy(async () => ({ default: (await import('./person-menu.tsx')).PersonMenu }))

/** The name of the person. Its menu is loaded with the first click. */
export function PersonButton() {
  const { data: session } = useSession()
  const [isWanted, setWanted] = useState(false)
  const name = session?.display_name || session?.email || 'Account'
  const button = (
    <Button look="plain" aria-haspopup="menu" onClick={() => setWanted(true)}>
      {name}
    </Button>
  )
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <PersonMenu name={name} />
    </Suspense>
  )
}
