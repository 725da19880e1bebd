import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { faultsOf } from '../api/problem.ts'
import { faultAt, TextField } from '../ui/fields.tsx'
import { Form } from '../ui/form.tsx'
import { notify } from '../ui/toasts.tsx'
import css from './sign-in.module.css'

/** Sets the person's password. It ends all sign-ins, so the sign-in page follows. */
export function PasswordForm() {
  const client = useQueryClient()
  const [isDifferent, setDifferent] = useState(false)
  const save = api.useMutation('put', '/api/v1/auth/password', {
    onSuccess: async () => {
      notify('Your password is set. Sign in with it.')
      await client.resetQueries()
    },
  })
  const submit = (values: FormData) => {
    const [current_password, new_password, again] = ['current', 'new', 'again'].map((name) =>
      String(values.get(name)),
    ) as [string, string, string]
    setDifferent(new_password !== again)
    if (new_password === again) save.mutate({ body: { current_password, new_password } })
  }
  const faults = faultsOf(save.error)
  return (
    <Form
      of={save}
      action="Set the password"
      pending="Setting…"
      className={css.form}
      onSubmit={submit}
    >
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
    </Form>
  )
}
