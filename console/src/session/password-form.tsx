import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api/client.ts'
import { faultsOf } from '../api/problem.ts'
import { faultAt, TextField } from '../ui/fields.tsx'
import { Button } from '../ui/parts.tsx'
import { Fault } from '../ui/states.tsx'
import { notify } from '../ui/toasts.tsx'
import css from './sign-in.module.css'

/** Sets the person's password. It ends all sign-ins, so the sign-in page follows. */
export function PasswordForm() {
  const client = useQueryClient()
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const [isDifferent, setDifferent] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const [current_password, new_password, again] = ['current', 'new', 'again'].map((name) =>
      String(values.get(name)),
    ) as [string, string, string]
    setDifferent(new_password !== again)
    if (new_password !== again) return
    setRunning(true)
    setError(undefined)
    try {
      await call.PUT('/api/v1/auth/password', { body: { current_password, new_password } })
      notify('Your password is set. Sign in with it.')
      await client.resetQueries()
    } catch (fault) {
      setError(fault)
    }
    setRunning(false)
  }
  const faults = faultsOf(error)
  return (
    <form className={css.form} onSubmit={(event) => void submit(event)}>
      {error !== undefined && <Fault error={error} />}
      <TextField
        label="Current password"
        name="current"
        type="password"
        autoComplete="current-password"
        required
        fault={faultAt(faults, '/current_password')}
      />
      <TextField
        label="New password"
        name="new"
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        maxLength={256}
        fault={faultAt(faults, '/new_password')}
        hint="12 to 256 characters, hard to guess: four words that do not belong together are good."
      />
      <TextField
        label="New password again"
        name="again"
        type="password"
        autoComplete="new-password"
        required
        fault={isDifferent ? 'This differs from the new password.' : undefined}
      />
      <Button type="submit" look="primary" disabled={isRunning}>
        {isRunning ? 'Setting…' : 'Set the password'}
      </Button>
    </form>
  )
}
