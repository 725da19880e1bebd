import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { call } from '../api/client.ts'
import type { Session, SignIn } from '../api/schema.gen.d.ts'

/** Key of the reply that says who is signed in. */
export const signInKey = ['sign-in'] as const

/** Reads who is signed in, and the ways to sign in. */
async function readSignIn(): Promise<SignIn> {
  const { data } = await call.GET('/api/v1/auth/sign-in')
  return data ?? { session: null, has_issuer: false }
}

/** Returns who is signed in, and the ways to sign in. */
export function useSignIn() {
  return useQuery({ queryKey: signInKey, queryFn: readSignIn, staleTime: 60_000 })
}

/** Returns the session of this browser; null without one. */
export function useSession() {
  return useQuery({
    queryKey: signInKey,
    queryFn: readSignIn,
    staleTime: 60_000,
    select: ({ session }) => session,
  })
}

/** Returns a function that notes a new session, or null after a sign-out. */
export function useNoteSession(): (session: Session | null) => void {
  const client = useQueryClient()
  return useCallback(
    (session) => {
      const before = client.getQueryData<SignIn>(signInKey)
      // The query of the session stays: a page that shows it would not see a new one.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== signInKey[0] })
      client.setQueryData<SignIn>(signInKey, { has_issuer: false, ...before, session })
    },
    [client],
  )
}
