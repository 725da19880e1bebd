import type { ReactNode } from 'react'
import { Changed } from './changed.tsx'
import { Button } from './parts.tsx'
import css from './ui.module.css'

/** A form that sends one request: its fields, what was refused, and the button. */
export function Form({
  of: { error, isPending },
  action,
  pending = 'Saving…',
  look = 'primary',
  disabled = false,
  isAdmin = true,
  className = css.stack,
  onSubmit,
  onReload,
  children,
  beside,
}: {
  of: { error: unknown; isPending: boolean }
  /** The verb of the button: "Save the policy". */
  action: string
  /** The text of the button until the request is answered. */
  pending?: string
  look?: 'primary' | 'danger'
  disabled?: boolean
  /** Whether the person administers the project; others cannot send the form. */
  isAdmin?: boolean
  className?: string | undefined
  onSubmit: (values: FormData) => void
  /** Shows the stored version after a change by another person; needed for writes with a version. */
  onReload?: () => void
  children: ReactNode
  beside?: ReactNode
}) {
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(new FormData(event.currentTarget))
      }}
    >
      {children}
      {error != null && <Changed error={error} onReload={() => onReload?.()} />}
      <div className={css.row}>
        <Button type="submit" look={look} disabled={disabled || !isAdmin || isPending}>
          {isPending ? pending : action}
        </Button>
        {beside}
        {!isAdmin && (
          <span className={css.soft}>Only administrators of the project change it.</span>
        )}
      </div>
    </form>
  )
}
