import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Search } from '../app/search.ts'

/** A link to the same screen with other values in its URL, such as an opened row. */
export function HereLink({ change, children }: { change: Search; children: ReactNode }) {
  return (
    <Link to="." search={((before: Search) => ({ ...before, ...change })) as never}>
      {children}
    </Link>
  )
}
