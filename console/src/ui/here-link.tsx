import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Search } from '../browser/search.ts'
import { useUrlState } from '../browser/use-search.ts'
import { Button } from './parts.tsx'

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

/** Leads from one thing back to the list of all of them. */
export function BackButton({ all, change }: { all: string; change: Search }) {
  const [, changeUrl] = useUrlState()
  return (
    <div>
      <Button small onClick={() => changeUrl(change, { push: true })}>
        ← All {all}
      </Button>
    </div>
  )
}
