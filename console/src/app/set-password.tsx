import { Navigate } from '@tanstack/react-router'
import { PasswordForm } from '../session/password-form.tsx'
import { useSession } from '../session/session.ts'
import css from '../session/sign-in.module.css'
import { Fault, Loading } from '../ui/states.tsx'

/** The address `/set-password`, for people who see no project before they have set a password. */
export function SetPassword() {
  const { data: session, error, refetch } = useSession()
  if (error && session === undefined) return <Fault error={error} retry={() => void refetch()} />
  if (session === undefined) return <Loading />
  if (session === null) return <Navigate to="/sign-in" search={{} as never} />
  if (!session.must_change_password) return <Navigate to="/" />
  return <MustSetPassword email={session.email} />
}

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
