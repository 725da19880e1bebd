import type { Verifier, VerifierName } from '../contract.ts'
import type { KnowledgeDb } from '../knowledge-base/index.ts'
import type { Models } from '../models/open-models.ts'
import { createKbVerifier } from './kb.ts'
import { openMultiModel } from './multi-model.ts'

/** What verifiers are opened with. Each verifier adds its own ports here. */
export type VerifierDeps = { models: Models; db: KnowledgeDb }

/**
 * Opens the verifiers of a process, by name, in the order in which replies list them. A verifier
 * that lacks a model or an endpoint is listed too: `unavailable` has the reason.
 */
export function openVerifiers({ models, db }: VerifierDeps): ReadonlyMap<VerifierName, Verifier> {
  const { embeddings: embedder, openJudge } = models
  const verifiers: readonly Verifier[] = [
    createKbVerifier({ db, embedder, openJudge }),
    openMultiModel(models),
  ]
  return new Map(verifiers.map((verifier) => [verifier.name, verifier]))
}
