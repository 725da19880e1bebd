import { Navigate } from '@tanstack/react-router'
import { useSession } from '../session/session.ts'
import { Fault, Loading } from '../ui/states.tsx'
import { MustSetPassword } from './must-set-password.tsx'

/** The address `/set-password`, for people who see no project before they have set a password. */
export function SetPassword() {
  const { data: session, error, refetch } = useSession()
  if (error && session === undefined) return <Fault error={error} retry={() => void refetch()} />
  if (session === undefined) return <Loading />
  if (session === null) return <Navigate to="/sign-in" search={{} as never} />
  if (!session.must_change_password) return <Navigate to="/" />
  return <MustSetPassword email={session.email} />
}
