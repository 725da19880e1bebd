import type { Verifier, VerifierName } from '../contract.ts'
import type { KnowledgeDb } from '../knowledge-base/index.ts'
import type { Models } from '../models/open-models.ts'
import type { WebAccess } from '../web/open-web-access.ts'
import { createCitationVerifier } from './citation.ts'
import { createKbVerifier } from './kb.ts'
import { openMultiModel } from './multi-model.ts'
import { createWebVerifier } from './web.ts'

/** Ports of the verifiers. */
export type VerifierDeps = {
  db: KnowledgeDb
  models: Models
  web: Pick<WebAccess, 'search' | 'fetchPage'>
}

/**
 * Opens the verifiers of a process, by name, in the order in which replies list them. A verifier
 * that lacks a model or an endpoint is listed too: `unavailable` has the reason.
 */
export function openVerifiers({
  db,
  models,
  web,
}: VerifierDeps): ReadonlyMap<VerifierName, Verifier> {
  const { embeddings: embedder, estimateJudge } = models
  const verifiers: readonly Verifier[] = [
    createKbVerifier({ db, embedder, estimateJudge }),
    createWebVerifier({ ...web, estimateJudge }),
    openMultiModel(models),
    createCitationVerifier(web.fetchPage),
  ]
  return new Map(verifiers.map((verifier) => [verifier.name, verifier]))
}
