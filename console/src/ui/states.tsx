import type { ReactNode } from 'react'
import { Problem } from '../api/problem.ts'
import { Button, classes } from './parts.tsx'
import css from './ui.module.css'

/** A place without rows: what would be here, and the command or action that fills it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={css.empty}>
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Says that something is being read. It appears at once and holds its place. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <div className={css.empty} role="status">
      {what}…
    </div>
  )
}

/** An error of a read: what happened, what to do, and the id for the logs. */
export function Fault({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = error instanceof Problem ? error : undefined
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div className={classes(css.notice, css.noticeBad)} role="alert">
      <div className={css.grow}>
        <strong>{titleOf(problem)}</strong>
        <p>{message}</p>
        {problem?.faults.map(({ pointer, detail }) => (
          <p key={pointer}>
            <code>{pointer}</code>: {detail}
          </p>
        ))}
        {problem?.request_id !== undefined && (
          <p className={css.soft}>Request {problem.request_id}</p>
        )}
      </div>
      {problem?.code === 'session_ended' && (
        <a href="/sign-in" target="_blank" rel="noreferrer">
          Sign in
        </a>
      )}
      {retry !== undefined && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

function titleOf(problem: Problem | undefined): string {
  if (problem === undefined) return 'This part of the page failed'
  if (problem.status === 0) return 'The server does not answer'
  if (problem.code === 'session_ended') return 'Your session has ended'
  if (problem.status === 403) return 'You do not have access to this'
  if (problem.status === 404) return 'Not found'
  return problem.status >= 500 ? 'The server failed' : 'The request was refused'
}

type Query<T> = {
  data: T | undefined
  error: unknown
  isPending: boolean
  refetch: () => unknown
}

/**
 * Shows the data of a query. While it is read again, the earlier data stays on screen; an error
 * is shown above it and does not replace it.
 */
export function Loaded<T>({
  query,
  what,
  children,
}: {
  query: Query<T>
  what?: string
  children: (data: T) => ReactNode
}) {
  const { data, error, isPending, refetch } = query
  return (
    <>
      {error !== null && error !== undefined && (
        <Fault error={error} retry={() => void refetch()} />
      )}
      {data !== undefined && children(data)}
      {data === undefined && isPending && !error && <Loading {...(what && { what })} />}
    </>
  )
}
