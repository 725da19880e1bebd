import { PasswordForm } from '../session/password-form.tsx'
import css from '../session/sign-in.module.css'

/** Replaces all screens until the person has set a password of their own. */
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
