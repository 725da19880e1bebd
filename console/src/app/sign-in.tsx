import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { call, fromThisPage } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import type { SessionRequest } from '../api/schema.gen.d.ts'
import { safeReturn } from '../browser/search.ts'
import { useUrlState } from '../browser/use-search.ts'
import { useNoteSession, useSession, useSignIn } from '../session/session.ts'
import css from '../session/sign-in.module.css'
import { TextField } from '../ui/fields.tsx'
import { Button } from '../ui/parts.tsx'
import { Fault } from '../ui/states.tsx'

/** The page that starts a session: by password, by the external issuer, or by a one-time link. */
export function SignIn() {
  const navigate = useNavigate()
  const note = useNoteSession()
  const session = useSession()
  const [{ return_to }] = useUrlState()
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const target = safeReturn(return_to)
  const start = async (body: SessionRequest) => {
    setRunning(true)
    setError(undefined)
    try {
      const { data } = await call.POST('/api/v1/auth/session', { params: fromThisPage, body })
      note(data ?? null)
    } catch (fault) {
      setError(fault)
      setRunning(false)
    }
  }
  useEffect(() => {
    const token = takeToken()
    if (token !== undefined) void start({ grant_type: 'link', token })
  })
  useEffect(() => {
    if (session.data) void navigate({ to: target, replace: true })
  }, [session.data, navigate, target])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [username, password] = [String(form.get('username')), String(form.get('password'))]
    void start({ grant_type: 'password', username, password })
  }
  return (
    <main className={css.page}>
      <h1>Sign in to Looptrace</h1>
      {error !== undefined && <Fault error={withAdvice(error)} />}
      <form className={css.form} onSubmit={submit}>
        <TextField label="E-mail" name="username" type="email" autoComplete="username" required />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
        <Button type="submit" look="primary" disabled={isRunning}>
          {isRunning ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
      <IssuerLink return_to={target} />
      <p>
        <a href="/reset-password">Forgot your password?</a>
      </p>
    </main>
  )
}

/** Takes the token of a one-time link out of the address, so that it is not kept in the history. */
function takeToken(): string | undefined {
  const { hash, pathname, search } = window.location
  const token = new URLSearchParams(hash.slice(1)).get('token')
  if (token === null) return undefined
  window.history.replaceState(window.history.state, '', `${pathname}${search}`)
  return token
}

function withAdvice(error: unknown): unknown {
  if (!(error instanceof Problem) || error.status !== 401 || /link/.test(error.message))
    return error
  return new Problem('The e-mail address or the password is wrong.', error)
}

/** The link to the external issuer, if one is configured. */
function IssuerLink({ return_to }: { return_to: string }) {
  const { data } = useSignIn()
  if (data?.has_issuer !== true) return null
  const address = `/api/v1/auth/oidc/login?${new URLSearchParams({ return_to })}`
  return (
    <p>
      <a href={address}>Sign in with your organization</a>
    </p>
  )
}
