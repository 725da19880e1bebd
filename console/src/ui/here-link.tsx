import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Search } from '../app/search.ts'

/** A link to the same screen with other values in its URL, such as an opened row. */
export function HereLink({
  change,
  children,
  ...rest
}: {
  change: Search
  children: ReactNode
  className?: string | undefined
  title?: string
  'aria-current'?: boolean
}) {
  return (
    <Link {...rest} to="." search={((before: Search) => ({ ...before, ...change })) as never}>
      {children}
    </Link>
  )
}
