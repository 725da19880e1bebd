import { PasswordForm } from './password-form.tsx'
import css from './sign-in.module.css'

/** Stands in place of all screens while another person's password is still in use. */
export function MustSetPassword({ email }: { email: string }) {
  return (
    <main className={css.page}>
      <h1>Set a password of your own</h1>
      <p>
        Another person set the password of {email}. Until you replace it, the service refuses every
        other call. Then you sign in again with the new one.
      </p>
      <PasswordForm />
    </main>
  )
}
