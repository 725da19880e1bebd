import type { Verifier, VerifierName } from '../contract.ts'
import type { WebAccess } from '../web/open-web-access.ts'
import { createCitationVerifier } from './citation.ts'
import { createWebVerifier } from './web.ts'

/** Ports of the verifiers. Each verifier adds its own here. */
export type VerifierDeps = { web: Pick<WebAccess, 'search' | 'fetchPage'> }

/**
 * Opens the verifiers of a process, by name, in the order in which replies list them. A verifier
 * that lacks a model or an endpoint is listed too: `unavailable` has the reason.
 */
export function openVerifiers({ web }: VerifierDeps): ReadonlyMap<VerifierName, Verifier> {
  const verifiers: readonly Verifier[] = [
    createWebVerifier(web.search, web.fetchPage),
    createCitationVerifier(web.fetchPage),
  ]
  return new Map(verifiers.map((verifier) => [verifier.name, verifier]))
}
