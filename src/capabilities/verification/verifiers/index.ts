import type { Verifier, VerifierName } from '../contract.ts'

/** What verifiers are opened with. Each verifier adds its own ports here. */
export type VerifierDeps = Record<never, never>

/**
 * Opens the verifiers of a process, by name, in the order in which replies list them. A verifier
 * that lacks a model or an endpoint is listed too: `unavailable` has the reason.
 */
export function openVerifiers(_deps: VerifierDeps): ReadonlyMap<VerifierName, Verifier> {
  return new Map()
}
